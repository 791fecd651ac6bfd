"""Distances from samples to a few points, and sums of samples by cluster, piece by piece.

||x - c||^2 = ||x||^2 - 2 x'c + ||c||^2, in double precision whatever the data are in. A piece is a
part of a cohort's block with a bounded table of scores, so that nothing of the size N x K x M, nor
a second copy of the data, is ever made.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fedmf.arrays import Array, IntArray, Rows
from fedmf.blocks import stack
from fedmf.parallel import each
from fedmf.sites import Cohort

BoolArray: TypeAlias = NDArray[np.bool_]
# What a site keeps for each of its samples, in the words of `fedmf.private`.
Labels: TypeAlias = Annotated[IntArray, "columns"]
Flags: TypeAlias = Annotated[BoolArray, "columns"]
SCORE_BYTES = 16 * 2**20  # of a piece's scores, (rows, points)
PIECES_AT_ONCE = 16  # whose (K, M) sums are held together
NOISE = 4e-14  # a squared distance below this share of both squared norms is rounding: zero


@dataclass(frozen=True)
class Points:
    """Samples, dense or CSR, with their squared norms."""

    data: Cohort
    squares: Array  # (n,)

    @classmethod
    def of(cls, data: Cohort | Rows) -> Points:
        """Return the points of a cohort or of one matrix with samples in rows."""
        cohort = data if isinstance(data, Cohort) else Cohort.of(data)
        norms = each(lambda block: row_squares(_wide(block)), cohort.blocks)
        return cls(cohort, np.concatenate(norms))

    def __len__(self) -> int:
        return len(self.squares)

    def nearest(self, centres: Rows, among: BoolArray | None = None) -> tuple[IntArray, Array]:
        """Return each sample's nearest centre and its squared distance, (n,) both.

        The first of equally near centres wins. `among`: only for these samples.
        """
        return self._compare(centres, lambda scores, _: scores.argmin(axis=1), among)

    def squared_to(self, centres: Rows, labels: IntArray) -> Array:
        """Return the squared distance of each sample to the centre of its label, (n,)."""
        return self._compare(centres, lambda _, part: labels[part], None)[1]

    def table(self, centres: Rows) -> Array:
        """Return all squared distances to a handful of centres, (n, K)."""
        wide = dense(centres)
        norms = row_squares(wide)
        parts = each(lambda piece: self._rows(piece) @ wide.T, self._pieces(len(wide)))
        product = np.concatenate(parts)
        return _clean(product * -2 + norms + self.squares[:, None], norms, self.squares[:, None])

    def sums(self, labels: IntArray, weights: Array, clusters: int) -> Array:
        """Return the weighted sum of each cluster's samples, (K, M)."""
        total = np.zeros((clusters, self.data.shape[1]))
        pieces = self._pieces(clusters)

        def term(piece: tuple[int, int, int]) -> Array:
            part = self._part(piece)
            count = part.stop - part.start
            place = (labels[part], np.arange(count))
            member = sparse.csr_array((weights[part], place), shape=(clusters, count))
            return dense(member @ self._rows(piece))

        for first in range(0, len(pieces), PIECES_AT_ONCE):
            for found in each(term, pieces[first : first + PIECES_AT_ONCE]):
                total += found
        return total

    def _compare(
        self, centres: Rows, choose: Callable[[Array, slice], IntArray], among: BoolArray | None
    ) -> tuple[IntArray, Array]:
        """Return the centre chosen for each sample from its scores, and its squared distance."""
        wide = dense(centres)
        norms, across = row_squares(wide), np.ascontiguousarray(wide.T)

        def work(piece: tuple[int, int, int]) -> tuple[IntArray, Array]:
            part, rows = self._part(piece), self._rows(piece)
            scores = (rows if among is None else rows[among[part]]) @ across
            scores *= -2
            scores += norms
            chosen = choose(scores, part)
            return chosen, scores[np.arange(len(chosen)), chosen]

        found, scores = zip(*each(work, self._pieces(len(wide))), strict=True)
        chosen = np.concatenate(found).astype(np.int64, copy=False)
        squares = self.squares if among is None else self.squares[among]
        return chosen, _clean(np.concatenate(scores) + squares, norms[chosen], squares)

    def _pieces(self, width: int) -> list[tuple[int, int, int]]:
        """Return (block, first row, last row) of pieces with `width` scores a row."""
        step = max(1, SCORE_BYTES // (8 * max(1, width)))
        return [
            (place, first, min(first + step, block.shape[0]))
            for place, block in enumerate(self.data.blocks)
            for first in range(0, block.shape[0], step)
        ]

    def _part(self, piece: tuple[int, int, int]) -> slice:
        place, first, last = piece
        start = int(self.data.borders[place])
        return slice(start + first, start + last)

    def _rows(self, piece: tuple[int, int, int]) -> Rows:
        place, first, last = piece
        return _wide(self.data.blocks[place][first:last])


def pick(data: Cohort, indices: IntArray) -> Rows:
    """Return the samples at these ascending indices, in the data's own type."""
    ends = np.searchsorted(indices, data.borders)
    found = [
        block[indices[ends[place] : ends[place + 1]] - data.borders[place]]
        for place, block in enumerate(data.blocks)
        if ends[place] < ends[place + 1]
    ]
    return stack(found) if found else data.blocks[0][:0]


def dense(rows: Rows) -> Array:
    """Return a matrix as a dense one in double precision."""
    full = rows if isinstance(rows, np.ndarray) else rows.toarray()
    return np.asarray(full, dtype=np.float64)


def row_squares(rows: Rows) -> Array:
    """Return the squared norm of each row."""
    if isinstance(rows, np.ndarray):
        return cast(Array, np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows.multiply(rows).sum(axis=1)).ravel()


def _wide(rows: Rows) -> Any:
    return rows.astype(np.float64, copy=False)


def _clean(squared: Array, norms: Array, squares: Array) -> Array:
    """Return squared distances with what is only rounding set to zero."""
    return np.where(squared <= NOISE * (norms + squares), 0.0, squared)
