"""MATLAB's .mat files of versions 5 to 7: real and sparse matrices by name.

A file is a header of 128 bytes and then elements, each a tag (what it is, how long) and its bytes;
a matrix is an element made of elements. They are parsed here, since SciPy's reader (1.17.1) ends
the whole process with a segmentation fault on some damaged files.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse

from fedmf.errors import FileFormatError
from fedmf.readers import Vector
from fedmf.readers._content import one_line

HEADER = 128
NUMBERS = {  # the types of elements that hold numbers
    1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8",
}  # fmt: skip
MATRIX, PACKED = 14, 15
SPARSE, FIRST_REAL, LAST_REAL = 5, 6, 15  # classes of matrices: double, single, int8, ..., uint64
COMPLEX = 0x0800


class Element(NamedTuple):
    """A tagged piece of the file."""

    kind: int
    held: memoryview


def read(path: Path, names: Collection[str]) -> dict[str, Vector | sparse.csc_matrix]:
    """Return those of the named variables that the file has."""
    try:
        data = memoryview(path.read_bytes())
        order = _order(bytes(data[:HEADER]))
        found = (_variable(element, order, names) for element in _elements(data[HEADER:], order))
        return dict(variable for variable in found if variable is not None)
    except (ValueError, IndexError, TypeError, struct.error, zlib.error) as problem:
        raise FileFormatError(f"{path}: no whole MATLAB file ({one_line(problem)})") from None


def _order(header: bytes) -> str:
    """Return the byte order, "<" or ">"; refuse another version."""
    order = {b"IM": "<", b"MI": ">"}.get(header[126:128])
    if order is None:
        raise ValueError("its header is not that of version 5 to 7.2")
    (version,) = struct.unpack(f"{order}H", header[124:126])
    if version != 0x0100:
        raise ValueError(f"its version is {version:#06x}; save it with -v7")
    return order


def _elements(data: memoryview, order: str) -> Iterator[Element]:
    """Yield the elements that lie behind each other."""
    place = 0
    while place < len(data):
        kind, size = struct.unpack_from(f"{order}II", data, place)
        start, end = place + 8, place + 8 + size
        if kind >> 16:  # a small one: length and type share four bytes, the numbers are the others
            kind, size = kind & 0xFFFF, kind >> 16
            start, end = place + 4, place + 8
        elif kind != PACKED:
            end += -size % 8  # what is not packed is filled up to eight bytes
        if start + size > len(data):
            raise ValueError("it is cut short")
        yield Element(kind, data[start : start + size])
        place = end


def _variable(
    element: Element, order: str, names: Collection[str]
) -> tuple[str, Vector | sparse.csc_matrix] | None:
    """Return the name and the value of a matrix that is wanted."""
    if element.kind == PACKED:
        (element,) = _elements(memoryview(zlib.decompress(element.held)), order)
    if element.kind != MATRIX:
        return None
    flags, shape, called, *parts = _elements(element.held, order)
    name = bytes(called.held).decode("ascii")
    if name not in names:
        return None
    about = int(_numbers(flags, order)[0])
    n, m = (int(size) for size in _numbers(shape, order))
    if about & COMPLEX:
        raise ValueError(f"{name} is complex")
    arrays = [_numbers(part, order) for part in parts]
    return name, _matrix(name, about & 0xFF, (n, m), arrays)


def _matrix(
    name: str, kind: int, shape: tuple[int, int], arrays: list[Vector]
) -> Vector | sparse.csc_matrix:
    """Return a matrix from its arrays: the entries by columns, or rows, columns and entries."""
    if kind == SPARSE:
        rows, columns, entries = arrays
        stored = int(columns[-1])
        X = sparse.csc_matrix((entries[:stored], rows[:stored], columns), shape=shape)
        X.check_format(full_check=True)
        return X
    if not FIRST_REAL <= kind <= LAST_REAL:
        raise ValueError(f"{name} is no matrix of real numbers")
    (entries,) = arrays
    return entries.reshape(shape, order="F")


def _numbers(element: Element, order: str) -> Vector:
    """Return an element's numbers in the machine's byte order."""
    if element.kind not in NUMBERS:
        raise ValueError(f"an element has the unknown type {element.kind}")
    found = np.frombuffer(element.held, f"{order}{NUMBERS[element.kind]}")
    return found.astype(found.dtype.newbyteorder("="))
