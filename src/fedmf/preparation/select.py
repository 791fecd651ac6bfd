"""Feature selection by chi-squared or variance, like SelectKBest(chi2) and VarianceThreshold.

chi2 of feature m: sum over classes c of (O - E)^2 / E, O the sum of the feature over the samples of
class c, E = (N_c / N) times its sum over all. The names of the classes are collected first, since
no site need have all of them; then every site sends N_c and O for each class.

The order among features with one score is scikit-learn's: with `k`, the last columns are taken.
Scores that would tie in exact arithmetic may differ by rounding, here as there.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from fedmf.arrays import Array, IntArray, Rows
from fedmf.checks import check_integer, check_real, unknown
from fedmf.errors import DataError, ParameterError
from fedmf.messages import Exchange, Message, Nothing, Task
from fedmf.preparation._base import Learned, Preparation
from fedmf.preparation._border import Labels, Names
from fedmf.preparation._classes import chi2_of, class_tasks
from fedmf.preparation._shape import Known
from fedmf.preparation._sums import extreme_tasks, extremes_of, moment_tasks, moments_of
from fedmf.sites import Cohort

SCORES = ("chi2", "variance")


class Chosen(NamedTuple):
    """The chosen features, ascending."""

    columns: IntArray


class FederatedSelect(Preparation):
    """Keep the features with the highest scores over all sites.

    What leaves a site: for chi2 the names of its classes, and the number of samples and the sum of
    each feature for each class; for the variance the sums of the standard scaler, and the extremes
    where the threshold is 0. Of a class with one sample at a site, the sums are that sample.

    Parameters
    ----------
    score : "chi2", which needs y and entries of at least zero, or "variance".
    k : how many features to keep.
    threshold : keep those with a score above it. Neither: k = 10 (or all, of fewer features) for
        chi2, threshold 0 for the variance, which is scikit-learn's default.
    """

    name: ClassVar[str] = "select"
    sends: ClassVar[str] = (
        "chi2: the classes' names, then counts and sums of each feature for each class; "
        "variance: sums of each feature, of deviations and of their squares, and its extremes"
    )

    def __init__(
        self, score: str = "chi2", k: int | None = None, threshold: float | None = None
    ) -> None:
        self.score = score
        self.k = k
        self.threshold = threshold

    def needs_labels(self) -> bool:
        """Whether `fit` needs y: for chi2."""
        return self.score == "chi2"

    def check(self) -> None:
        """Refuse an unknown score, and two ways to choose at once."""
        if self.score not in SCORES:
            raise unknown("score", self.score, SCORES)
        if self.k is not None and self.threshold is not None:
            raise ParameterError(
                f"give k or threshold, not both; got {self.k} and {self.threshold}"
            )
        if self.k is not None:
            check_integer("k", self.k, minimum=1)
        if self.threshold is not None:
            check_real("threshold", self.threshold, minimum=0)

    def site_tasks(self) -> dict[str, Task]:
        """Return what a site is asked: its classes and sums, or its moments and extremes."""
        return {**class_tasks(), **moment_tasks(), **extreme_tasks(), "keep": Task(_forget)}

    def learn(self, known: Known) -> Exchange[Learned]:
        """Find the scores over all sites, and choose by them."""
        if self.k is not None:
            check_integer("k", self.k, minimum=1, maximum=known.features)
        if self.score == "chi2":
            found = yield from chi2_of(known)
            scores, figures = found.scores, found._asdict()
        else:
            scores = yield from self._variances(known)
            figures = {"variances": scores}
        state = Chosen(self._choose(scores))
        return Learned(state, {f"{name}_": figure for name, figure in figures.items()})

    def apply(self, state: Chosen, data: Cohort) -> Rows:
        """Keep the chosen columns of a site's rows."""
        return data.rows[:, state.columns]

    def names_out(self, state: Chosen, names: Names) -> Names:
        """Return the names of the chosen features."""
        return None if names is None else tuple(names[column] for column in state.columns)

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which features were chosen: a mask, or their indices."""
        self._check_fitted()
        columns = cast(Chosen, self.state_).columns
        return columns if indices else np.isin(np.arange(self.n_features_in_), columns)

    def _variances(self, known: Known) -> Exchange[Array]:
        """Return the variances; with threshold 0, what is constant is found by its extremes."""
        moments = yield from moments_of(known)
        if self._above() != 0:
            return moments.variance
        low, high = yield from extremes_of(known)
        return np.minimum(moments.variance, high.astype(np.float64) - low)

    def _above(self) -> float | None:
        """Return the threshold, where it is one that chooses."""
        if self.k is None and self.threshold is None:
            return None if self.score == "chi2" else 0.0
        return self.threshold

    def _choose(self, scores: Array) -> IntArray:
        """Return the columns chosen; a score that does not exist is the lowest."""
        above = self._above()
        if above is None:
            ranked = np.where(np.isnan(scores), np.finfo(np.float64).min, scores)
            columns = np.argsort(ranked, kind="stable")[-(self.k or 10) :]
        else:
            columns = np.flatnonzero(scores > above)
        if len(columns) == 0:
            raise DataError(f"no feature has a {self.score} above the threshold {above:g}")
        return np.sort(columns).astype(np.int64)


def _forget(
    goal: None, private: Any, payload: Message, data: Cohort, weight: Array
) -> tuple[Any, Nothing]:
    """Take note of what was learned, and drop the labels, which were needed for it alone."""
    return None if isinstance(private, Labels) else private, Nothing()
