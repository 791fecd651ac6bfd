"""Files that a run cannot do without, kept twice: where one is damaged the other is read.

    path         a digest of the rest, 32 bytes | the content
    copy/path    the same

Each is written under a temporary name and renamed. Only the first is flushed to the disk before the
work goes on: whatever ends the machine at that moment does not damage that one as well.
"""

from __future__ import annotations

import logging
from hashlib import sha256
from pathlib import Path

from fedmf.errors import FileFormatError, MissingDataError
from fedmf.files import write_bytes

DIGEST = 32
log = logging.getLogger("fedmf.network")


def copy_of(path: Path) -> Path:
    """Return where the second one is."""
    return path.parent / "copy" / path.name


def write(path: Path, content: bytes) -> None:
    """Write both."""
    data = sha256(content).digest() + content
    write_bytes(path, data)
    write_bytes(copy_of(path), data, flushed=False)


def read(path: Path) -> bytes:
    """Return what was written; refuse a file of which both are missing or damaged."""
    content = _read(path)
    if content is not None:
        return content
    content = _read(copy_of(path))
    if content is None:
        if not path.is_file():
            raise MissingDataError(f"{path} is missing")
        raise FileFormatError(f"{path} is damaged, and so is its copy")
    log.warning("%s is missing or damaged: its copy is read", path)
    return content


def remove(path: Path) -> None:
    """Remove both."""
    path.unlink(missing_ok=True)
    copy_of(path).unlink(missing_ok=True)


def _read(path: Path) -> bytes | None:
    """Return a file's content if it is what was written."""
    if not path.is_file():
        return None
    data = path.read_bytes()
    content = data[DIGEST:]
    return content if sha256(content).digest() == data[:DIGEST] else None
