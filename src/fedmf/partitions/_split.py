"""The rows of each site as arrays, as `fedmf.fit` takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, overload

from fedmf.errors import InputError
from fedmf.partitions._rows import as_matrix, is_mapped, is_sparse

if TYPE_CHECKING:
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
    copied = _bytes_copied(X, sites)
    if copied > MOST_COPIED and is_mapped(X):
        raise InputError(
            f"split would copy {copied / 1e9:.1f} GB of a memory-mapped matrix into memory: pass "
            "lazy=True to make each site when it is asked for"
        )
    return list(found)


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
