"""How well clusters fit known classes; the numbers of the clusters do not matter.

Classes are for judging a clustering, never for finding one or for choosing among several.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedmf.errors import InputError


def accuracy(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Return the share of samples on the best one-to-one match of clusters to classes."""
    from scipy.optimize import linear_sum_assignment

    counts = contingency(classes, clusters)
    return float(counts[linear_sum_assignment(-counts)].sum() / counts.sum())


def purity(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Return the share of samples that belong to the largest class of their cluster."""
    counts = contingency(classes, clusters)
    return float(counts.max(axis=0).sum() / counts.sum())


def nmi(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Return the normalised mutual information, divided by the mean of both entropies."""
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(*_pair(classes, clusters)))


def ari(classes: ArrayLike, clusters: ArrayLike) -> float:
    """Return the adjusted Rand index: 1 for the same partition, 0 on average by chance."""
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(*_pair(classes, clusters)))


def contingency(classes: ArrayLike, clusters: ArrayLike) -> NDArray[np.int64]:
    """Return how many samples of each class are in each cluster, (classes, clusters)."""
    first, second = _pair(classes, clusters)
    counts = np.zeros((first.max() + 1, second.max() + 1), dtype=np.int64)
    np.add.at(counts, (first, second), 1)
    return counts


def _pair(classes: ArrayLike, clusters: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both as indices from 0, (n,) each."""
    first, second = np.asarray(classes), np.asarray(clusters)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise InputError(
            "classes and clusters must have one value for each sample, got the shapes "
            f"{first.shape} and {second.shape}"
        )
    return np.unique(first, return_inverse=True)[1], np.unique(second, return_inverse=True)[1]
