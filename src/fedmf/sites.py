"""The data of one site, or of a few small sites side by side, and the two products with it.

Everything that happens at a site happens on a `Cohort`: some sites' samples next to each other.
A real site is a cohort of one. In one process many small sites share a cohort, so that the same
few lines of mathematics serve both without a loop over sites.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Annotated, Any, TypeAlias, TypeVar, get_type_hints

import numpy as np

from fedmf.arrays import Array, IntArray, Rows

# How a site's private arrays are laid out, so that a cohort's can be taken apart by site.
Columns: TypeAlias = Annotated[Array, "columns"]  # (..., n): one column a sample
PerSite: TypeAlias = Annotated[Array, "site"]  # (b, ...): one entry a site
Shared: TypeAlias = Annotated[Array, "shared"]  # the same at every site

Private = TypeVar("Private", bound=tuple[Any, ...])
BLOCK_BYTES = 16 * 2**20


@dataclass(frozen=True)
class Cohort:
    """Some sites' samples: `rows` (n, M), the sites' indices (b,), and their borders (b + 1,)."""

    rows: Rows
    sites: IntArray
    edges: IntArray
    features: tuple[str, ...] | None = None  # the columns' names, where there are any

    @classmethod
    def of(cls, rows: Rows, site: int = 0, features: tuple[str, ...] | None = None) -> Cohort:
        """Return the cohort of one site."""
        return cls(rows, np.array([site]), np.array([0, rows.shape[0]]), features)

    @property
    def sizes(self) -> IntArray:
        """The number of samples of each site, (b,)."""
        return np.diff(self.edges)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the data."""
        return self.rows.dtype  # type: ignore[no-any-return]

    @cached_property
    def squared_norm(self) -> float:
        """||X||_F^2 of the cohort, in double precision."""
        return sum(squared_norm(block) for block in blocks(self.rows))

    def cross(self, W: Array) -> Array:
        """Return W'X, (K, n), each sample's column contiguous."""
        return (self.rows @ W).T  # type: ignore[no-any-return]

    def moment(self, H: Array) -> Array:
        """Return X H', (M, K)."""
        return self.rows.T @ H.T  # type: ignore[no-any-return]

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

    def each(self) -> Iterator[Cohort]:
        """Yield every site of the cohort as a cohort of its own."""
        for k in range(len(self.sites)):
            yield self.select(np.array([k]))

    def select(self, places: IntArray) -> Cohort:
        """Return the cohort of the sites at these ascending places; a view where they adjoin."""
        if len(places) == len(self.sites):
            return self
        columns = self.columns(places)
        edges = np.concatenate([[0], np.cumsum(self.sizes[places])])
        return Cohort(self.rows[columns], self.sites[places], edges, self.features)

    def columns(self, places: IntArray) -> slice | IntArray:
        """Return where the samples of these sites are."""
        first, last = self.edges[places], self.edges[places + 1]
        if np.array_equal(first[1:], last[:-1]):
            return slice(int(first[0]), int(last[-1]))
        return np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])


def blocks(rows: Rows) -> Iterator[Rows]:
    """Yield the rows (n, M) in blocks small enough to make temporaries of."""
    step = max(1, BLOCK_BYTES // max(1, 8 * rows.shape[1]))
    for first in range(0, rows.shape[0], step):
        yield rows[first : first + step]


def squared_norm(block: Rows) -> float:
    """Return the sum of squares of a dense or sparse block, in double precision."""
    values = entries(block).astype(np.float64, copy=False).ravel()
    return float(values @ values)


def entries(block: Rows) -> Array:
    """Return the stored entries: all of a dense block, the explicit ones of a sparse one."""
    values: Array = block if isinstance(block, np.ndarray) else block.data
    return values


@cache
def kinds(private: type[tuple[Any, ...]]) -> list[str]:
    """Return how each field of a private state is laid out: columns, site or shared."""
    hints = get_type_hints(private, include_extras=True)
    fields = private._fields  # type: ignore[attr-defined]
    return [hints[name].__metadata__[0] for name in fields]


def take(private: Private, data: Cohort, places: IntArray) -> Private:
    """Return the private state of some of a cohort's sites."""
    if private is None or len(places) == len(data.sites):
        return private
    columns = data.columns(places)
    parts: list[Any] = []
    for kind, value in zip(kinds(type(private)), private, strict=True):
        where = {"columns": (..., columns), "site": places, "shared": slice(None)}[kind]
        parts.append(value[where])
    return type(private)(*parts)


def put(private: Private, data: Cohort, places: IntArray, new: Private) -> Private:
    """Return the cohort's private state with that of some sites replaced."""
    if new is None:
        return new
    if private is None or len(places) == len(data.sites):
        pairs = zip(kinds(type(new)), new, strict=True)
        return type(new)(*(_laid_out(value, kind) for kind, value in pairs))
    columns = data.columns(places)
    parts: list[Any] = []
    for kind, old, part in zip(kinds(type(private)), private, new, strict=True):
        if kind == "shared":
            parts.append(part)
            continue
        merged = np.array(old, order="K")
        merged[(..., columns) if kind == "columns" else places] = part
        parts.append(merged)
    return type(private)(*parts)


def gather(privates: Sequence[Private]) -> Private:
    """Return the private states of consecutive cohorts as one."""
    first = privates[0]
    parts: list[Any] = []
    for place, kind in enumerate(kinds(type(first))):
        values = [private[place] for private in privates]
        axis = {"columns": -1, "site": 0}.get(kind)
        parts.append(values[0] if axis is None else np.concatenate(values, axis=axis))
    return type(first)(*parts)


def split_up(private: Private, cohorts: Sequence[Cohort]) -> list[Private]:
    """Return the private states of consecutive cohorts from one of all of them."""
    first_column, first_site, parts = 0, 0, []
    for data in cohorts:
        columns = slice(first_column, first_column + int(data.edges[-1]))
        sites = slice(first_site, first_site + len(data.sites))
        where = {"columns": (..., columns), "site": sites, "shared": slice(None)}
        pairs = zip(kinds(type(private)), private, strict=True)
        parts.append(type(private)(*(_laid_out(value[where[kind]], kind) for kind, value in pairs)))
        first_column, first_site = columns.stop, sites.stop
    return parts


def _laid_out(value: Array, kind: str) -> Array:
    """Return the array with each sample's column contiguous, as the hosts have it.

    The order of the numbers in memory decides the order of the additions in a product, so that a
    run gone on with gives the same bits only if it is the same.
    """
    return np.asfortranarray(value) if kind == "columns" else value
