"""scikit-learn estimators over `fedmf.fit`: thin, without any mathematics of their own."""

from __future__ import annotations

from fedmf.estimators.clustering import FederatedClustering
from fedmf.estimators.nmf import FederatedNMF

__all__ = ["FederatedClustering", "FederatedNMF"]
