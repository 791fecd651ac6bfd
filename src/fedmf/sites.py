"""The data of one site, or of a few small sites side by side, and the two products with it.

Everything that happens at a site happens on a `Cohort`: some sites' samples next to each other.
A real site is a cohort of one. In one process many small sites share a cohort, so that the same
few lines of mathematics serve both without a loop over sites.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import Any

import numpy as np

from fedmf import native
from fedmf.arrays import Array, IntArray, Rows
from fedmf.blocks import cut, nbytes, pack, squared_norm, stack
from fedmf.parallel import each

GROUP_BYTES, GROUP_ROWS = 64 * 2**20, 512  # whose terms of X H' are added by one thread


@dataclass(frozen=True)
class Cohort:
    """Some sites' samples, (n, M) in all: blocks of rows below each other, and the sites' borders.

    A block holds some of a site's samples, or all of a few sites'; what matters is that it is
    neither so small that a product with it costs more in calls than in numbers, nor so large that
    it does not stay in the cache between two products.
    """

    blocks: tuple[Rows, ...]
    sites: IntArray  # (b,), the sites' indices
    edges: IntArray  # (b + 1,), the borders between the sites
    features: tuple[str, ...] | None = None  # the columns' names, where there are any

    @classmethod
    def of(cls, rows: Rows, site: int = 0, features: tuple[str, ...] | None = None) -> Cohort:
        """Return the cohort of one site."""
        return cls(tuple(cut(rows)), np.array([site]), np.array([0, rows.shape[0]]), features)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of samples and of features, (n, M)."""
        return int(self.edges[-1]), int(self.blocks[0].shape[1])

    @property
    def sizes(self) -> IntArray:
        """The number of samples of each site, (b,)."""
        return np.diff(self.edges)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the data."""
        dtype: np.dtype[Any] = self.blocks[0].dtype
        return dtype

    @cached_property
    def borders(self) -> IntArray:
        """Where each block begins, and where the last one ends."""
        return np.cumsum([0, *(block.shape[0] for block in self.blocks)])

    @cached_property
    def rows(self) -> Rows:
        """All samples as one matrix; a copy where there are several blocks."""
        if len(self.blocks) == 1:
            return self.blocks[0]
        return stack(self.blocks)

    @cached_property
    def squared_norm(self) -> float:
        """||X||_F^2 of the cohort, in double precision."""
        return sum(each(squared_norm, self.blocks))

    def cross(self, W: Array) -> Array:
        """Return W'X, (K, n), each sample's column contiguous."""
        out = np.empty((self.shape[0], W.shape[1]), dtype=np.result_type(self.dtype, W))

        def fill(place: int) -> None:
            part = out[self.borders[place] : self.borders[place + 1]]
            if not native.cross(self.blocks[place], W, part):
                part[:] = self.blocks[place] @ W

        each(fill, range(len(self.blocks)))
        return out.T

    def moment(self, H: Array, before: Array | None = None) -> Array:
        """Return X (H - before)', (M, K); the blocks' terms are added in groups of a fixed size."""

        def rows(place: int) -> Array:
            part = slice(self.borders[place], self.borders[place + 1])
            return H[:, part].T if before is None else (H[:, part] - before[:, part]).T

        dtype = np.result_type(self.dtype, H)

        def group(first: int) -> Array:
            total = native.sums(self.shape[1], H.shape[0], dtype)
            for place in range(first, min(first + count, len(self.blocks))):
                part = rows(place)
                if not native.moment(self.blocks[place], part, total):
                    np.add(total, self.blocks[place].T @ part, out=total)
            return total

        block = self.blocks[0]
        count = max(1, GROUP_BYTES // (nbytes(block) + 1), GROUP_ROWS // block.shape[0])
        groups = each(group, range(0, len(self.blocks), count))
        return reduce(np.add, groups)

    def grams(self, H: Array) -> Array:
        """Return H_p H_p' of every site, (b, K, K), in double precision."""
        parts = [part @ part.T for part in self.split(H)]
        return np.stack(parts).astype(np.float64, copy=False)

    def split(self, A: Array) -> Iterator[Array]:
        """Yield each site's columns of A (..., n)."""
        for first, last in zip(self.edges[:-1], self.edges[1:], strict=True):
            yield A[..., first:last]

    def spread(self, per_site: Array) -> Array:
        """Repeat one value a site for each of its samples: (b,) to (n,)."""
        return np.repeat(per_site, self.sizes)

    def apart(self) -> Iterator[Cohort]:
        """Yield every site of the cohort as a cohort of its own."""
        for k in range(len(self.sites)):
            yield self.select(np.array([k]))

    def select(self, places: IntArray) -> Cohort:
        """Return the cohort of the sites at these ascending places; large blocks are not copied."""
        if len(places) == len(self.sites):
            return self
        parts = [part for run in self._runs(places) for part in self._between(*run)]
        edges = np.concatenate([[0], np.cumsum(self.sizes[places])])
        return Cohort(tuple(pack(parts)), self.sites[places], edges, self.features)

    def columns(self, places: IntArray) -> slice | IntArray:
        """Return where the samples of these sites are."""
        runs = self._runs(places)
        if len(runs) == 1:
            return slice(*runs[0])
        return np.concatenate([np.arange(first, last) for first, last in runs])

    def _runs(self, places: IntArray) -> list[tuple[int, int]]:
        """Return where the samples of these sites are, neighbouring sites in one stretch."""
        first, last = int(places[0]), int(places[-1])
        if last - first + 1 == len(places):
            return [(int(self.edges[first]), int(self.edges[last + 1]))]
        breaks = np.flatnonzero(np.diff(places) > 1) + 1
        runs = np.split(places, breaks)
        return [(int(self.edges[run[0]]), int(self.edges[run[-1] + 1])) for run in runs]

    def _between(self, first: int, last: int) -> Iterator[Rows]:
        """Yield the blocks, or the parts of them, that hold these samples."""
        place = int(np.searchsorted(self.borders, first, side="right")) - 1
        while place < len(self.blocks) and self.borders[place] < last:
            start, stop = int(self.borders[place]), int(self.borders[place + 1])
            block = self.blocks[place]
            whole = first <= start and stop <= last
            yield block if whole else block[max(first - start, 0) : last - start]
            place += 1
