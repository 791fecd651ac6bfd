"""NumPy's .npz: a dense matrix, or the arrays of a SciPy CSR matrix, beside named columns.

The matrix is, in this order: `data, indices, indptr, shape` as `scipy.sparse.save_npz` writes them
(with or without its `format`); the array called `X`; the only array of two dimensions. The other
one-dimensional arrays are the columns that labels, sites and samples can be taken from, and
`feature` or `features`, of length M, names the features. An array that was stored uncompressed
(`numpy.savez`) is memory-mapped.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any, NamedTuple, cast

import numpy as np
from numpy.lib import format as npy
from scipy import sparse

from fedmf.errors import DataError, FedMFError, FileFormatError
from fedmf.readers._content import (
    Content,
    Matrix,
    Vector,
    Wanted,
    check_known,
    one_line,
    real,
    two_dimensional,
)

ENDINGS = (".npz",)
SPARSE_PARTS = ("data", "indices", "indptr", "shape")
# What zipfile and NumPy raise where a file is damaged; a RuntimeError is of a coded member.
BROKEN = (
    *(zipfile.BadZipFile, zlib.error, struct.error, TokenError),
    *(OSError, EOFError, ValueError, RuntimeError),
)
HEADERS: dict[tuple[int, int], Callable[..., Any]] = {
    (1, 0): npy.read_array_header_1_0,
    (2, 0): npy.read_array_header_2_0,
}


class Head(NamedTuple):
    """What a .npy member says of itself before its numbers."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]


class Archive:
    """The arrays of an open .npz by name; nothing in it can run code."""

    def __init__(self, path: Path, file: zipfile.ZipFile) -> None:
        self.path = path
        self.file = file
        self.names = [n.removesuffix(".npy") for n in file.namelist() if n.endswith(".npy")]

    def head(self, name: str) -> Head:
        """Return the header of an array without reading the array."""
        with self.file.open(f"{name}.npy") as member:
            return self._head(name, member)

    def _head(self, name: str, member: IO[bytes]) -> Head:
        version = npy.read_magic(member)
        if version not in HEADERS:
            raise FileFormatError(f"{self.path}: {name} has the unknown .npy version {version}")
        head = Head(*HEADERS[version](member))
        if head.dtype.hasobject:
            raise FileFormatError(
                f"{self.path}: {name} holds Python objects, which are never loaded"
            )
        return head

    def __getitem__(self, name: str) -> Vector:
        self.head(name)
        with self.file.open(f"{name}.npy") as member:
            return cast(Vector, npy.read_array(member, allow_pickle=False))

    def mapped(self, name: str) -> Vector:
        """Return an array as a memory map where it was stored uncompressed, else read it."""
        member = self.file.getinfo(f"{name}.npy")
        if member.compress_type != zipfile.ZIP_STORED or 0 in self.head(name).shape:
            return self[name]
        with self.path.open("rb") as file:
            # at byte 26 of a local header are the lengths of its last two fields; data follow them
            file.seek(member.header_offset + 26)
            file.seek(sum(struct.unpack("<HH", file.read(4))), 1)
            head = self._head(name, file)
            start, order = file.tell(), "F" if head.fortran else "C"
        memmap: Any = np.memmap  # the type stubs have no dtype that is only known at run time
        return cast(Vector, memmap(self.path, head.dtype, "r", start, head.shape, order))


def read(path: Path, wanted: Wanted) -> Content:
    """Return the matrix of the archive and the one-dimensional arrays that were asked for."""
    try:
        with zipfile.ZipFile(path) as file:
            return _content(Archive(path, file), wanted)
    except FedMFError:
        raise
    except BROKEN as problem:
        raise FileFormatError(f"{path}: no whole .npz file ({one_line(problem)})") from None


def _content(archive: Archive, wanted: Wanted) -> Content:
    X, used = _matrix(archive)
    others = [name for name in archive.names if name not in used]
    check_known(archive.path, wanted, others)
    columns = {name: archive[name] for name in wanted.names()}
    names = next((archive[n] for n in ("feature", "features") if n in others), None)
    if names is not None and names.shape != (X.shape[1],):
        raise DataError(
            f"{archive.path}: {X.shape[1]} features in X, but {names.shape} feature names"
        )
    features = None if names is None else tuple(str(name) for name in names)
    return Content(X, features=features, columns=columns)


def _matrix(archive: Archive) -> tuple[Matrix, tuple[str, ...]]:
    """Return X (N, M) and the names of the arrays that it is made of."""
    if set(SPARSE_PARTS) <= set(archive.names):
        return _sparse(archive), (*SPARSE_PARTS, "format")
    name = "X" if "X" in archive.names else _only_matrix(archive)
    array = two_dimensional(archive.mapped(name), archive.path, name)
    return real(array, archive.path, name), (name,)


def _only_matrix(archive: Archive) -> str:
    found = [name for name in archive.names if len(archive.head(name).shape) == 2]
    if len(found) != 1:
        raise DataError(
            f"{archive.path}: which array is the matrix? Name it X, or leave one array of two"
            f" dimensions (it has {', '.join(archive.names) or 'none'})"
        )
    return found[0]


def _sparse(archive: Archive) -> sparse.csr_matrix:
    path, form = archive.path, "csr"
    if "format" in archive.names:
        held = archive["format"].item()
        form = held.decode() if isinstance(held, bytes) else str(held)
    if form != "csr":
        raise FileFormatError(f"{path}: sparse format {form!r} (allowed: csr): save X.tocsr()")
    data = real(archive["data"], path, "data")
    shape = tuple(int(size) for size in archive["shape"])
    try:
        X = sparse.csr_matrix((data, archive["indices"], archive["indptr"]), shape=shape)
        X.check_format(full_check=True)
    except (ValueError, TypeError) as problem:
        raise FileFormatError(f"{path}: no valid CSR matrix ({one_line(problem)})") from None
    two_dimensional(X, path, "the CSR matrix")
    X.sum_duplicates()
    return X
