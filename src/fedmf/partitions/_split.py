"""The rows of each site as arrays, as `fedmf.fit` takes them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, overload

import numpy as np

from fedmf.errors import InputError
from fedmf.partitions._rows import as_matrix, blocks, is_mapped, is_sparse, row_bytes

if TYPE_CHECKING:
    from pathlib import Path

    from fedmf.partitions._rows import Indices, Matrix

MOST_COPIED = 2**29


class LazySites(Sequence["Matrix"]):
    """The sites of a matrix, each made when it is asked for and not kept."""

    def __init__(self, X: Matrix, sites: Sequence[Indices]) -> None:
        self._X = as_matrix(X)
        self._sites = tuple(sites)

    def __len__(self) -> int:
        return len(self._sites)

    @overload
    def __getitem__(self, site: int) -> Matrix: ...
    @overload
    def __getitem__(self, site: slice) -> LazySites: ...
    def __getitem__(self, site: int | slice) -> Matrix | LazySites:
        if isinstance(site, slice):
            return LazySites(self._X, self._sites[site])
        return self._X[rows_of(self._sites[site])]


@overload
def split(X: Matrix, sites: Sequence[Indices], lazy: Literal[False] = ...) -> list[Matrix]: ...
@overload
def split(X: Matrix, sites: Sequence[Indices], lazy: Literal[True]) -> LazySites: ...
def split(X: Matrix, sites: Sequence[Indices], lazy: bool = False) -> list[Matrix] | LazySites:
    """Return the rows of X that belong to each site.

    A site whose rows follow each other is a view of a dense X (of the file, where X is
    memory-mapped); any other site is a copy in memory, and so is every site of a CSR matrix.
    `lazy=True` returns a sequence that makes a site each time it is asked for, so that no more
    than the sites in use are in memory. Without it, copies of more than 512 MiB out of a memory map
    are refused rather than made.
    """
    found = LazySites(X, sites)
    if lazy:
        return found
    if is_too_large(X, sites):
        raise InputError(
            f"split would copy {_bytes_copied(X, sites) / 1e9:.1f} GB of a memory-mapped matrix "
            "into memory: pass lazy=True to make each site when it is asked for"
        )
    return list(found)


def is_too_large(X: Matrix, sites: Sequence[Indices]) -> bool:
    """Say whether `split` would copy too much of a memory map."""
    return is_mapped(X) and _bytes_copied(X, sites) > MOST_COPIED


def rewrite(X: Matrix, sites: Sequence[Indices], path: Path) -> list[Matrix]:
    """Write the rows of a dense X site after site to a .npy; return each site's view of the file.

    The rows go through memory block by block. A full disk is an error here: it would be a crash,
    were they written through a memory map.
    """
    order = np.concatenate(sites)
    header = {"descr": X.dtype.str, "fortran_order": False, "shape": (len(order), X.shape[1])}
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for rows in blocks(len(order), row_bytes(X)):
            file.write(np.ascontiguousarray(X[order[rows]]).data)
    written = np.load(path, mmap_mode="r", allow_pickle=False)
    edges = np.cumsum([0, *map(len, sites)])
    return [written[first:last] for first, last in pairwise(edges)]


def rows_of(rows: Indices) -> slice | Indices:
    """Return ascending rows as a slice where they follow each other."""
    if len(rows) and rows[-1] - rows[0] + 1 == len(rows):
        return slice(int(rows[0]), int(rows[-1]) + 1)
    return rows


def _bytes_copied(X: Matrix, sites: Sequence[Indices]) -> int:
    """Return how much of a dense X the sites need copies of."""
    if is_sparse(X):
        return 0
    copied = sum(len(rows) for rows in sites if not isinstance(rows_of(rows), slice))
    return copied * int(X.shape[1] * X.dtype.itemsize)
