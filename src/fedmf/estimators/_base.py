"""What both estimators share: input, the call of `fedmf.fit`, results in scikit-learn's form."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import NotFittedError as SklearnNotFittedError
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from fedmf.algorithms import Algorithm
from fedmf.arrays import Array, Rows
from fedmf.blocks import cut
from fedmf.border import check_indices
from fedmf.checks import check_integer
from fedmf.engine import Position
from fedmf.errors import DataError, InputTypeError, NotFittedError, ParameterError
from fedmf.estimators import _settings as settings
from fedmf.estimators._sites import Sites, from_list, from_table, is_list_of_tables, no_ids
from fedmf.fitting import Init, fit
from fedmf.inference import infer
from fedmf.losses.squared import residual
from fedmf.parallel import threads
from fedmf.penalties import PenaltySchedule
from fedmf.problem import Problem
from fedmf.run import Run
from fedmf.sites import Cohort


class _NotFittedError(NotFittedError, SklearnNotFittedError):  # type: ignore[misc]
    """Not fitted yet, for those who catch fedmf's errors and those who catch scikit-learn's."""


class Factorisation(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """X ~ H W' with samples in rows: the estimators' common part."""

    _rank_name: ClassVar[str]

    def _fit(self, X: Any, sites: Any, penalty: PenaltySchedule | None = None) -> Sites | None:
        """Run the factorisation and set what it gives; return the sites that X was made into.

        None where the sites are elsewhere.
        """
        rank = check_integer(self._rank_name, getattr(self, self._rank_name), minimum=1)
        check_integer("max_iter", self.max_iter, minimum=1)
        weights = {"nu": self.nu} if self.rho is None else {"nu": self.nu, "rho": self.rho}
        problem = Problem(rank, bounds=self.bounds, **weights)
        algorithm = settings.algorithm_of(self)
        seed, count = settings.seed_of(self.random_state), settings.threads_of(self.n_jobs)
        warm = settings.flag("warm_start", self.warm_start)
        previous: Run | None = getattr(self, "run_", None) if warm else None
        if self.runtime is not None:
            self._fit_there(X, sites, problem, algorithm, penalty, seed)
            return None
        data = self._sites(X, sites)
        init = self.init if previous is None else _continued(previous, data.rows, rank)
        self.earlier_runs_: list[Run] = []
        while True:
            self.run_ = fit(
                data.rows,
                problem,
                algorithm,
                rounds=self.max_iter,
                tol=self.tol,
                seed=seed,
                init=init,
                penalty=penalty,
                callback=_report if self.verbose else None,
                threads=count,
                device=self.device,
            )
            init = self._again()
            if init is None:
                break
            self.earlier_runs_.append(self.run_)
        self._take_over(data)
        return data

    def _again(self) -> Init:
        """Return where to start once more, where what came out is no good; else None."""
        return None

    def _fit_there(
        self,
        X: Any,
        sites: Any,
        problem: Problem,
        algorithm: Algorithm,
        penalty: PenaltySchedule | None,
        seed: int,
    ) -> None:
        """Run over a federation's sites and set what is known without their data."""
        if X is not None or sites is not None:
            raise ParameterError("X and sites must be None with a runtime: sites have their data")
        run = self.run_ = fit(
            None, problem, algorithm, rounds=self.max_iter, tol=self.tol, seed=seed,
            init=self.init, penalty=penalty, runtime=self.runtime, device=self.device,
        )  # fmt: skip
        self.components_ = np.array(run.W.T, order="C")
        self.n_iter_, self.history_ = run.position.round, run.history
        self.n_features_in_ = run.goal.known.features
        loss = run.algorithm.parts(run.goal, run.position.server).loss
        self.reconstruction_err_ = float(np.sqrt(max(loss, 0.0)))

    def _take_over(self, data: Sites) -> None:
        """Set the fitted attributes from the run."""
        run = self.run_
        names = getattr(self, "feature_names_in_", None)
        run.features = None if names is None else tuple(names)
        self.components_ = np.array(run.W.T, order="C")
        self.n_iter_ = run.position.round
        self.history_ = run.history
        self.sites_ = data.ids
        squared = sum(map(_squared_error, data.rows, [run.W] * len(data.rows), run.H))
        self.reconstruction_err_ = float(np.sqrt(squared))

    def _sites(self, X: Any, sites: Any) -> Sites:
        """Check the X of `fit` and share it out."""
        if not is_list_of_tables(X):
            rows = self._rows(X, fitting=True)
            data = from_table(rows, sites)
        else:
            no_ids(sites)
            numbered = enumerate(X)
            data = from_list(
                [self._rows(own, fitting=k == 0, what=f"site {k}: ") for k, own in numbered]
            )
        self._check_size(len(data.places))
        self._check_values(data.rows)
        return data

    def _check_size(self, samples: int) -> None:
        """Refuse too few samples."""

    def _check_values(self, tables: list[Rows]) -> None:
        """Refuse values that the model does not allow."""

    def _rows(self, X: Any, *, fitting: bool, what: str = "") -> Rows:
        """Return one table as rows (n, M), float32 or float64, dense or CSR."""
        if isinstance(X, np.ma.MaskedArray):
            raise InputTypeError(f"{what}a masked array has missing entries; pass one without")
        if sparse.issparse(X):
            check_indices(X, what.rstrip(": ") or "X")
        try:
            return validate_data(
                self,
                X,
                accept_sparse="csr",
                dtype=[np.float64, np.float32],
                order="C",
                reset=fitting,
            )
        except ValueError as error:
            raise DataError(what + _one_line(error)) from None
        except TypeError as error:
            raise InputTypeError(what + _one_line(error)) from None

    def _infer(self, X: Any) -> Array:
        """Return the H of new samples, (K, n)."""
        try:
            check_is_fitted(self)
        except SklearnNotFittedError as error:
            raise _NotFittedError(_one_line(error)) from None
        tables = X if is_list_of_tables(X) else [X]
        rows = [self._rows(own, fitting=False) for own in tables]
        self._check_values(rows)
        run = self.run_
        with threads(settings.threads_of(self.n_jobs)):
            return np.concatenate([infer(run.goal, run.W, own, run.rho) for own in rows], axis=1)

    @property
    def _n_features_out(self) -> int:
        """The number of columns that `transform` returns."""
        return len(self.components_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _continued(run: Run, tables: list[Rows], rank: int) -> tuple[Array, list[Array]] | None:
    """Return the start that an earlier run gives; None where W has another shape.

    Sites that are not as large as they were have other samples: H is then inferred.
    """
    if run.W.shape != (tables[0].shape[1], rank):
        return None
    if [own.shape[0] for own in tables] == run.sizes.tolist():
        return run.W, run.H
    return run.W, [infer(run.goal, run.W, own, run.rho) for own in tables]


def _squared_error(rows: Rows, W: Array, H: Array) -> float:
    """Return ||X - W H||^2 of one site in double precision."""
    wide = W.astype(np.float64, copy=False)
    if not isinstance(rows, np.ndarray):
        data = Cohort.of(rows)
        return max(0.0, residual(data.squared_norm, data.cross(wide), wide, H))
    total, first = 0.0, 0
    for block in cut(rows):
        last = first + len(block)
        total += float(np.sum((block - H[:, first:last].T @ wide.T) ** 2))
        first = last
    return total


def _one_line(error: Exception) -> str:
    """Return scikit-learn's message as one line, without the advice or the array that follows."""
    first, *rest = str(error).split("\n")
    if first.endswith("."):
        return first
    words = [line for line in rest if not line.startswith(("array=", "[", " "))]
    return " ".join(" ".join([first, *words]).split())


def _report(position: Position) -> None:
    """Print a round."""
    F, change, rho = position.objective, position.change, position.rho
    print(f"round {position.round}: F = {F:.8g}, change {change:.2e}, rho {rho:.3g}")
