"""A map of samples: rows of numbers in the plane, neighbours near each other.

"pca" is a projection onto the two directions in which the columns differ most, and takes no time;
"tsne" (t-SNE) keeps neighbours together, takes a second, and its distances mean little.
"""

from __future__ import annotations

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.errors import ParameterError
from fedmf.rng import stream

KINDS = {"pca": "PCA", "tsne": "t-SNE"}
LEAST = 8  # samples for t-SNE to say something


def sampled(count: int, wanted: int) -> IntArray:
    """Return which samples are shown: all, or so many drawn, the same ones every time."""
    if count <= wanted:
        return np.arange(count)
    return np.sort(stream(0, "map").choice(count, wanted, replace=False))


def placed(columns: Array, kind: str) -> tuple[Array, str]:
    """Return places (n, 2) of samples (n, K), and what they were found by."""
    if kind not in KINDS:
        raise ParameterError(f"map must be one of {', '.join(KINDS)}; got {kind!r}")
    if kind == "pca" or len(columns) < LEAST:
        return _pca(columns), KINDS["pca"]
    return tsne(columns), KINDS["tsne"]


def _pca(columns: Array) -> Array:
    centred = columns - columns.mean(axis=0)
    _, _, directions = np.linalg.svd(centred, full_matrices=False)
    places = centred @ directions[:2].T
    return np.pad(places, ((0, 0), (0, 2 - places.shape[1])))


def tsne(columns: Array, perplexity: float = 30.0, seed: int = 0) -> Array:
    """Return places (n, 2) of samples (n, K) by t-SNE."""
    from sklearn.manifold import TSNE
    from threadpoolctl import threadpool_limits

    perplexity = min(perplexity, (len(columns) - 1) / 3)
    found = TSNE(2, perplexity=perplexity, init="pca", random_state=seed, max_iter=500)
    with threadpool_limits(1):  # steps this short would wait for each other more than they work
        places: Array = found.fit_transform(np.ascontiguousarray(columns, dtype=np.float64))
    return places
