"""Blocks of rows: the pieces in which data are read, multiplied and checked.

Dense blocks are views of the user's array, memory-mapped or not. Only small neighbours are put
together in a copy, and not even they where they already adjoin in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from fedmf.arrays import Array, Rows

LARGE = 4 * 2**20  # bytes of a block at the most: two products with it find it in the cache
HUGE = 32 * 2**20  # the same where there is so much that the second product finds nothing there
SMALL = 2 * 2**20  # bytes below which a block is worth putting together with its neighbours
DENSE_ROWS = 64  # rows below which adding its (M, K) term costs more than a dense product
SPARSE_ROWS = 8  # the same for a sparse one, in entries for each of the M features


def nbytes(rows: Rows) -> int:
    """Return how much memory the entries take."""
    return int(rows.nbytes if isinstance(rows, np.ndarray) else rows.data.nbytes * 2)


def cut(rows: Rows) -> Iterator[Rows]:
    """Yield the rows (n, M) in blocks of a good size, without copying them."""
    if not isinstance(rows, np.ndarray):
        yield rows
        return
    most = HUGE if nbytes(rows) > 16 * HUGE else LARGE
    count = min(rows.shape[0], max(1, -(-nbytes(rows) // max(most, _least(rows)))))
    borders = np.linspace(0, rows.shape[0], count + 1).astype(int)
    for first, last in pairwise(borders):
        yield rows[first:last]


def pack(parts: Sequence[Rows]) -> Iterator[Rows]:
    """Yield the parts, small neighbours put together; those of a good size are not copied."""
    small: list[Rows] = []
    filled = 0
    for part in parts:
        size, least = nbytes(part), _least(part)
        if small and filled + size > least:
            yield stack(small)
            small, filled = [], 0
        if size >= least:
            yield part
        else:
            small.append(part)
            filled += size
    if small:
        yield stack(small)


def _least(rows: Rows) -> int:
    """Return the bytes below which a block of this kind is small."""
    M, itemsize = int(rows.shape[1]), int(rows.dtype.itemsize)
    if isinstance(rows, np.ndarray):
        return max(SMALL, DENSE_ROWS * M * itemsize)
    return max(SMALL, SPARSE_ROWS * M * 2 * itemsize)


def stack(parts: Sequence[Rows]) -> Rows:
    """Put blocks below each other; without a copy where they already are."""
    if len(parts) == 1:
        return parts[0]
    if not isinstance(parts[0], np.ndarray):
        return sparse.vstack(parts, format="csr")
    whole = _adjoining(parts)
    return np.concatenate(parts) if whole is None else whole


def _adjoining(parts: Sequence[Any]) -> Any | None:
    """Return the slice of the array that the parts are views of, if they adjoin in it."""
    base = parts[0].base
    same = isinstance(base, np.ndarray) and all(part.base is base for part in parts)
    if not same or base.ndim != 2 or not base.flags.c_contiguous:
        return None
    if base.dtype != parts[0].dtype or base.shape[1] != parts[0].shape[1]:
        return None
    # A part may also begin in the middle of a row of `base`: then there is a rest.
    places = [divmod(part.ctypes.data - base.ctypes.data, base.strides[0]) for part in parts]
    starts = [start for start, _ in places]
    ends = [start + part.shape[0] for start, part in zip(starts, parts, strict=True)]
    if starts[1:] != ends[:-1] or any(rest for _, rest in places):
        return None
    if not all(part.flags.c_contiguous for part in parts):
        return None
    return base[starts[0] : ends[-1]]


def entries(block: Rows) -> Array:
    """Return the stored entries: all of a dense block, the explicit ones of a sparse one."""
    values: Array = block if isinstance(block, np.ndarray) else block.data
    return values


def squared_norm(block: Rows) -> float:
    """Return the sum of squares of a block, in double precision."""
    values = entries(block).astype(np.float64, copy=False).ravel()
    return float(values @ values)
