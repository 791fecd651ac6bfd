"""Data by name or by path: `load("mnist")`, `load("synthetic", preset="paper")`, `load("my.csv")`.

A data set is a module here with a `CARD` and `load(data_dir, *, options) -> Table`; names are found
by listing the folder, so adding one is adding a file. A path is read by `fedmf.readers`.
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, cast

from fedmf.datasets import _files, _folder
from fedmf.datasets._card import Card, Remote
from fedmf.datasets._download import Progress, fetch
from fedmf.datasets._table import Figures, Table, check_finite, figures
from fedmf.errors import InputTypeError, MissingDataError
from fedmf.plugins import call, module_in, names_in, unknown_name

__all__ = [
    "Card",
    "Figures",
    "Remote",
    "Table",
    "check_finite",
    "describe",
    "download",
    "figures",
    "load",
    "load_sites",
    "names",
]


def names() -> list[str]:
    """Return the names of the built-in data sets."""
    return list(names_in(__name__))


def describe(name: str) -> Card:
    """Return what is known of a built-in data set."""
    return cast(Card, module_in(__name__, name, "data set").CARD)


def load(source: str | Path, *, data_dir: str | Path | None = None, **options: Any) -> Table:
    """Return a table: a built-in data set by name, or else a file or a folder by path.

    data_dir: where the files of the built-in data sets lie; without it, `FEDMF_DATA`.
    options: those of the data set (see its card); for a path `labels`, `sites`, `samples` (a
        column's name; the first two also a file or an array) and `check`.
    A built-in name wins over a file of that name ("./mnist" or a `Path` is always a path). A .npy
    file is returned memory-mapped; the check for NaN reads it once, block by block. A folder, one
    file for each site, is put together in memory; `load_sites` leaves its files apart and mapped.
    """
    if isinstance(source, str) and source in names():
        module, folder = module_in(__name__, source, "data set"), _folder.resolve(data_dir)
        return cast(Table, call(module.load, f"data set {source!r}", folder, **options))
    path = _path(source)
    if path.is_dir():
        return _files.joined(path, load_sites(path, **options))
    return _files.load_file(path, **options)


def load_sites(folder: str | Path, **options: Any) -> dict[str, Table]:
    """Return a folder's files as tables by site, each memory-mapped where its format allows."""
    path = Path(folder)
    if not path.is_dir():
        raise MissingDataError(f"{path}: there is no such folder")
    return _files.load_folder(path, **options)


def download(
    name: str, *, data_dir: str | Path | None = None, progress: Progress | None = None
) -> list[Path]:
    """Fetch the public files of a data set into the data folder; what is there already is kept."""
    card = describe(name)
    if not card.remotes:
        raise MissingDataError(f"{name} cannot be downloaded: {_folder.how(card)}")
    folder = _folder.required(_folder.resolve(data_dir), card)
    return [fetch(remote, folder, progress) for remote in card.remotes]


def _path(source: str | Path) -> Path:
    """Return the path; what is neither there nor looks like one was meant as a name."""
    if not isinstance(source, str | PathLike):
        raise InputTypeError(
            f"data must be a path or a data set's name, got {type(source).__name__}"
        )
    path = Path(source).expanduser()
    if path.exists() and source != "":  # which would mean the folder that one is in
        return path
    if isinstance(source, str) and "/" not in source and "." not in source:
        raise unknown_name("data set", source, names())
    raise MissingDataError(f"{path}: there is no such file or folder")
