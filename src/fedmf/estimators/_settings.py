"""An estimator's parameters, turned into what `fedmf.fit` takes."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from fedmf.algorithms import Algorithm, FedMAvg, FedMGS
from fedmf.checks import check_integer, unknown
from fedmf.errors import InputTypeError, ParameterError
from fedmf.rng import resolve_seed

NAMES = ("fedmgs", "fedmavg")


def algorithm_of(model: Any) -> Algorithm:
    """Return the algorithm that the parameters describe."""
    if isinstance(model.algorithm, Algorithm):
        return model.algorithm
    if not isinstance(model.algorithm, str) or model.algorithm not in NAMES:
        raise unknown("algorithm", model.algorithm, NAMES)
    if model.participation not in ("pcc", "pcp"):
        raise unknown("participation", model.participation, ("pcc", "pcp"))
    steps = {} if model.q2 is None else {"q2": model.q2}
    settings = {"q1": model.q1, "participants": model.participants, **steps}
    if model.algorithm == "fedmgs":
        return FedMGS(**settings)
    return FedMAvg(participation=model.participation, **settings)


def seed_of(random_state: Any) -> int:
    """Return the run's seed: an integer itself, or one drawn from a random state."""
    if isinstance(random_state, int | np.integer):
        return _named("random_state", random_state)
    try:
        return int(check_random_state(random_state).randint(2**31 - 1))
    except ValueError:
        raise InputTypeError(
            f"random_state must be None, an integer or a RandomState, got {random_state!r}"
        ) from None


def _named(name: str, value: Any) -> int:
    try:
        return resolve_seed(value)
    except ParameterError:
        raise ParameterError(f"{name} must be a nonnegative integer, got {value!r}") from None


def threads_of(n_jobs: Any) -> int:
    """Return the number of threads: None is all there are, -1 too, -2 one less, as in joblib."""
    from joblib import effective_n_jobs  # type: ignore[import-untyped]

    if n_jobs is not None and check_integer("n_jobs", n_jobs, minimum=-(2**31)) == 0:
        raise ParameterError("n_jobs must be None or an integer other than 0, got 0")
    return int(effective_n_jobs(-1 if n_jobs is None else n_jobs))


def flag(name: str, value: Any) -> bool:
    """Return a parameter that is true or false."""
    if not isinstance(value, bool | np.bool_):
        raise InputTypeError(f"{name} must be True or False, got {value!r}")
    return bool(value)
