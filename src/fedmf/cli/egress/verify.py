"""Check that the record of what left a site was not changed."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.argument("record", metavar="KIT|FILE")
def command(record: str) -> None:
    """Check every line of a site's egress.jsonl against the line before it.

    Prints the number of lines and the digest of the last. Note it down: lines that are cut off at
    the end show only against a digest that was noted before.

    \b
    Example
      fedmf egress verify kits/north
    """
    from fedmf.errors import MissingDataError
    from fedmf.network.egress import NAME, verify

    path = Path(record).expanduser()
    path = path / NAME if path.is_dir() else path
    if not path.is_file():
        raise MissingDataError(f"{path}: there is no such file")
    count, last = verify(path)
    click.echo(f"{count} uploads, none changed; the last has the digest {last}")
