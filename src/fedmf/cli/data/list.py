"""List the built-in data sets and whether their files are there."""

from __future__ import annotations

from typing import Any

import click


@click.command()
@click.option("--data-dir", metavar="FOLDER", help="Where the files lie  [default: $FEDMF_DATA]")
def command(data_dir: str | None) -> None:
    """List the built-in data sets: shape, classes, source, and whether their files are there.

    \b
    Example
      fedmf data list --data-dir ~/data
    """  # fmt: skip
    from fedmf import datasets
    from fedmf.cli._show import pairs, table

    cards = [datasets.describe(name) for name in datasets.names()]
    rows = [
        (card.name, _count(card.samples), _count(card.features), _count(card.classes),
         _state(card, data_dir))
        for card in cards
    ]  # fmt: skip
    table("", ("name", "samples", "features", "classes", "files"), rows)
    pairs("what they are", [(card.name, card.title) for card in cards])
    click.echo()
    pairs("where they come from", [(card.name, card.source) for card in cards])


def _count(number: int | None) -> str:
    return "?" if number is None else f"{number:,}"


def _state(card: Any, data_dir: str | None) -> str:
    """Return whether a data set can be used at once, and if not, what to do."""
    from fedmf.cli._present import present

    if present(card, data_dir):
        return "there" if card.files else "none needed"
    return "to download" if card.remotes else "to be put there"
