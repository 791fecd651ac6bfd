"""Show how a federation and its runs stand."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("kit", metavar="KIT")
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
@click.option(
    "--watch",
    "watching",
    is_flag=True,
    help="Go on until Ctrl-C, or until RUN has ended.",
)
def command(kit: str, run: str | None, as_json: bool, watching: bool) -> None:
    """Show which sites are there and how the runs stand, or one RUN.

    With --watch the display is brought up to date every second, a server that is away included;
    without a RUN it shows the one that is at work. `fedmf monitor` shows the same on a page.

    \b
    Examples
      fedmf status kits/coordinator
      fedmf status kits/coordinator --watch
    """
    from fedmf.cli._network import show_status
    from fedmf.network.client import Federation

    if as_json and watching:
        raise click.UsageError("--json shows one moment: leave out --watch")
    federation = Federation(kit)
    found = federation.status(run)
    if watching:
        from fedmf.cli._watch import watch
        from fedmf.monitor.scene import Watcher

        watch(Watcher(federation), run)
    elif as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        show_status(found)
