"""The pooled references: what clustering gives where all samples lie in one place.

They are no federated methods: every sample has left its site before they begin.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from fedmf.algorithms import FedMGS
from fedmf.arrays import Array, IntArray
from fedmf.baselines.base import Clustering
from fedmf.border import as_rows
from fedmf.checks import check_integer
from fedmf.ledger import Ledger
from fedmf.lloyd import means
from fedmf.points import Points
from fedmf.rng import resolve_seed, stream

SENDS = "every sample: a pooled reference, not a federated method"


def kmeans_plusplus(X: Any, n_clusters: int, seed: int | None = 0, n_init: int = 10) -> Clustering:
    """Cluster pooled samples with scikit-learn's k-means: k-means++ seeds, Lloyd's algorithm."""
    from sklearn.cluster import KMeans

    check_integer("n_clusters", n_clusters, minimum=1)
    check_integer("n_init", n_init, minimum=1)
    rows, seed = as_rows(X, "X"), resolve_seed(seed)
    start = perf_counter()
    state = int(stream(seed, "pooled k-means++").integers(2**31))
    model = KMeans(
        n_clusters, init="k-means++", n_init=n_init, algorithm="lloyd", random_state=state
    )
    labels = model.fit(rows).labels_.astype(np.int64)
    centres = np.asarray(model.cluster_centers_, dtype=np.float64)
    cost = float(Points.of(rows).squared_to(centres, labels).sum())
    return _pooled("k-means++", labels, centres, cost, Ledger(), 0, seed, start)


def central_sncp(
    X: Any,
    n_clusters: int,
    seed: int | None = 0,
    *,
    q1: int = 10,
    q2: int = 100,
    rounds: int = 500,
    tol: float = 1e-8,
    threads: int | None = None,
    **settings: Any,
) -> Clustering:
    """Cluster pooled samples by SNCP: alternating projected gradients, one site with all data.

    settings : those of `fedmf.clustering.SNCP`. The centres are the means of the clusters.
    """
    import fedmf
    from fedmf.clustering import SNCP

    rows, seed = as_rows(X, "X"), resolve_seed(seed)
    start = perf_counter()
    algorithm = FedMGS(q1=q1, q2=q2)
    run = fedmf.fit(
        [rows],
        fedmf.Problem(rank=n_clusters),
        algorithm,
        rounds=rounds,
        tol=tol,
        seed=seed,
        penalty=SNCP(**settings).for_algorithm(algorithm),
        threads=threads,
    )
    labels = run.labels[0].astype(np.int64)
    points = Points.of(rows)
    counts = np.bincount(labels, minlength=n_clusters)
    sums = points.sums(labels, np.ones(len(labels)), n_clusters)
    centres = means(sums, counts, np.asarray(run.W.T, dtype=np.float64))
    cost = float(points.squared_to(centres, labels).sum())
    number = run.position.round
    return _pooled("central SNCP", labels, centres, cost, run.ledger, number, seed, start)


def _pooled(
    name: str,
    labels: IntArray,
    centres: Array,
    cost: float,
    ledger: Ledger,
    rounds: int,
    seed: int,
    start: float,
) -> Clustering:
    return Clustering(
        name=name,
        sends=SENDS,
        labels=[labels],
        centres=centres,
        cost=cost,
        rounds=rounds,
        ledger=ledger,
        raw_samples=len(labels),
        outliers=None,
        seed=seed,
        seconds=perf_counter() - start,
    )
