"""Rows of a matrix that may not fit into memory: blocks, gathering, and work on several cores.

Every sum and product is over blocks whose bounds depend on the data's shape alone, each done by one
thread, so that no result depends on how many threads there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from fedmf.errors import InputError, InputTypeError

Matrix: TypeAlias = Any
"""(N, M): a numpy array, a numpy memory map, a scipy CSR matrix or array, or a `Stacked`."""
Indices: TypeAlias = NDArray[np.int64]
Result = TypeVar("Result")

BLOCK_BYTES = 2**24
MOST_WORKERS = 4


class Stacked:
    """Dense matrices below each other, (N, M); rows are read from them when they are taken."""

    def __init__(self, parts: Sequence[Matrix]) -> None:
        self._parts = parts
        self._edges = np.cumsum([0, *(len(part) for part in parts)])
        self.shape = (int(self._edges[-1]), int(parts[0].shape[1]))
        self.ndim = 2
        self.dtype = np.result_type(*{part.dtype for part in parts})

    def __getitem__(self, rows: slice | Indices) -> NDArray[Any]:
        if isinstance(rows, slice):
            rows = np.arange(*rows.indices(self.shape[0]))
        taken = np.empty((len(rows), self.shape[1]), self.dtype)
        of_part = np.searchsorted(self._edges, rows, side="right") - 1
        for place in np.unique(of_part):
            own = of_part == place
            taken[own] = self._parts[place][rows[own] - self._edges[place]]
        return taken


def as_matrix(X: Matrix) -> Matrix:
    """Return X as a numeric (N, M) array or CSR matrix, without reading it."""
    if isinstance(X, Stacked):
        return X
    matrix = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise InputError(
            f"X must have samples in rows and features in columns, got shape {matrix.shape}"
        )
    if matrix.dtype.kind not in "fiub":
        raise InputTypeError(f"X must hold real numbers, got dtype {matrix.dtype}")
    return matrix


def is_sparse(X: Matrix) -> bool:
    """Say whether X is a scipy matrix."""
    return hasattr(X, "tocsr")


def is_mapped(X: Matrix) -> bool:
    """Say whether X is a window on a file."""
    base = X
    while isinstance(base, np.ndarray):
        if isinstance(base, np.memmap):
            return True
        base = base.base
    return False


def work_dtype(X: Matrix) -> np.dtype[Any]:
    """Return float32 for data no finer than that, else float64."""
    return np.dtype(np.float32 if X.dtype in (np.float16, np.float32) else np.float64)


def row_bytes(X: Matrix) -> int:
    """Return what one row takes as float64, for sparse data on average."""
    return int(12 * X.nnz / X.shape[0]) + 1 if is_sparse(X) else 8 * int(X.shape[1])


def blocks(n_rows: int, bytes_a_row: int) -> Iterator[slice]:
    """Yield slices that cover `n_rows`, each of about BLOCK_BYTES."""
    step = max(1, BLOCK_BYTES // bytes_a_row)
    return (slice(start, min(start + step, n_rows)) for start in range(0, n_rows, step))


def map_blocks(work: Callable[[slice], Result], X: Matrix, width: int = 1) -> list[Result]:
    """Return `work(rows)` for each block of rows of X, in order; `width`: columns that it makes."""
    bounds = blocks(X.shape[0], max(row_bytes(X), 8 * width))
    with ThreadPoolExecutor(min(MOST_WORKERS, _cores())) as pool:
        return list(pool.map(work, bounds))


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_blas_thread() -> AbstractContextManager[Any]:
    """Return a context in which every linear algebra call is done by its caller's thread."""
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager[Any] = threadpool_limits(1)
    return limits


def take(X: Matrix, rows: slice | Indices, dtype: Any = None) -> Matrix:
    """Return some rows of X in a floating dtype, by default the one that it is worked on in."""
    return X[rows].astype(dtype or work_dtype(X), copy=False)


def row_squares(block: Matrix) -> NDArray[np.floating[Any]]:
    """Return the squared norm of each row."""
    if is_sparse(block):
        return np.asarray(block.multiply(block).sum(axis=1)).ravel()
    squares: NDArray[np.floating[Any]] = np.einsum("ij,ij->i", block, block)
    return squares


def group_rows(site: Indices) -> list[Indices]:
    """Return the rows of each site, ascending, from the site of each row."""
    order = np.argsort(site, kind="stable").astype(np.int64, copy=False)
    return np.split(order, np.cumsum(np.bincount(site))[:-1])
