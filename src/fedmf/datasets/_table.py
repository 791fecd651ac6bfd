"""The table that every data set and every user's file becomes, and checks that read it in blocks.

Nothing here makes a temporary of the size of X, so a memory-mapped matrix may be far larger than
the memory: its pages are read, and dropped by the system, block by block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fedmf.errors import DataError, ParameterError
from fedmf.readers import Matrix, Vector

BLOCK = 1 << 17
"""Entries that are looked at in one go (1 MiB of float64)."""


@dataclass(frozen=True, eq=False)
class Table:
    """Samples in rows, with what is known about them.

    X: (N, M) float32 or float64, dense (perhaps a read-only memory map) or CSR.
    labels: (N,) the class of each sample, whole numbers or text; None where there are no classes.
        A sample without a class has -1 or "none"; the synthetic set has its own class 0 for them.
    sites: (N,) the site of each sample, whole numbers or text; None where there are none.
    features, samples: M and N names, or None.
    name, source: what it is called and where it came from, one line each.
    """

    X: Matrix
    labels: Vector | None = None
    sites: Vector | None = None
    features: tuple[str, ...] | None = None
    samples: tuple[str, ...] | None = None
    name: str = ""
    source: str = ""


class Figures(NamedTuple):
    """What a matrix looks like."""

    low: float
    high: float
    zeros: float
    """The share of entries that are zero."""


def float_type(dtype: npt.DTypeLike) -> np.dtype[Any]:
    """Return float32 or float64; nothing else is a table's type."""
    try:
        kind = np.dtype(dtype)
    except TypeError:
        kind = np.dtype(object)
    if kind not in (np.float32, np.float64):
        raise ParameterError(f"dtype must be float32 or float64, got {dtype!r}")
    return kind


def blocks(X: Vector) -> Iterator[tuple[slice, Vector]]:
    """Yield slices of rows of X (N, M) and the rows, about `BLOCK` entries at a time."""
    step = max(1, BLOCK // X.shape[1])
    for start in range(0, X.shape[0], step):
        rows = slice(start, start + step)
        yield rows, X[rows]


def figures(X: Matrix) -> Figures:
    """Return range and share of zeros in one pass; `low` or `high` is not finite if X is not."""
    entries = X.shape[0] * X.shape[1]
    dense = _along_memory(X)
    low, high, filled = np.inf, -np.inf, 0
    with np.errstate(invalid="ignore"):
        for _, block in blocks(dense):
            if block.size:
                low = float(np.minimum(low, block.min()))
                high = float(np.maximum(high, block.max()))
                filled += int(np.count_nonzero(block))
    if dense.size < entries:  # what a sparse matrix does not store is zero
        low, high = float(np.minimum(low, 0.0)), float(np.maximum(high, 0.0))
    return Figures(low, high, 1.0 - filled / entries)


def check_finite(X: Matrix, what: str) -> None:
    """Refuse a NaN or an infinity, naming its row and column (counted from 1)."""
    found = figures(X)
    if np.isfinite(found.low) and np.isfinite(found.high):
        return
    row, column, value = _first_bad(X)
    raise DataError(f"{what}: row {row + 1}, column {column + 1} is {value}, not a finite number")


def _along_memory(X: Matrix) -> Vector:
    """Return the stored entries as a matrix whose rows lie together in memory or in the file."""
    if isinstance(X, np.ndarray):
        return X.T if X.flags.f_contiguous and not X.flags.c_contiguous else X
    return np.asarray(X.data)[:, None]


def _first_bad(X: Matrix) -> tuple[int, int, float]:
    dense = _along_memory(X)
    for rows, block in blocks(dense):
        bad = np.argwhere(~np.isfinite(block))
        if len(bad):
            i, j = int(bad[0, 0]) + rows.start, int(bad[0, 1])
            break
    value = float(dense[i, j])
    if isinstance(X, np.ndarray):
        return (i, j, value) if dense is X else (j, i, value)
    return int(np.searchsorted(X.indptr, i, "right")) - 1, int(X.indices[i]), value
