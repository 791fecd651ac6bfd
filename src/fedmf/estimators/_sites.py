"""How an estimator's X is shared out to sites.

X is one table with a site id for each row, one table that is a single site, or a list with a table
for each site. Sites are taken in the order in which their ids first appear, so that a list of
tables is the same as the tables below each other with ids.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from fedmf.arrays import IntArray, Rows
from fedmf.errors import DataError, InputTypeError, ParameterError

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
    codes, ids = _numbered(sites, total)
    places = np.argsort(codes, kind="stable")
    borders = np.cumsum(np.bincount(codes))[:-1]
    own = [rows[_without_gaps(part)] for part in np.split(places, borders)]
    return Sites(own, ids, places)


def _numbered(sites: Any, total: int) -> tuple[IntArray, list[Any]]:
    """Return each row's site as a number, and the ids, in the order of first appearance."""
    import pandas as pd

    if isinstance(sites, str | bytes) or not isinstance(sites, Iterable):
        raise InputTypeError(f"sites must hold a site id for each row of X, got {sites!r}")
    ids = sites if isinstance(sites, pd.Series) else pd.Series(list(sites), dtype=object)
    if len(ids) != total:
        raise DataError(
            f"sites must hold a site id for each row of X, {total} in all; got {len(ids)}"
        )
    try:
        codes, found = pd.factorize(ids)
    except TypeError:
        raise InputTypeError("sites: an id must be hashable, like a number or a text") from None
    if (codes < 0).any():
        raise DataError(f"sites: row {int(np.argmin(codes))} has no site id")
    return np.asarray(codes, dtype=np.int64), list(found)


def _without_gaps(places: IntArray) -> slice | IntArray:
    """Return ascending places as a slice where they adjoin, so that nothing is copied."""
    first, last = int(places[0]), int(places[-1])
    return slice(first, last + 1) if last - first + 1 == len(places) else places


def no_ids(sites: Any) -> None:
    """Refuse ids next to a list, which says itself which rows are whose."""
    if sites is not None:
        raise ParameterError("sites must be None where X is a list with a table for each site")
