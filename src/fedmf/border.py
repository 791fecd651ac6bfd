"""What a user passes as data, turned into what the inside trusts.

Inside, every site is a (n_p, M) array or CSR matrix with samples in rows, of one floating type for
all sites, at least one sample each. Whether the numbers are finite is seen in the set-up exchange,
in the same pass that collects the figures.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fedmf.arrays import Array, IntArray, Rows
from fedmf.errors import DataError, InputTypeError, ParameterError


class Sites(NamedTuple):
    """The sites' data, and their features' names where there are any."""

    rows: list[Rows]
    features: list[tuple[str, ...] | None]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The one floating type of all sites."""
        dtype: np.dtype[Any] = self.rows[0].dtype
        return dtype


def as_sites(sites: Any) -> Sites:
    """Check a user's sequence of sites and convert what needs converting."""
    if (isinstance(sites, np.ndarray) and sites.ndim == 2) or sparse.issparse(sites):
        raise InputTypeError("sites must be a list with an array for each site; for one, pass [X]")
    if isinstance(sites, str | bytes) or not isinstance(sites, Sequence | np.ndarray):
        raise InputTypeError(
            f"sites must be a list with an array for each site, got {type(sites).__name__}"
        )
    if len(sites) == 0:
        raise DataError("there is no site: sites must hold at least one array")
    rows = [as_rows(own, f"site {place}") for place, own in enumerate(sites)]
    dtype = np.result_type(*{own.dtype for own in rows})
    return Sites([own.astype(dtype, copy=False) for own in rows], [_names(own) for own in sites])


def as_rows(data: Any, what: str) -> Rows:
    """Return data of one site as a floating (n, M) array or CSR matrix; `what` names it."""
    if sparse.issparse(data):
        check_indices(data, what)
        rows = sparse.csr_array(data)
        if not rows.has_canonical_format:
            rows = rows.copy()  # summing works in place, and the user's arrays are the user's
            rows.sum_duplicates()
    elif isinstance(data, np.ma.MaskedArray):
        raise InputTypeError(f"{what}: a masked array has missing entries; pass one without")
    else:
        try:
            rows = np.asanyarray(data)
        except ValueError:
            raise DataError(f"{what}: the rows differ in length") from None
        rows = rows if type(rows) in (np.ndarray, np.memmap) else np.asarray(rows)
    kind = _floating(rows.dtype, what)
    if rows.ndim != 2:
        raise DataError(f"{what}: expected a 2-D array (samples, features), got {rows.ndim}-D")
    if rows.shape[0] == 0:
        raise DataError(f"{what} is empty: it has no sample; leave it out")
    if rows.shape[1] == 0:
        raise DataError(f"{what} has no feature")
    return rows.astype(kind, copy=False)


def check_indices(data: Any, what: str) -> None:
    """Refuse sparse data whose indices point out of them; inside, kernels follow them anywhere."""
    if data.format not in ("csr", "csc"):
        return  # others are checked when they become CSR
    own = sparse.csr_array(data) if data.format == "csr" else sparse.csc_array(data)
    try:
        own.check_format(full_check=True)
    except ValueError as error:
        raise DataError(f"{what} is a damaged sparse matrix: {error}") from None


def _floating(dtype: np.dtype[Any], what: str) -> np.dtype[Any]:
    """Return the floating type for data of this type: float32 and float64 are kept."""
    if dtype.kind in "iub":
        return np.dtype(np.float64)
    if dtype.kind == "f":
        return np.dtype(np.float32 if dtype.itemsize <= 4 else np.float64)
    hint = "; where they are numbers, convert them: X.astype(float)" if dtype.kind == "O" else ""
    raise InputTypeError(f"{what}: expected numbers, got an array of type {dtype}{hint}")


def _names(data: Any) -> tuple[str, ...] | None:
    """Return the column names of a data frame, where they are names."""
    columns = list(getattr(data, "columns", ()))
    return tuple(columns) if columns and all(isinstance(c, str) for c in columns) else None


def by_site(sites: Any, total: int) -> tuple[list[Any], list[IntArray]]:
    """Return the ids in the order of first appearance, and which rows are each one's.

    `sites` holds the site's id of every one of `total` rows.
    """
    import pandas as pd

    if isinstance(sites, str | bytes) or not isinstance(sites, Iterable):
        raise InputTypeError(f"sites must hold a site id for each row of X, got {sites!r}")
    shape = getattr(sites, "shape", (total,))
    if len(shape) != 1:
        raise DataError(f"sites must have one dimension, an id for each row; got shape {shape}")
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
    order = np.argsort(codes, kind="stable")
    return list(found), np.split(order, np.cumsum(np.bincount(codes))[:-1])


def as_start(init: Any, sites: Sites, rank: int) -> tuple[Array, list[Array]]:
    """Check a user's start (W0, [H0 of each site]); W0 is (M, K), each H0 (K, n_p)."""
    if not isinstance(init, tuple | list) or len(init) != 2:
        raise InputTypeError("init must be None, a name, a Run, or a pair (W0, [H0 of each site])")
    W0, H0 = init
    if not isinstance(H0, Sequence | np.ndarray):
        raise InputTypeError(
            f"init: H0 must be a list with one of each site, got {type(H0).__name__}"
        )
    if len(H0) != len(sites.rows):
        raise ParameterError(f"init has H0 for {len(H0)} sites, there are {len(sites.rows)}")
    W = _matrix(W0, "init: W0", (sites.rows[0].shape[1], rank), sites.dtype)
    pairs = enumerate(zip(H0, sites.rows, strict=True))
    H = [
        _matrix(own, f"init: H0 of site {place}", (rank, rows.shape[0]), sites.dtype)
        for place, (own, rows) in pairs
    ]
    return np.ascontiguousarray(W), [np.asfortranarray(own) for own in H]


def _matrix(value: Any, what: str, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    try:
        matrix = np.asarray(value)
    except ValueError:
        raise DataError(f"{what}: the rows differ in length") from None
    if matrix.dtype.kind not in "fiub":
        raise InputTypeError(f"{what}: expected numbers, got an array of type {matrix.dtype}")
    if matrix.shape != shape:
        raise ParameterError(f"{what} must have the shape {shape}, got {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise DataError(f"{what} holds a number that is not finite")
    return matrix.astype(dtype)
