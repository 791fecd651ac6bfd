"""Hand in a job to a federation and follow it."""

from __future__ import annotations

from pathlib import Path

import click

from fedmf.cli._group import INTERRUPTED


@click.command()
@click.argument("kit", metavar="KIT")
@click.argument("config", metavar="CONFIG")
@click.option("--out", metavar="RUN", help="Fetch the run into this folder at its end.")
@click.option("--track", metavar="NAME:PLACE",
              help="Each round's figures also to mlflow:FOLDER or tensorboard:FOLDER.")  # fmt: skip
@click.option("--detach", is_flag=True, help="Do not wait for the end.")
def command(kit: str, config: str, out: str | None, track: str | None, detach: bool) -> int:
    """Run a job over the sites of a federation, as the coordinator whose KIT this is.

    CONFIG is the TOML file of `fedmf fit --config`: [problem], [algorithm], [run], [penalty], and
    [federation] with deadline, min_answers, late and label. [data] is not used: each site has its
    own. Prints the run's name. Ctrl-C leaves the run alone; `fedmf stop` ends it.

    \b
    Example
      fedmf submit kits/coordinator settings.toml --out run
    """
    from fedmf.cli._network import Progress
    from fedmf.files import read_toml
    from fedmf.network.client import Federation
    from fedmf.tracking import find

    if track is not None and detach:
        raise click.UsageError("--track needs to see the run: leave out --detach")
    tracker = None if track is None else find(track)
    federation = Federation(kit)
    name = federation.submit(read_toml(Path(config).expanduser()))
    click.echo(name)
    if detach:
        return 0
    try:
        with Progress() as show:
            found = federation.follow(name, show, tracker)
    except KeyboardInterrupt:
        click.echo(f"the run goes on; see: fedmf status {kit} {name}", err=True)
        return INTERRUPTED
    click.echo(f"{found['state']}: {found['status']}", err=found["state"] == "failed")
    if found["state"] == "failed":
        return 2
    if out is not None:
        federation.result(name).save(Path(out).expanduser())
        click.echo(out)
    return 0
