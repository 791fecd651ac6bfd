"""Find a data set's files in the folder that the user names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from fedmf.datasets._card import Card
from fedmf.errors import MissingDataError

VARIABLE = "FEDMF_DATA"


def resolve(data_dir: Path | str | None) -> Path | None:
    """Return the data folder: the argument, or else the environment's `FEDMF_DATA`, or None."""
    given = data_dir or os.environ.get(VARIABLE)
    return Path(given).expanduser() if given else None


def required(data_dir: Path | None, card: Card) -> Path:
    """Return the folder, or say that one must be named."""
    if data_dir is None:
        raise MissingDataError(
            f"{card.name}: no data folder: name it with --data-dir or {VARIABLE} ({how(card)})"
        )
    return data_dir


def find(data_dir: Path | None, card: Card, names: Iterable[str]) -> Path | None:
    """Return the first name that lies in the folder or in its subfolder called as the set is."""
    folder = required(data_dir, card)
    places = (place / name for name in names for place in (folder, folder / card.name))
    return next((path for path in places if path.is_file()), None)


def need(data_dir: Path | None, card: Card, names: Iterable[str]) -> Path:
    """Return the first of the names that is there, or say what to get and where to put it."""
    names = tuple(names)
    found = find(data_dir, card, names)
    if found is None:
        raise MissingDataError(f"{card.name}: {names[0]} is not in {data_dir}: {how(card)}")
    return found


def how(card: Card) -> str:
    """Say how the files of a data set get there."""
    if not card.files:
        return "it has no files, it is made on the spot"
    files = "; or ".join(card.files)
    if card.remotes:
        fetched = f"`fedmf data prepare {card.name}` downloads it"
        return f"{fetched}, or put {files} there yourself, from {card.source}"
    return f"put {files} there, made from {card.source}"
