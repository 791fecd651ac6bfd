"""AnnData's .h5ad: X, with labels and sites from `obs`; needs `pip install "fedmf[h5ad]"`.

The names of the observations become the sample ids, those of the variables the features. The
matrix is read into memory.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from fedmf.errors import DataError, FileFormatError
from fedmf.readers._content import (
    Content,
    Wanted,
    check_known,
    one_line,
    real,
    two_dimensional,
)

ENDINGS = (".h5ad",)


def read(path: Path, wanted: Wanted) -> Content:
    """Return X with the columns of `obs` that were asked for."""
    try:
        import anndata
    except ImportError:
        raise FileFormatError(
            f'{path}: reading .h5ad needs anndata: pip install "fedmf[h5ad]"'
        ) from None
    try:
        data = anndata.read_h5ad(path)
    except Exception as problem:  # noqa: BLE001 - h5py and anndata raise many kinds of their own
        raise FileFormatError(f"{path}: no whole .h5ad file ({one_line(problem)})") from None
    if data.X is None:
        raise DataError(f"{path}: it holds no X")
    check_known(path, wanted, list(data.obs.columns))
    columns = {name: data.obs[name].to_numpy(dtype=object) for name in wanted.names()}
    X = data.X.tocsr() if sparse.issparse(data.X) else np.asarray(data.X)
    if sparse.issparse(X):
        X = sparse.csr_matrix(X)
    two_dimensional(X, path, "X")
    features, samples = tuple(map(str, data.var_names)), tuple(map(str, data.obs_names))
    return Content(real(X, path, "X"), features, samples, columns)
