"""The files of the figures and the table: the package's own, or those of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

from fedmf.errors import MissingDataError, ParameterError
from fedmf.files import read_toml

SETTINGS = "settings"  # what they share


def names(folder: Path | None = None) -> list[str]:
    """Return the names of all exhibits, figures first."""
    found = [
        Path(file.name).stem for file in _folder(folder).iterdir() if file.name[-5:] == ".toml"
    ]
    return sorted(name for name in found if name != SETTINGS)


def chosen(wanted: Sequence[str], folder: Path | None = None) -> list[str]:
    """Return the exhibits that names, beginnings of names, or "all" stand for."""
    known = names(folder)
    picked = set()
    for text in wanted:
        exact = [name for name in known if text in (name, "all")]
        found = exact or [name for name in known if name.startswith(text)]
        if not found:
            raise ParameterError(f"there is no {text!r}; there are all, {', '.join(known)}")
        picked.update(found)
    return [name for name in known if name in picked]


def _folder(folder: Path | None) -> Any:
    if folder is None:
        return files("fedmf.paper").joinpath("exhibits")
    if not folder.is_dir():
        raise MissingDataError(f"{folder}: there is no such folder")
    return folder


def text_of(name: str, folder: Path | None = None) -> str:
    """Return the text of a file that can be read as a table."""
    return str(_folder(folder).joinpath(f"{name}.toml").read_text(encoding="utf-8"))


def table_of(name: str, folder: Path | None) -> dict[str, Any]:
    """Return a file's table."""
    return read_toml(_folder(folder).joinpath(f"{name}.toml"))
