"""`FederatedNMF`: nonnegative matrix factorisation, as a scikit-learn transformer."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import Tags

from fedmf.algorithms import Algorithm
from fedmf.algorithms.schedules import Schedule
from fedmf.arrays import Array, Rows
from fedmf.constraints import Constraint
from fedmf.errors import DataError
from fedmf.estimators._base import Factorisation
from fedmf.fitting import Init, Remote


class FederatedNMF(Factorisation):
    """Nonnegative matrix factorisation over sites that keep their data.

    In scikit-learn's terms X ~ H' components_, samples in rows.

    Parameters
    ----------
    n_components : K.
    algorithm : "fedmgs", "fedmavg", or an `Algorithm`, which then says itself what the next four
        parameters say here.
    q1, q2 : the steps on H and on W in a round; q2=None is the algorithm's own, 100 and 10.
        FedMAvg takes a `fedmf.Diminishing` too.
    participants : how many sites are drawn in a round; None: all.
    participation : "pcc" or "pcp", for FedMAvg.
    rho, nu : the weights of the two penalties on H, relative to the data.
    bounds : W's set: "data" (between the smallest and the largest entry of X), "nonnegative",
        or (lower, upper).
    max_iter, tol : the limit of rounds, and the relative change of F at which a run ends.
    init : None for a random start, "linkage" for one found across the sites, a `Run`, or
        (W0, [H0 of each site]).
    random_state : an integer is the run's seed; None or a RandomState draws one.
    warm_start : start from the W and H of the last fit, where W has the right shape.
    n_jobs : how many threads; None: as many as there are cores. The result does not depend on it.
    device : where the sites compute, by torch's name ("cuda"); None: the processor, with numpy.
    verbose : print a line a round.
    runtime : a `fedmf.Federation`, whose sites have their own data: `fit()` is called without X,
        and what is of single samples is not known here.

    Attributes
    ----------
    components_ : (K, M), the transposed W.
    n_iter_ : the number of rounds.
    reconstruction_err_ : ||X - W H||_F over all sites.
    history_ : data frame, a row a round.
    run_ : the `Run` itself, with W, the sites' H and the ledger.
    sites_ : the sites' ids, in the order of run_.H.
    n_features_in_, feature_names_in_ : as always.
    """

    _rank_name = "n_components"

    def __init__(
        self,
        n_components: int = 10,
        *,
        algorithm: str | Algorithm = "fedmgs",
        q1: int = 10,
        q2: Schedule | None = None,
        participants: int | None = None,
        participation: str = "pcc",
        rho: float = 1e-8,
        nu: float = 1e-10,
        bounds: str | tuple[float, float] | Constraint = "data",
        max_iter: int = 500,
        tol: float = 1e-8,
        init: Init = None,
        random_state: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        device: str | None = None,
        verbose: int = 0,
        runtime: Remote | None = None,
    ) -> None:
        self.n_components = n_components
        self.algorithm = algorithm
        self.q1 = q1
        self.q2 = q2
        self.participants = participants
        self.participation = participation
        self.rho = rho
        self.nu = nu
        self.bounds = bounds
        self.max_iter = max_iter
        self.tol = tol
        self.init = init
        self.random_state = random_state
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose
        self.runtime = runtime

    def fit(self, X: Any = None, y: None = None, sites: Any = None) -> FederatedNMF:
        """Factorise X.

        Parameters
        ----------
        X : (N, M) array, CSR matrix or data frame; or a list with one for each site.
        y : not used.
        sites : a site id for each row of X; None: all rows are one site.
        """
        self._fit(X, sites)
        return self

    def transform(self, X: Any) -> Array:
        """Return the weights (n, K) of samples, each its best ones for the fitted W."""
        return self._infer(X).T

    def inverse_transform(self, X: Any) -> Array:
        """Return the samples (n, M) that weights X (n, K) stand for."""
        weights = np.asarray(X)
        K = self._n_features_out
        if weights.ndim != 2 or weights.shape[1] != K:
            raise DataError(f"X must have the shape (samples, {K}), got {weights.shape}")
        return weights @ self.components_

    def _check_values(self, tables: list[Rows]) -> None:
        for own in tables:
            if own.min() < 0:
                raise DataError(  # scikit-learn's own words to begin with
                    "Negative values in data passed to FederatedNMF (input X): the smallest is "
                    f"{own.min():g}; shift the data, or use FederatedClustering"
                )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
