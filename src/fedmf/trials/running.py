"""`run`: one trial, from its data to its result, in this process and on one thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from fedmf.arrays import IntArray
from fedmf.baselines import Clustering, kmeans_plusplus
from fedmf.baselines import run as run_rival
from fedmf.clustering import metrics, orthogonality
from fedmf.clustering.silhouette import silhouette
from fedmf.config import problem_from
from fedmf.fitting import fit
from fedmf.ledger import COUNTS, Entry
from fedmf.machine import machine, versions
from fedmf.run import Run
from fedmf.trials.federation import Spread, make
from fedmf.trials.result import Result, pack
from fedmf.trials.trial import Trial, plain, sncp

Scores = dict[str, Any]


def run(
    trial: Trial,
    spread: Spread | None = None,
    *,
    data_dir: str | None = None,
    threads: int = 1,
    progress: Callable[[int], None] | None = None,
) -> Result:
    """Run a trial.

    Parameters
    ----------
    spread : the trial's data, where they are at hand; None: they are read and dealt out.
    data_dir : where the files of the built-in data sets lie; None: `FEDMF_DATA`.
    threads : how many; the result does not depend on it.
    progress : called with the number of each round that is done.
    """
    spread = make(trial, data_dir) if spread is None else spread
    if trial.how.algorithm is not None:
        return _factorise(trial, spread, threads, progress)
    start = perf_counter()
    if trial.how.rival is not None:
        found = run_rival(spread.rows, trial.how.rival, trial.seed, threads)
    else:
        found = kmeans_plusplus(spread.rows[0], trial.rank, trial.seed, trial.how.n_init or 1)
    return _of_clustering(trial, spread, found, perf_counter() - start)


def _factorise(
    trial: Trial, spread: Spread, threads: int, progress: Callable[[int], None] | None
) -> Result:
    """Run an algorithm and look at it on the way."""
    algorithm = trial.how.algorithm
    if algorithm is None:
        raise TypeError(f"{trial.how.name} is no algorithm")
    course, start = Course(spread.classes), perf_counter()
    made = fit(
        spread.rows,
        problem_from({**trial.problem, "rank": trial.rank}),
        algorithm,
        rounds=trial.rounds,
        tol=trial.tol,
        seed=trial.seed,
        init=trial.init,
        penalty=None if trial.cluster is None else sncp(trial.cluster),
        callback=None if progress is None else lambda position: progress(position.round),
        inspect=course.look,
        inspect_at=frozenset(looked_at(trial.rounds, trial.points)),
        threads=threads,
    )
    seconds = perf_counter() - start - course.seconds
    course.end(made)
    labels, scores = np.concatenate(made.labels), {}
    if trial.cluster is not None:
        scores = _scores(labels, spread, trial.rank) | {"orthogonality": orthogonality(made.H)}
    scores |= {"objective": made.position.objective, "loss": course.columns["loss"][-1]}
    pooled = trial.how.pooled
    return Result(
        **_head(trial, labels, spread),
        **_sent((0, 0, 0) if pooled else course.sent),
        status=made.status,
        converged=made.converged,
        rounds=made.position.round,
        seconds=seconds,
        curve=course.columns,
        scores=scores,
        raw_samples=len(labels) if pooled else 0,
    )


def _of_clustering(trial: Trial, spread: Spread, found: Clustering, seconds: float) -> Result:
    """Return the result of a rival or of pooled k-means++."""
    labels = np.concatenate(found.labels)
    scores = _scores(labels, spread, trial.rank) | {"loss": found.cost / len(labels)}
    return Result(
        **_head(trial, labels, spread),
        **_sent(added_up(found.ledger.entries)),
        status="done",
        converged=True,
        rounds=found.rounds,
        seconds=seconds,
        curve={},
        scores=scores,
        raw_samples=found.raw_samples,
    )


def _head(trial: Trial, labels: IntArray, spread: Spread) -> dict[str, Any]:
    """Return what every result has."""
    packed = None
    if trial.labels:
        ordered = np.empty_like(labels)
        ordered[spread.places] = labels
        packed = pack(ordered)
    return {"key": trial.key, "trial": plain(trial.resolved), "packed_labels": packed,
            "versions": versions(), "machine": machine()}  # fmt: skip


def _scores(labels: IntArray, spread: Spread, clusters: int) -> Scores:
    """Return what can be said of a clustering."""
    sizes = metrics.cluster_sizes(labels, clusters)
    own = np.split(labels, np.cumsum([rows.shape[0] for rows in spread.rows])[:-1])
    scores: Scores = {
        "silhouette": silhouette(spread.rows, own, n_min=1, clusters=clusters).mean,
        "sizes": sizes.tolist(),
        "empty": int((sizes == 0).sum()),
    }
    if spread.classes is not None:
        scores |= metrics.against(spread.classes, labels)
    return scores


def added_up(entries: Sequence[Entry]) -> IntArray:
    """Return what entries of a ledger add up to, in the order of COUNTS."""
    lines = [tuple(entry.totals().values()) for entry in entries]
    total: IntArray = np.array([(0, 0, 0), *lines], dtype=np.int64).sum(axis=0)
    return total


def _sent(totals: Sequence[int] | IntArray) -> dict[str, Any]:
    return dict(zip(COUNTS, map(int, totals), strict=True))


class Course:
    """The curves of a run: what it was like when it was looked at."""

    def __init__(self, classes: IntArray | None) -> None:
        self._classes = classes
        self.seconds = 0.0  # spent here rather than by the method
        self.columns: dict[str, list[float]] = {}
        self.sent = added_up([])
        self._entries = 0

    def look(self, run: Run) -> None:
        """Note how a run stands."""
        start = perf_counter()
        self.sent = self.sent + added_up(run.ledger.entries[self._entries :])
        self._entries = len(run.ledger.entries)
        position, goal = run.position, run.goal
        loss = float(run.algorithm.parts(goal, position.server).loss) / goal.known.samples
        noted = {
            "round": position.round,
            "objective": position.objective,
            "rho": position.rho,
            "loss": loss,
            "uplink_reals": int(self.sent[0]),
            "uplink_bytes": int(self.sent[1]),
        }
        if self._classes is not None:
            labels = np.concatenate(run.labels)
            noted["accuracy"] = metrics.accuracy(self._classes, labels)
            noted["nmi"] = metrics.nmi(self._classes, labels)
        for name, value in noted.items():
            self.columns.setdefault(name, []).append(value)
        self.seconds += perf_counter() - start

    def end(self, run: Run) -> None:
        """Note the last round, if it was not looked at."""
        if self.columns["round"][-1] != run.position.round:
            self.look(run)


def looked_at(rounds: int, points: int) -> list[int]:
    """Return which rounds are looked at: half of them evenly spread, half on a log scale."""
    even = np.linspace(0, rounds, points // 2 + 1)
    log = np.geomspace(1, rounds, points // 2 + 1)
    return sorted(
        {0, rounds, *np.rint(even).astype(int).tolist(), *np.rint(log).astype(int).tolist()}
    )
