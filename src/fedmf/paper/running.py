"""The trials of exhibits: what there is to do, and doing it, in pieces and in a good order.

The first three starting points of everything come first, then one after the other, so that a run
that is stopped leaves figures whose methods all have the same starting points.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from fedmf.paper import maps
from fedmf.paper.exhibit import Exhibit
from fedmf.trials import Outcome, Progress, Store, Trial, run_all
from fedmf.trials.cost import Clock

LEAST = 3  # starting points that a figure should have at least

Show = Callable[[Progress], None]


@dataclass(frozen=True)
class Work:
    """What an exhibit needs."""

    exhibit: Exhibit
    trials: int
    left: int
    seconds: float  # what is left takes about so long on one core; shared trials count once


def plan(exhibits: Sequence[Exhibit], store: Store) -> list[Work]:
    """Return what there is to do, exhibit by exhibit, from what is in the store."""
    clock, left = Clock(), {}
    for trial in every(exhibits):
        result = store.get(trial) if store.has(trial) else None
        if result is None:
            left[trial.key] = trial
        else:
            clock.learn(trial, None, result.rounds, result.seconds)
    works = []
    for exhibit in exhibits:
        own = exhibit.trials
        todo = [left.pop(trial.key) for trial in own if trial.key in left]
        seconds = sum(clock.estimate(trial, None) for trial in todo)
        works.append(Work(exhibit, len(own), len(todo), seconds))
    return works


def every(exhibits: Sequence[Exhibit]) -> list[Trial]:
    """Return the trials of all exhibits, each once."""
    found = {trial.key: trial for exhibit in exhibits for trial in exhibit.trials}
    return list(found.values())


def passes(trials: Sequence[Trial]) -> list[list[Trial]]:
    """Return the trials in the order of their starting points, the first three together."""
    turns = sorted({max(trial.seed, LEAST - 1) for trial in trials})
    return [[t for t in trials if max(t.seed, LEAST - 1) == turn] for turn in turns]


def compute(
    exhibits: Sequence[Exhibit],
    store: Store,
    *,
    workers: int | None = None,
    cache: str | os.PathLike[str] | None = None,
    data_dir: str | None = None,
    max_seconds: float | None = None,
    progress: Show | None = None,
) -> Outcome:
    """Run what is not in the store yet; the arguments are those of `run_all`.

    Maps of samples are made last, when nothing else is left.
    """
    whole, start = Outcome(), perf_counter()
    with TemporaryDirectory(prefix="fedmf-") as temporary:
        kept = Path(temporary) if cache is None else Path(cache)
        for trials in passes(every(exhibits)):
            left = None if max_seconds is None else max_seconds - (perf_counter() - start)
            if left is not None and left <= 0:
                whole.left.extend(trial for trial in trials if not store.has(trial))
                continue
            part = run_all(trials, store, workers, cache=kept, data_dir=data_dir,
                           max_seconds=left, progress=progress)  # fmt: skip
            for name in ("done", "before", "failed", "left"):
                getattr(whole, name).extend(getattr(part, name))
        for exhibit in exhibits:
            if exhibit.kind == "map" and not whole.left:
                maps.compute(exhibit, store, data_dir)
    whole.seconds = perf_counter() - start
    return whole
