"""What every preparation is: tasks for the sites, an exchange, and a scikit-learn transformer.

A preparation is the method of its exchange (compare `fedmf.setup`): `tasks` are answered where the
data are, `exchange` asks, and `apply` transforms a site's data with what came out. `fit` runs that
exchange over sites in this process, `fit_over` over any runtime, a network's too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError as SklearnNotFittedError

from fedmf.arrays import Array, Rows
from fedmf.blocks import cut
from fedmf.engine import converse
from fedmf.errors import DataError, NotFittedError, ParameterError, SiteMismatchError
from fedmf.faults import refuse_non_finite
from fedmf.ledger import SETUP, Ledger
from fedmf.messages import Exchange, Message, Nothing, Runtime, Task, ask
from fedmf.parallel import threads
from fedmf.preparation._border import Names, as_given, as_site, many, names_of_each
from fedmf.preparation._shape import Known, same_features, shape_of, together
from fedmf.runtimes.local import LocalRuntime
from fedmf.sites import Cohort


class _NotFittedError(NotFittedError, SklearnNotFittedError):  # type: ignore[misc]
    """Not fitted yet, for those who catch fedmf's errors and those who catch scikit-learn's."""


class Learned(NamedTuple):
    """What comes out of an exchange."""

    state: Message  # all that a site needs to transform its data; it is sent to every site
    figures: dict[str, Any]  # the fitted attributes, named as scikit-learn names them


class Preparation(TransformerMixin, BaseEstimator, ABC, auto_wrap_output_keys=None):  # type: ignore[misc, call-arg]
    """A preparation: `fit` and `transform` on a list of sites, or on one array with site ids.

    After `fit`, `ledger_` is the book of what was sent and `state_` the message that every site
    gets. `set_output` is not offered: what goes in as a list comes out as one.
    """

    name: ClassVar[str]
    sends: ClassVar[str]  # what leaves a site, in one line
    same_features: ClassVar[bool] = True  # whether all sites must have the same features

    @abstractmethod
    def site_tasks(self) -> dict[str, Task]:
        """Return what a site is asked, besides the form of its data."""

    @abstractmethod
    def learn(self, known: Known) -> Exchange[Learned]:
        """Ask the sites, knowing the form of their data; return what was learned."""

    @abstractmethod
    def apply(self, state: Any, data: Cohort) -> Rows:
        """Return a site's rows transformed; the data stay as they are."""

    def check(self) -> None:
        """Refuse options that make no sense."""

    def takes_sparse(self) -> bool:
        """Whether sparse data are accepted."""
        return True

    def needs_labels(self) -> bool:
        """Whether `fit` needs y."""
        return False

    def names_out(self, state: Any, names: Names) -> Names:
        """Return the features' names after the transformation, from those before it."""
        return names

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks by name."""
        return {"shape": Task(shape_of, each=True), "keep": Task(_keep), **self.site_tasks()}

    def exchange(self, sites: int) -> Exchange[Learned]:
        """Hold the whole exchange: the form of the data, what is to be learned, and its return."""
        self.check()
        answer = yield ask("shape", Nothing(), np.arange(sites))
        known = together(answer.each)
        figures: dict[str, Any] = {"n_samples_seen_": known.samples}
        if self.same_features:
            same_features(answer.each)
            figures["n_features_in_"] = known.features
        learned = yield from self.learn(known)
        yield ask("keep", learned.state, known.everyone)
        return Learned(learned.state, figures | learned.figures)

    def prepared(self, state: Any, data: Cohort) -> Cohort:
        """Return a site's data transformed, with the names that its features have then."""
        rows = self.apply(state, data)
        names = self.names_out(state, data.features)
        return Cohort(tuple(cut(rows)), data.sites, data.edges, names)

    def fit_over(self, runtime: Runtime, ledger: Ledger | None = None) -> Preparation:
        """Learn from the sites behind a runtime; what is sent goes into the ledger."""
        ledger = Ledger() if ledger is None else ledger
        learned = converse(self.exchange(runtime.sites), self, None, runtime, ledger, SETUP)
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)  # nothing of an earlier fit may outlive it
        self.ledger_, self.state_ = ledger, learned.state
        for name, figure in learned.figures.items():
            setattr(self, name, figure)
        return self

    def fit(self, X: Any, y: Any = None, sites: Any = None, features: Any = None) -> Preparation:
        """Learn from sites in this process.

        Parameters
        ----------
        X : a list with a (n_p, M) array, CSR matrix or data frame for each site, or one of all.
        y : the labels in the same form, where they are needed.
        sites : the site of each row, where X is one array; None: all rows are of one site.
        features : the columns' names in the same form, where X are not data frames.
        """
        given = as_given(X, self._labels(y), sites, features)
        runtime = LocalRuntime(given.rows, given.features)
        if given.labels is not None:
            runtime.place(given.labels)
        with threads():
            self.fit_over(runtime)
        self.sites_ = given.ids
        if self.same_features and given.features[0] is not None:
            self.feature_names_in_ = np.array(given.features[0], dtype=object)
        return self

    def transform(self, X: Any, features: Any = None) -> Any:
        """Return the data transformed: a list of sites as a list, one array as one."""
        self._check_fitted()
        return _of_each(X, features, self._transform)

    def fit_transform(self, X: Any, y: Any = None, sites: Any = None, features: Any = None) -> Any:
        """Learn from the sites, and return their data transformed."""
        return self.fit(X, y, sites, features).transform(X, features)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the features' names after the transformation."""
        self._check_fitted()
        names = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            names = input_features
        elif names is None and self.same_features:
            names = [f"x{column}" for column in range(self.n_features_in_)]
        found = self.names_out(self.state_, None if names is None else tuple(names))
        return np.array(found, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "state_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.takes_sparse()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self.needs_labels()
        return tags

    def _check_fitted(self) -> None:
        if not hasattr(self, "state_"):
            raise _NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit first")

    def _labels(self, y: Any) -> Any:
        if not self.needs_labels():
            return None
        if y is None:
            raise ParameterError(f"this {type(self).__name__} needs labels: pass y")
        return y

    def _transform(self, data: Cohort, site: int) -> Rows:
        if self.same_features:
            self._match(data, site)
        return self.apply(self.state_, data)

    def _match(self, data: Cohort, site: int) -> None:
        """Refuse data with other features than those that were fitted."""
        if data.shape[1] != self.n_features_in_:
            raise DataError(
                f"site {site} has {data.shape[1]} features, "
                f"this {type(self).__name__} was fitted with {self.n_features_in_}"
            )
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is not None and data.features is not None and data.features != tuple(fitted):
            pairs = zip(data.features, fitted, strict=True)
            place = next(k for k, (own, known) in enumerate(pairs) if own != known)
            raise SiteMismatchError(
                f"feature {place} of site {site} is {data.features[place]!r}, "
                f"this {type(self).__name__} was fitted with {fitted[place]!r} there"
            )


class Invertible(Preparation):
    """A preparation that can be undone: `inverse_transform` takes data back to what they were."""

    @abstractmethod
    def undo(self, state: Any, data: Cohort) -> Rows:
        """Return a site's transformed rows as they were before; the data stay as they are."""

    def inverse_transform(self, X: Any) -> Any:
        """Return transformed data, or components of them, in the units of the data."""
        self._check_fitted()
        return _of_each(X, None, self._undo)

    def _undo(self, data: Cohort, site: int) -> Rows:
        self._match(data, site)
        return self.undo(self.state_, data)


def _of_each(X: Any, features: Any, function: Callable[[Cohort, int], Rows]) -> Any:
    """Return function(data, site) of each of a list of sites, or of one array."""
    sites = X if many(X) else [X]
    names = names_of_each(features, len(sites)) if many(X) else [features]
    found = []
    for site, (own, named) in enumerate(zip(sites, names, strict=True)):
        data = as_site(own, named, site)
        refuse_non_finite(data)
        found.append(function(data, site))
    return found if many(X) else found[0]


def _keep(
    goal: None, private: Any, payload: Message, data: Cohort, weight: Array
) -> tuple[Any, Nothing]:
    """Take note of what was learned: from here on the site can call `prepared` with it."""
    return private, Nothing()
