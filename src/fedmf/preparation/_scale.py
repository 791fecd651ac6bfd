"""What the scalers share."""

from __future__ import annotations

from typing import NoReturn

import numpy as np
from scipy import sparse

from fedmf.arrays import Array, Rows
from fedmf.errors import FedMFError


def nonzero(scale: Array) -> Array:
    """Return 1 for what is zero or within rounding of it, as scikit-learn divides by then."""
    tiny = 10 * np.finfo(scale.dtype).eps
    return np.where(scale < tiny, np.ones_like(scale), scale)


def times(rows: Rows, factor: Array) -> Rows:
    """Return a CSR matrix with column m multiplied by factor[m]; it shares nothing with `rows`."""
    values = (rows.data * factor[rows.indices]).astype(rows.dtype, copy=False)
    parts = (values, rows.indices.copy(), rows.indptr.copy())
    return sparse.csr_array(parts, shape=rows.shape)


def refuse_sparse(site: int, kind: type[FedMFError], what: str, instead: str) -> NoReturn:
    """Say that sparse data would not stay sparse."""
    raise kind(f"site {site}: {what} sparse data would fill them up; {instead}")
