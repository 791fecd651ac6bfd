"""What the columns of H say about clusters: labels, memberships, and how orthogonal they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from fedmf.arrays import Array, IntArray


def labels(H: Array | Sequence[Array]) -> IntArray:
    """Return each sample's cluster, (n,): the largest entry of its column of H."""
    return np.asarray(_beside(H).argmax(axis=0), dtype=np.int64)


def memberships(H: Array | Sequence[Array]) -> Array:
    """Return the columns of a nonnegative H divided by their sums, (K, n), in H's dtype.

    A column of zeros says nothing about its sample, which belongs to all K clusters alike: 1/K.
    """
    scaled, told = _scaled(_beside(H))
    shares = scaled / np.where(told, scaled.sum(axis=0), 1)
    return np.where(told, shares, scaled.dtype.type(1 / len(scaled)))


def orthogonality(H: Array | Sequence[Array]) -> float:
    """Return how far H is from one nonzero entry a column: 0 where it is there, 1 at most.

    For a nonnegative column h other than zero, (1'h)^2 / ||h||^2 lies between 1, where it has a
    single entry, and K, where all are equal. The figure is the mean over the columns that are not
    zero of ((1'h)^2 / ||h||^2 - 1) / (K - 1): zero exactly where the rows of H are orthogonal.
    """
    scaled, told = _scaled(_beside(H).astype(np.float64, copy=False))
    K, h = len(scaled), scaled[:, told]
    if K == 1 or h.size == 0:
        return 0.0
    ratio = h.sum(axis=0) ** 2 / (h**2).sum(axis=0)
    return float(np.mean(np.maximum(ratio - 1, 0)) / (K - 1))


def _beside(H: Any) -> Any:
    """Return H, or the sites' H next to each other."""
    return H if isinstance(H, np.ndarray) else np.concatenate(H, axis=1)


def _scaled(H: Array) -> tuple[Array, Array]:
    """Return H with columns of largest entry 1, and which columns are not zero."""
    largest = H.max(axis=0)
    told = largest > 0
    return H / np.where(told, largest, 1), told
