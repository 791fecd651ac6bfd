"""The rivals: other ways to cluster what is spread over sites, over the same runtime and ledger.

    clustering = run(sites, KMeansParallel(n_clusters=20), seed=0)

A rival is a file here with a class derived from `Rival`; nothing else lists it. The pooled
references, for which all data lie in one place, are in `pooled`.
"""

from __future__ import annotations

from fedmf.baselines.base import Clustering, Result, Rival, Scene, cluster, conduct, run
from fedmf.baselines.bel import BEL
from fedmf.baselines.cal import CAL
from fedmf.baselines.kfed import KFED
from fedmf.baselines.kmeans_parallel import KMeansParallel
from fedmf.baselines.pooled import central_sncp, kmeans_plusplus
from fedmf.plugins import Named, classes_in

__all__ = [
    "BEL",
    "CAL",
    "KFED",
    "Clustering",
    "KMeansParallel",
    "Result",
    "Rival",
    "Scene",
    "central_sncp",
    "cluster",
    "conduct",
    "kmeans_plusplus",
    "rivals",
    "run",
]


def rivals() -> Named[type[Rival]]:
    """Return the rivals' classes by name."""
    return classes_in(__name__, Rival, "rival")
