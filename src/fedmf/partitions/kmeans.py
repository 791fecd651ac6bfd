"""K-means similarity (the paper's Case 2): one cluster, one site.

Lloyd's algorithm from a k-means++ start, written over blocks of rows rather than taken from
scikit-learn: the same seed has to give the same sites whatever the number of threads, P may be
10,000, no cluster may be empty, and the data may be a memory map larger than memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import csr_array

from fedmf.partitions._distances import nearest_point, refuse_rows
from fedmf.partitions._request import check_count
from fedmf.partitions._rows import (
    blocks,
    is_sparse,
    row_bytes,
    row_squares,
    take,
    work_dtype,
)
from fedmf.partitions._sizes import fill_empty

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fedmf.partitions._request import Request
    from fedmf.partitions._rows import Indices, Matrix

START_DRAWS = 100
TOLERANCE = 1e-4
ALL_BYTES = 512 * 2**20
FIT_BYTES = 192 * 2**20


def deal(request: Request, *, iterations: int = 100, fit_rows: int | None = None) -> Indices:
    """Cluster the samples into P clusters, none of them empty.

    The centres are found on `fit_rows` rows drawn at random, then every row goes to the nearest.
    By default these are all rows of up to 512 MiB of data (more than the paper ever used), else as
    many as take 192 MiB, and at least 3 P. A cluster without samples takes the one that is farthest
    from its own centre.
    """
    iterations = check_count("iterations", iterations)
    if request.n_sites == request.n_samples:
        return np.arange(request.n_samples)
    random = request.random("kmeans")
    rows = _rows_to_fit(request, fit_rows, random)
    part = request.X if rows is None else _gather(request.X, rows)
    centres = _lloyd(part, _start(part, request.n_sites, random), iterations)
    return _assign(request.X, centres)[0]


def _rows_to_fit(
    request: Request, fit_rows: int | None, random: np.random.Generator
) -> Indices | None:
    """Return the rows that the centres are found on, None for all."""
    if fit_rows is None:
        row = max(1, row_bytes(request.X) * work_dtype(request.X).itemsize // 8)
        if row * request.n_samples <= ALL_BYTES:
            return None
        fit_rows = max(FIT_BYTES // row, 3 * request.n_sites)
    else:
        fit_rows = max(check_count("fit_rows", fit_rows), request.n_sites)
    if fit_rows >= request.n_samples:
        return None
    return np.sort(random.choice(request.n_samples, fit_rows, replace=False))


def _gather(X: Matrix, rows: Indices) -> Matrix:
    """Return some rows of X, all finite."""
    part = take(X, rows)
    with np.errstate(over="ignore", invalid="ignore"):
        refuse_rows(rows[~np.isfinite(row_squares(part))])
    return part


def _start(X: Matrix, n_sites: int, random: np.random.Generator) -> NDArray[Any]:
    """Return P different rows of X, drawn with probabilities by squared distance (k-means++).

    Up to 100 points are drawn one by one; more of them in 100 equal draws.
    """
    a_draw = -(-n_sites // START_DRAWS)
    chosen = [int(random.integers(X.shape[0]))]
    distance = np.full(X.shape[0], np.inf)
    new = chosen
    while len(chosen) < n_sites:
        distance = np.minimum(distance, nearest_point(X, take(X, np.array(new)))[1])
        # Waiting times with rates `distance`: the first to come are a weighted draw of rows.
        waiting = random.exponential(size=X.shape[0]) / np.maximum(distance, 1e-300)
        waiting[chosen] = np.inf
        count = min(a_draw, n_sites - len(chosen))
        new = np.argsort(waiting, kind="stable")[:count].tolist()
        chosen += new
    points = take(X, np.array(chosen))
    return np.asarray(points.toarray() if is_sparse(points) else points)


def _lloyd(X: Matrix, centres: NDArray[Any], iterations: int) -> NDArray[Any]:
    """Return the centres after Lloyd's iterations, ended when the sum of squares stands still."""
    previous = np.inf
    for _ in range(iterations):
        site, total = _assign(X, centres)
        if previous - total <= TOLERANCE * total:
            break
        previous = total
        centres = _means(X, site, len(centres))
    return centres


def _assign(X: Matrix, centres: NDArray[Any]) -> tuple[Indices, float]:
    """Return the cluster of each row, none empty, and the sum of the squared distances."""
    site, distance = nearest_point(X, centres)
    fill_empty(site, len(centres), np.argsort(-distance, kind="stable"))
    return site, float(distance.sum(dtype=np.float64))


def _means(X: Matrix, site: Indices, n_sites: int) -> NDArray[Any]:
    """Return the mean of each cluster (P, M)."""
    total = np.zeros((n_sites, X.shape[1]))
    for rows in blocks(X.shape[0], row_bytes(X)):
        block = take(X, rows)
        at = site[rows]
        member = csr_array(
            (np.ones(at.size, block.dtype), (at, np.arange(at.size))), (n_sites, at.size)
        )
        part = member @ block
        total += part.toarray() if is_sparse(part) else part
    total /= np.bincount(site, minlength=n_sites)[:, None]
    return total.astype(work_dtype(X), copy=False)
