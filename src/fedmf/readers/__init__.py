"""Read a user's own file into a matrix: one file here for each format, found by listing the folder.

A format is a module with `ENDINGS`, a tuple of file endings, and `read(path, wanted) -> Content`;
keyword-only arguments of `read` become options of that format. Adding a format is adding a file.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import cast

from fedmf.errors import DataError, FileFormatError, MissingDataError
from fedmf.plugins import call, names_in
from fedmf.readers._content import Content, Matrix, Vector, Wanted

__all__ = ["Content", "Matrix", "Vector", "Wanted", "ending", "endings", "read"]


@cache
def _formats() -> dict[str, ModuleType]:
    """Return the module of each ending; formats import their libraries only when they read."""
    modules = [import_module(f"{__name__}.{name}") for name in names_in(__name__)]
    return {known: module for module in modules for known in module.ENDINGS}


def endings() -> list[str]:
    """Return every ending that can be read, sorted."""
    return sorted(_formats())


def ending(path: Path) -> str | None:
    """Return the longest known ending of the file's name (".csv.gz" over ".gz"), or None."""
    name = path.name.lower()
    fitting = [known for known in _formats() if name.endswith(known)]
    return max(fitting, key=len, default=None)


def read(path: Path, wanted: Wanted | None = None, **options: object) -> Content:
    """Read one file by its ending; `wanted` names the columns to take out of the matrix."""
    known = ending(path)
    if known is None:
        allowed = ", ".join(endings())
        raise FileFormatError(f"{path}: unknown ending {path.suffix!r} (allowed: {allowed})")
    if not path.is_file():
        raise MissingDataError(f"{path}: there is no such file")
    reader = _formats()[known].read
    what, wanted = f"a {known} file", wanted or Wanted()
    try:
        return cast(Content, call(reader, what, path, wanted, beside=Wanted._fields, **options))
    except MemoryError:
        raise DataError(f"{path}: what it says it holds does not fit into the memory") from None
