"""Make the kits of a federation: certificates and settings for each machine."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("plan", metavar="FILE.toml")
@click.option("--out", metavar="KITS", required=True, help="A new folder for the kits.")
def command(plan: str, out: str) -> None:
    """Make a kit for the server, for each site and for each user of a federation.

    FILE.toml names them: [federation] name, sites, users, days and [server] host, port, hosts,
    listen. Give each kit to its machine, by a way that nobody else can read; keep KITS/ca safe.

    \b
    Example
      fedmf provision federation.toml --out kits
    """
    from fedmf.network.kits import Plan, provision

    kits = provision(Plan.read(Path(plan).expanduser()), Path(out).expanduser())
    for folder in kits:
        click.echo(folder)
