"""Writing files so that nothing is lost: under a temporary name, then renamed. Reading settings."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable
from importlib.resources.abc import Traversable
from pathlib import Path
from threading import get_ident
from typing import Any

from fedmf.errors import FileFormatError, MissingDataError

TEMPORARY = re.compile(r"\.(\d+)-\d+-.+")  # process, thread, and the name that it shall have


def write_atomically(path: Path, write: Callable[[Path], None], *, flushed: bool = True) -> None:
    """Let `write` fill a temporary file beside `path`, then rename it: never half a file.

    Not `flushed`, it survives the end of the process, but perhaps not that of the machine.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    # The ending stays last: writers of figures and tables go by it.
    temporary = path.with_name(f".{os.getpid()}-{get_ident()}-{path.name}")
    try:
        write(temporary)
        if flushed:
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def is_temporary(name: str) -> bool:
    """Whether a file is one that was being written."""
    return TEMPORARY.fullmatch(name) is not None


def remove_leftovers(folder: Path) -> None:
    """Remove what processes that were killed left half written in a folder of one writer."""
    for path in folder.iterdir():
        found = TEMPORARY.fullmatch(path.name)
        if found and int(found[1]) != os.getpid():
            path.unlink(missing_ok=True)


def write_text(path: Path, text: str, *, flushed: bool = True) -> None:
    """Write a text file."""
    write_bytes(path, text.encode(), flushed=flushed)


def write_bytes(path: Path, data: bytes, *, flushed: bool = True) -> None:
    """Write a file of bytes."""
    write_atomically(path, lambda temporary: _fill(temporary, data), flushed=flushed)


def read_toml(file: Traversable) -> dict[str, Any]:
    """Return the tables of a TOML file."""
    if not file.is_file():
        raise MissingDataError(f"{file}: there is no such file")
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(f"{file}: no valid TOML: {error}") from None


def _fill(path: Path, data: bytes) -> None:
    path.write_bytes(data)
