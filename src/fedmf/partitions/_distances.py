"""Which of a few points each row is nearest to, for matrices of any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from fedmf.errors import DataError
from fedmf.partitions._rows import is_sparse, map_blocks, row_squares, take, work_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fedmf.partitions._rows import Indices, Matrix


def nearest_point(X: Matrix, points: Matrix) -> tuple[Indices, NDArray[np.floating[Any]]]:
    """Return for each row of X (N, M) its nearest of `points` (P, M) and the squared distance.

    ||x - c||^2 = ||x||^2 - 2 x'c + ||c||^2; the first of equally near points wins.
    """
    dtype = work_dtype(X)
    points = points.astype(dtype, copy=False)
    squares = row_squares(points)
    across = points.T.tocsr() if is_sparse(points) else np.ascontiguousarray(points.T)

    def compare(rows: slice) -> tuple[Indices, NDArray[np.floating[Any]]]:
        with np.errstate(over="ignore", invalid="ignore"):
            block = take(X, rows)
            product = block @ across
            score = product.toarray() if is_sparse(product) else product
            score *= -2
            score += squares
            best = score.argmin(axis=1)
            distance = score[np.arange(len(best)), best] + row_squares(block)
        return best, np.maximum(distance, 0)

    found, distances = zip(*map_blocks(compare, X, points.shape[0]), strict=True)
    distance = np.concatenate(distances)
    if not np.isfinite(distance).all():
        norms = np.concatenate(map_blocks(lambda rows: _squares(X, rows), X))
        refuse_rows(np.flatnonzero(~np.isfinite(norms)))
    return np.concatenate(found), distance


def _squares(X: Matrix, rows: slice) -> NDArray[np.floating[Any]]:
    """Return the squared norms of some rows, not finite where a value is not."""
    with np.errstate(over="ignore", invalid="ignore"):
        return row_squares(take(X, rows))


def refuse_rows(rows: Indices) -> None:
    """Refuse data with rows that cannot be worked on; say which is the first."""
    for row in rows[:1]:
        raise DataError(f"X has a value in row {row} that is not finite or too large to square")
