"""What a user passes to a preparation, turned into sites.

Data come in one of two forms: a list with an array for each site, or one array with the site's id
of every row. Names of features and labels come in the same form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse

from fedmf.arrays import Rows
from fedmf.border import as_sites, by_site
from fedmf.errors import DataError, InputTypeError, ParameterError, SiteMismatchError
from fedmf.private import Columns
from fedmf.sites import Cohort

Names = tuple[str, ...] | None


class Labels(NamedTuple):
    """A site's private state while labels are needed: they stay there."""

    labels: Columns  # (n,), of objects


class Given(NamedTuple):
    """The sites of a user's data."""

    rows: list[Rows]
    features: list[Names]
    labels: list[Labels] | None
    ids: list[Any]  # the sites' ids: their numbers, unless the user has others


def many(X: Any) -> bool:
    """Whether X is a list with an array for each site, rather than one array."""
    if isinstance(X, str | bytes | np.ndarray) or not isinstance(X, Sequence) or len(X) == 0:
        return False
    first = X[0]
    shape = getattr(first, "shape", None)
    return len(np.shape(first) if shape is None else shape) == 2


def as_given(X: Any, y: Any, sites: Any, features: Any) -> Given:
    """Check a user's data and take them apart by site; y None: labels are not needed."""
    if many(X):
        return _from_list(X, y, sites, features)
    return _from_rows(X, y, sites, features)


def as_site(X: Any, features: Any, site: int) -> Cohort:
    """Check one site's data."""
    data = as_sites([X])
    names = _names(features, data.rows[0], site, data.features[0])
    return Cohort.of(data.rows[0], site, names)


def names_of_each(features: Any, sites: int) -> list[Any]:
    """Return the names given for each of a list of sites; one list of names serves all of them."""
    if features is None:
        return [None] * sites
    if not isinstance(features, str | bytes) and len(features) and isinstance(features[0], str):
        return [features] * sites
    if isinstance(features, str | bytes) or len(features) != sites:
        raise ParameterError(
            f"features must be a list of names for each of the {sites} sites, got {len(features)}"
        )
    return list(features)


def _from_list(X: Any, y: Any, sites: Any, features: Any) -> Given:
    if sites is not None:
        raise ParameterError("sites must be None where X is a list with an array for each site")
    data = as_sites(X)
    _same_storage(data.rows)
    each = zip(names_of_each(features, len(X)), data.rows, data.features, strict=True)
    names = [_names(own, rows, site, had) for site, (own, rows, had) in enumerate(each)]
    if y is None:
        return Given(data.rows, names, None, list(range(len(X))))
    if isinstance(y, str | bytes) or len(y) != len(X):
        raise ParameterError(f"y must be a list with the labels of each of the {len(X)} sites")
    pairs = enumerate(zip(y, data.rows, strict=True))
    labels = [_labels(own, rows.shape[0], f"site {site}: y") for site, (own, rows) in pairs]
    return Given(data.rows, names, labels, list(range(len(X))))


def _from_rows(X: Any, y: Any, sites: Any, features: Any) -> Given:
    data = as_site(X, features, 0)
    labels = None if y is None else _labels(y, data.rows.shape[0], "y")
    if sites is None:
        return Given([data.rows], [data.features], labels and [labels], [0])
    ids, places = by_site(sites, data.rows.shape[0])
    parts = [data.rows[own] for own in places]
    split = None if labels is None else [Labels(labels.labels[own]) for own in places]
    return Given(parts, [data.features] * len(ids), split, ids)


def _labels(y: Any, rows: int, what: str) -> Labels:
    """Return labels as plain Python values, which stay what they are next to another site's."""
    column = np.asarray(y)
    if column.shape != (rows,):
        raise ParameterError(
            f"{what} must hold a label for each of the {rows} rows, got the shape {column.shape}"
        )
    missing = np.flatnonzero(pd.isna(column))
    if len(missing):
        raise DataError(f"{what}: row {missing[0]} has no label")
    labels = np.empty(rows, dtype=object)
    labels[:] = column.tolist()
    if not all(isinstance(label, str | int | float) for label in set(labels.tolist())):
        raise InputTypeError(f"{what}: a label must be a number or text")
    return Labels(labels)


def _names(given: Any, rows: Rows, site: int, had: Names) -> Names:
    """Return the names of a site's columns: those given, or else those of its data frame."""
    if given is None:
        return had
    if isinstance(given, str | bytes) or not all(isinstance(name, str) for name in given):
        raise InputTypeError(f"site {site}: features must be a list of names")
    if len(given) != rows.shape[1]:
        raise ParameterError(
            f"site {site}: features must hold {rows.shape[1]} names, one for each column; "
            f"got {len(given)}"
        )
    return tuple(str(name) for name in given)


def _same_storage(rows: list[Rows]) -> None:
    """Refuse sparse and dense sites side by side: sites in one process share arrays."""
    kinds = [sparse.issparse(own) for own in rows]
    if len(set(kinds)) > 1:
        other = kinds.index(not kinds[0])
        words = {True: "sparse", False: "dense"}
        raise SiteMismatchError(
            f"site {other} is {words[kinds[other]]}, site 0 is {words[kinds[0]]}: "
            "pass all sites sparse or all dense"
        )
