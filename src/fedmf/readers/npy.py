"""NumPy's .npy: one array, memory-mapped, so that it may be larger than the memory."""

from __future__ import annotations

from pathlib import Path
from tokenize import TokenError
from typing import cast

import numpy as np

from fedmf.errors import FileFormatError
from fedmf.readers._content import Content, Vector, Wanted, check_known, one_line, real
from fedmf.readers._content import two_dimensional as matrix

ENDINGS = (".npy",)


def read(path: Path, wanted: Wanted) -> Content:
    """Return the array as a read-only memory map; it has no named columns to take out."""
    check_known(path, wanted, ())
    return Content(real(matrix(open_array(path), path), path))


def open_array(path: Path) -> Vector:
    """Return an array of any shape, memory-mapped; nothing in the file can run code."""
    with path.open("rb") as file:
        if file.read(6) != b"\x93NUMPY":
            raise FileFormatError(f"{path}: this is no .npy file (its first bytes are others)")
    try:
        return cast(Vector, np.load(path, mmap_mode="r", allow_pickle=False))
    except (ValueError, EOFError, TokenError) as problem:  # the last: of the header's text
        if "Python objects" in str(problem):
            raise FileFormatError(
                f"{path}: it holds Python objects, which are never loaded"
            ) from None
        raise FileFormatError(f"{path}: cut short or damaged ({one_line(problem)})") from None
