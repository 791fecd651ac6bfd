"""How well clusters fit known classes, and what can be said of clusters without any.

The numbers of the clusters do not matter. Classes are for judging a clustering, never for finding
one or for choosing among several, and nobody is asked for them: `summary` does without.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fedmf.clustering.columns import orthogonality
from fedmf.errors import InputError

if TYPE_CHECKING:
    from fedmf.run import Run


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


def against(classes: ArrayLike, clusters: ArrayLike) -> dict[str, float]:
    """Return all figures that need classes, by name."""
    figures = {"accuracy": accuracy, "nmi": nmi, "ari": ari, "purity": purity}
    return {name: figure(classes, clusters) for name, figure in figures.items()}


def stability(clusterings: Sequence[ArrayLike]) -> float:
    """Return how alike several clusterings of the same samples are: the mean ARI of two of them.

    They are those of runs that differ in their seed, say. 1: all the same.
    """
    if len(clusterings) < 2:
        raise InputError(f"clusterings must hold at least 2, got {len(clusterings)}")
    return float(np.mean([ari(one, other) for one, other in combinations(clusterings, 2)]))


def cluster_sizes(clusters: ArrayLike, count: int) -> NDArray[np.int64]:
    """Return how many samples each of the K clusters has, (K,)."""
    return np.bincount(np.asarray(clusters), minlength=count)


def summary(
    run: Run,
    sites: Sequence[Any] | None = None,
    classes: Sequence[ArrayLike] | None = None,
    n_min: int = 5,
) -> dict[str, Any]:
    """Return what can be said of a run's clusters.

    Parameters
    ----------
    run : a run; its objective, orthogonality and cluster sizes need nothing else.
    sites : the run's data, for the silhouette across sites.
    classes : for each site its samples' classes, where they are known, for what `against` gives.
    n_min : as in `silhouette`.
    """
    from fedmf.clustering.silhouette import silhouette

    K, labels = run.problem.rank, run.labels
    sizes = cluster_sizes(np.concatenate(labels), K)
    found = {
        "objective": run.position.objective,
        "orthogonality": orthogonality(run.H),
        "sizes": sizes.tolist(),
        "empty": int((sizes == 0).sum()),
    }
    if sites is not None:
        found["silhouette"] = silhouette(sites, labels, n_min, K).mean
    if classes is not None:
        found |= against(np.concatenate(list(map(np.asarray, classes))), np.concatenate(labels))
    return found


def _pair(classes: ArrayLike, clusters: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return both as indices from 0, (n,) each."""
    first, second = np.asarray(classes), np.asarray(clusters)
    if first.ndim != 1 or first.shape != second.shape or first.size == 0:
        raise InputError(
            "classes and clusters must have one value for each sample, got the shapes "
            f"{first.shape} and {second.shape}"
        )
    return np.unique(first, return_inverse=True)[1], np.unique(second, return_inverse=True)[1]
