"""End a run of a federation after its last complete round."""

from __future__ import annotations

import click


@click.command()
@click.argument("kit", metavar="KIT")
@click.argument("run", metavar="RUN")
def command(kit: str, run: str) -> None:
    """End a RUN: what it has reached by its last complete round is its result.

    \b
    Example
      fedmf stop kits/coordinator 20261119-0930
    """
    from fedmf.network.client import Federation

    Federation(kit).stop(run)
    click.echo(f"run {run} is to be stopped")
