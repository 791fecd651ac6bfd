"""`FederatedClustering`: clusters by matrix factorisation under SNCP, as a clusterer."""

from __future__ import annotations

from typing import Any
from warnings import warn

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning

from fedmf.algorithms import Algorithm
from fedmf.algorithms.schedules import Schedule
from fedmf.arrays import Array, IntArray
from fedmf.checks import check_real, unknown
from fedmf.clustering import labels, memberships
from fedmf.clustering.metrics import cluster_sizes
from fedmf.constraints import Constraint
from fedmf.errors import DataError
from fedmf.estimators._base import Factorisation
from fedmf.fitting import Init, Remote
from fedmf.penalties import SNCP, PenaltySchedule
from fedmf.recommended import INIT, ROUNDS, TOL, Recommended
from fedmf.reseeding import Reseed

RESEEDS = 3


class FederatedClustering(ClusterMixin, Factorisation):  # type: ignore[misc]
    """Clusters over sites that keep their data: every sample near a multiple of its cluster's w_k.

    Parameters
    ----------
    n_clusters : K.
    algorithm : "fedmgs", "fedmavg", or an `Algorithm`, which then says itself what the next four
        parameters say here.
    q1, q2 : the steps on H and on W in a round; q2=None is the algorithm's own, 100 and 10.
        FedMAvg takes a `fedmf.Diminishing` too.
    participants : how many sites are drawn in a round; None: all.
    participation : "pcc" or "pcp", for FedMAvg.
    penalty : "sncp" lets rho grow from `rho` until every sample has one cluster; None keeps rho;
        an `SNCP` or any other schedule that `fedmf.fit` takes.
    rho, nu : the weights of the two penalties on H, relative to the data; rho is where SNCP starts,
        None: at 1e-4, or at 1e-8 from a random start.
    bounds : W's set: "data" (between the smallest and the largest entry of X), "nonnegative",
        "free" or (lower, upper).
    empty_clusters : "keep" leaves a cluster without samples as it is, with a warning; "reseed" runs
        again with such clusters begun anew from the largest, up to 3 times.
    max_iter, tol : the limit of rounds, and the relative change of F at which a run ends. From a
        random start SNCP needs more than a thousand; `run_.status` says how a run ended.
    init : "linkage" for a start found across the sites, for which no sample leaves its own; None or
        "random" for the paper's random one; a `Run`, or (W0, [H0 of each site]).
    random_state : an integer is the run's seed; None or a RandomState draws one.
    warm_start : start from the W and H of the last fit, where W has the right shape; rho starts
        anew.
    n_jobs : how many threads; None: as many as there are cores. The result does not depend on it.
    device : where the sites compute, by torch's name ("cuda"); None: the processor, with numpy.
    verbose : print a line a round.
    runtime : a `fedmf.Federation`, whose sites have their own data: `fit()` is called without X,
        and what is of single samples is not known here.

    Attributes
    ----------
    labels_ : (N,), each training sample's cluster, in the order of X: the sites' own, by the H
        they ended with. `predict` may differ where the run had not settled.
    cluster_centers_ : (K, M), the mean W h of each cluster's samples: in the units of X, which the
        columns of W alone are not.
    components_ : (K, M), the transposed W.
    earlier_runs_ : list of the runs that left clusters empty, where these were begun anew.
    n_iter_, reconstruction_err_, history_, run_, sites_, n_features_in_, feature_names_in_ : as in
        `FederatedNMF`.
    """

    _rank_name = "n_clusters"

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        algorithm: str | Algorithm = "fedmgs",
        q1: int = 10,
        q2: Schedule | None = None,
        participants: int | None = None,
        participation: str = "pcc",
        penalty: str | PenaltySchedule | None = "sncp",
        rho: float | None = None,
        nu: float = 1e-10,
        bounds: str | tuple[float, float] | Constraint = "data",
        empty_clusters: str = "keep",
        max_iter: int = ROUNDS,
        tol: float = TOL,
        init: Init = INIT,
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        device: str | None = None,
        verbose: int = 0,
        runtime: Remote | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.algorithm = algorithm
        self.q1 = q1
        self.q2 = q2
        self.participants = participants
        self.participation = participation
        self.penalty = penalty
        self.rho = rho
        self.nu = nu
        self.bounds = bounds
        self.empty_clusters = empty_clusters
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose
        self.runtime = runtime

    def fit(self, X: Any = None, y: None = None, sites: Any = None) -> FederatedClustering:
        """Find the clusters of X.

        Parameters
        ----------
        X : (N, M) array, CSR matrix or data frame; or a list with one for each site, whose samples
            are then counted through.
        y : not used.
        sites : a site id for each row of X; None: all rows are one site.
        """
        if self.empty_clusters not in ("keep", "reseed"):
            raise unknown("empty_clusters", self.empty_clusters, ("keep", "reseed"))
        data = self._fit(X, sites, self._schedule())
        if data is None:
            return self
        found = labels(self.run_.H)
        self.labels_: IntArray = data.in_order_of_X(found)
        self.cluster_centers_ = self._centers(found)
        return self

    def transform(self, X: Any) -> Array:
        """Return samples' memberships (n, K): they add up to 1, a sample like none has 1/K."""
        return memberships(self._infer(X)).T

    def predict(self, X: Any) -> IntArray:
        """Return the clusters (n,) of samples."""
        return labels(self._infer(X))

    def _schedule(self) -> PenaltySchedule | None:
        """Return the schedule that `penalty` means."""
        penalty = self.penalty
        if isinstance(penalty, str):
            if penalty != "sncp":
                raise unknown("penalty", penalty, ("sncp",))
            if self.rho is None:
                return Recommended()
            penalty = SNCP(start=check_real("rho", self.rho, minimum=0, above=True))
        return penalty

    def _again(self) -> Init:
        """Return a start with the empty clusters begun anew, where that is wanted and needed."""
        empty = np.flatnonzero(cluster_sizes(labels(self.run_.H), self.n_clusters) == 0)
        spent = len(self.earlier_runs_) >= RESEEDS
        if self.empty_clusters == "keep" or spent or not empty.size:
            return None
        return Reseed(W=self.run_.W, empty=tuple(empty.tolist()))

    def _check_size(self, samples: int) -> None:
        if samples < self.n_clusters:
            raise DataError(
                f"n_clusters must be at most the number of samples, n_samples={samples}; "
                f"got {self.n_clusters}"
            )

    def _centers(self, found: IntArray) -> Array:
        """Return the centres; an empty cluster keeps w_k as it is, and is told of."""
        H, K = np.concatenate(self.run_.H, axis=1), self.n_clusters
        member = np.eye(K, dtype=H.dtype)[found]
        counts = member.sum(axis=0)
        empty = np.flatnonzero(counts == 0)
        if empty.size:
            warn(
                f"{empty.size} of {K} clusters are empty: try empty_clusters='reseed', another "
                "random_state or start, or fewer clusters",
                ConvergenceWarning,
                stacklevel=3,
            )
        means = (H @ member) / np.maximum(counts, 1)
        means[empty, empty] = 1
        return means.T @ self.components_  # type: ignore[no-any-return]
