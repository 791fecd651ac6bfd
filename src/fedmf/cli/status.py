"""Show how a federation and its runs stand."""

from __future__ import annotations

import json

import click


@click.command()
@click.argument("kit", metavar="KIT")
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print everything as JSON.")
def command(kit: str, run: str | None, as_json: bool) -> None:
    """Show which sites are there and how the runs stand, or one RUN.

    \b
    Example
      fedmf status kits/coordinator
    """
    from fedmf.cli._network import show_status
    from fedmf.network.client import Federation

    found = Federation(kit).status(run)
    if as_json:
        click.echo(json.dumps(found, indent=1))
    else:
        show_status(found)
