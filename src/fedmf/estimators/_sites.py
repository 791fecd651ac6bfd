"""How an estimator's X is shared out to sites.

X is one table with a site id for each row, one table that is a single site, or a list with a table
for each site. Sites are taken in the order in which their ids first appear, so that a list of
tables is the same as the tables below each other with ids.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fedmf.arrays import IntArray, Rows
from fedmf.border import by_site
from fedmf.errors import ParameterError

T = TypeVar("T", bound=np.generic)


class Sites(NamedTuple):
    """The sites' rows, their ids, and where in X their samples were, side by side."""

    rows: list[Rows]
    ids: list[Any]
    places: IntArray  # (N,): sample j of all sites side by side is row places[j] of X

    def in_order_of_X(self, values: NDArray[T]) -> NDArray[T]:
        """Return values (N, ...) of all sites side by side in the order of X's rows."""
        ordered = np.empty_like(values)
        ordered[self.places] = values
        return ordered


def is_list_of_tables(X: Any) -> bool:
    """Return whether X holds a table for each site, rather than being one itself."""
    return isinstance(X, list | tuple) and len(X) > 0 and all(_dimensions(own) == 2 for own in X)


def _dimensions(value: Any) -> int:
    """Return how many dimensions an array or a nested list has, as far as two."""
    if hasattr(value, "shape"):
        return len(value.shape)
    if not isinstance(value, list | tuple):
        return 0
    return 1 + (len(value) > 0 and _dimensions(value[0]) > 0)


def from_list(tables: list[Rows]) -> Sites:
    """Return the sites of a list: their ids are their places in it."""
    total = sum(own.shape[0] for own in tables)
    return Sites(tables, list(range(len(tables))), np.arange(total))


def from_table(rows: Rows, sites: Any) -> Sites:
    """Return the sites of one table (N, M), whose rows belong to these ids."""
    total = rows.shape[0]
    if sites is None:
        return Sites([rows], [0], np.arange(total))
    ids, places = by_site(sites, total)
    own = [rows[_without_gaps(part)] for part in places]
    return Sites(own, ids, np.concatenate(places))


def _without_gaps(places: IntArray) -> slice | IntArray:
    """Return ascending places as a slice where they adjoin, so that nothing is copied."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first + 1 == len(places) else places


def no_ids(sites: Any) -> None:
    """Refuse ids next to a list, which says itself which rows are whose."""
    if sites is not None:
        raise ParameterError("sites must be None where X is a list with a table for each site")
