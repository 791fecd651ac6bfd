"""How long trials take: a count of multiplications, scaled by what was measured so far."""

from __future__ import annotations

from collections import defaultdict
from statistics import median

from fedmf.algorithms import FedMAvg
from fedmf.algorithms.base import Algorithm
from fedmf.trials.trial import Trial

FIRST = 1e-10  # seconds for each multiplication, before anything was measured
ENTRIES = 10_000_000  # of data whose size is not known yet


class Clock:
    """Estimates that get better with every trial that is done."""

    def __init__(self) -> None:
        self._rates: dict[str, list[float]] = defaultdict(list)

    def learn(self, trial: Trial, entries: int | None, rounds: int, seconds: float) -> None:
        """Take in what a trial took, after so many rounds."""
        self._rates[_kind(trial)].append(seconds / work(trial, entries, rounds))

    def knows(self, trial: Trial) -> bool:
        """Whether a trial of this kind was measured."""
        return bool(self._rates[_kind(trial)])

    def estimate(self, trial: Trial, entries: int | None) -> float:
        """Return how many seconds a trial may take, to its limit of rounds."""
        rates = self._rates[_kind(trial)] or [
            rate for some in self._rates.values() for rate in some
        ]
        return work(trial, entries, trial.rounds) * (median(rates) if rates else FIRST)


def work(trial: Trial, entries: int | None, rounds: int) -> float:
    """Return about how many multiplications a trial needs; `entries` is the number of X's."""
    size, K = entries or ENTRIES, trial.rank
    algorithm = trial.how.algorithm
    if algorithm is None:
        return 300.0 * size * K
    share = _share(algorithm, 1 if trial.how.pooled else trial.n_sites)
    q1, q2 = getattr(algorithm, "q1", 10), getattr(algorithm, "q2", 10)
    steps = q1 + (q2 if isinstance(q2, int) else 10)
    return max(rounds, 1) * (share * 4.0 * size * K + steps * 2000.0 * K * K)


def _share(algorithm: Algorithm, sites: int) -> float:
    """Return which share of the sites works in a round."""
    everyone = isinstance(algorithm, FedMAvg) and algorithm.participation == "pcc"
    drawn = algorithm.participants
    return 1.0 if drawn is None or everyone else min(1.0, drawn / sites)


def _kind(trial: Trial) -> str:
    drawn = trial.method.get("participants")
    return f"{trial.source} {trial.how.name} {drawn}"
