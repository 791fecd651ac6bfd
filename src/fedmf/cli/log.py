"""Print what happened in a run of a federation."""

from __future__ import annotations

import time

import click


@click.command()
@click.argument("kit", metavar="KIT")
@click.argument("run", metavar="RUN")
@click.option("--follow", is_flag=True, help="Go on until the run has ended.")
def command(kit: str, run: str, follow: bool) -> None:
    """Print the log that the server keeps of a RUN. Sites' own logs stay at the sites.

    \b
    Example
      fedmf log kits/coordinator 20261119-0930 --follow
    """
    from fedmf.network.client import LOOK, Federation

    federation, start = Federation(kit), 0
    while True:
        text, after, state = federation.log(run, start)
        click.echo(text, nl=False)
        if after == start and (not follow or state not in ("queued", "running")):
            return
        if after == start:
            time.sleep(LOOK)
        start = after
