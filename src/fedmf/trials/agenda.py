"""What is to be done, what is under way and what became of it: shared by the threads of a crew."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from threading import Condition
from time import perf_counter
from typing import Any, NamedTuple

from fedmf.trials.cost import Clock
from fedmf.trials.federation import Cache, key_of
from fedmf.trials.store import Store
from fedmf.trials.trial import Trial


class Progress(NamedTuple):
    """Where the work stands."""

    done: int
    failed: int
    total: int  # without those that were in the store before
    seconds: float
    left: float  # an estimate, in seconds
    event: str  # what just happened, or nothing


@dataclass
class Outcome:
    """What became of the trials."""

    done: list[Trial] = field(default_factory=list)
    before: list[Trial] = field(default_factory=list)  # they were in the store
    failed: list[tuple[Trial, str]] = field(default_factory=list)
    left: list[Trial] = field(default_factory=list)
    seconds: float = 0.0


class Job(NamedTuple):
    """A piece of work."""

    what: str  # "federation" or "trial"
    trial: Trial
    place: str  # its federation's key


class Agenda:
    """What is to be done; shared by the threads."""

    def __init__(
        self, trials: Iterable[Trial], store: Store, cache: Cache, max_seconds: float | None
    ) -> None:
        self._changed = Condition()
        self._cache, self._closed = cache, False
        self._start, self._limit = perf_counter(), max_seconds
        self._clock, self._entries = Clock(), dict[str, int]()
        self._making, self._lost = set[str](), dict[str, str]()
        self._news: list[str] = []
        self._found = Outcome()
        self.waiting: list[Job] = []
        self._running: list[Job] = []
        for trial in {trial.key: trial for trial in trials}.values():
            result = store.get(trial) if store.has(trial) else None
            if result is None:
                self.waiting.append(Job("trial", trial, key_of(trial)))
            else:
                self._found.before.append(trial)
                self._clock.learn(trial, None, result.rounds, result.seconds)
        self._total = len(self.waiting)

    def next(self) -> Job | None:
        """Return the next piece of work, when there is one; None when there will be none."""
        with self._changed:
            while True:
                if self._closed or not self.waiting:
                    return None
                job = self._choose()
                if job is not None:
                    self._running.append(job)
                    return job
                if not self._running:
                    return None  # none of them would be done in time
                self._changed.wait()

    def _choose(self) -> Job | None:
        """Return the longest trial whose federation is there, or a federation to be made."""
        self.waiting.sort(key=lambda job: -self._estimate(job.trial))
        for job in self.waiting:
            if job.place in self._making or not self._in_time(job.trial):
                continue
            if job.place not in self._entries:
                self._making.add(job.place)
                return Job("federation", job.trial, job.place)
            self.waiting.remove(job)
            return job
        return None

    def _estimate(self, trial: Trial) -> float:
        return self._clock.estimate(trial, self._entries.get(key_of(trial)))

    def _in_time(self, trial: Trial) -> bool:
        """Whether a trial would be done before the limit, as far as that is known."""
        if self._limit is None or not self._clock.knows(trial):
            return True
        return perf_counter() - self._start + self._estimate(trial) < self._limit

    def finish(self, job: Job, answer: dict[str, Any]) -> None:
        """Take note of what became of a piece of work."""
        with self._changed:
            self._running.remove(job)
            error = answer.get("error")
            if job.what == "federation":
                self._making.discard(job.place)
                if error is None:
                    self._entries[job.place] = answer["entries"]
                else:
                    self._give_up(job.place, error)
            elif error is None:
                self._found.done.append(job.trial)
                self._clock.learn(
                    job.trial, self._entries[job.place], answer["rounds"], answer["seconds"]
                )
                self._news.append(_told(job.trial, answer))
            else:
                self._fail(job.trial, error)
            self._news += [f"{job.trial.name}: warning: {w}" for w in answer.get("warnings", ())]
            self._changed.notify_all()

    def _give_up(self, place: str, error: str) -> None:
        """Fail all trials on data that cannot be had."""
        for job in [job for job in self.waiting if job.place == place]:
            self.waiting.remove(job)
            self._fail(job.trial, error)

    def _fail(self, trial: Trial, error: str) -> None:
        self._found.failed.append((trial, error))
        self._news.append(f"{trial.name}: FAILED: {error}")

    def abandon(self, job: Job) -> None:
        """Put back what was given up on the way."""
        with self._changed:
            self._running.remove(job)
            if job.what == "trial":
                self.waiting.append(job)
            self._changed.notify_all()

    def close(self) -> None:
        """Hand out nothing more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether nothing more is handed out."""
        return self._closed

    def late(self) -> bool:
        """Whether the time is up."""
        return self._limit is not None and perf_counter() - self._start >= self._limit

    def events(self, seconds: float) -> list[Progress]:
        """Return what has happened, after waiting a moment where nothing has."""
        with self._changed:
            if not self._news:
                self._changed.wait(seconds)
            news, self._news = self._news or [""], []
            crew = max(1, len(self._running))
            ahead = [job.trial for job in (*self.waiting, *self._running) if job.what == "trial"]
            left = sum(map(self._estimate, ahead)) / crew
            done, failed = len(self._found.done), len(self._found.failed)
            spent = perf_counter() - self._start
            return [Progress(done, failed, self._total, spent, left, text) for text in news]

    def outcome(self) -> Outcome:
        """Return what became of all trials."""
        self._found.left = [job.trial for job in self.waiting]
        self._found.seconds = perf_counter() - self._start
        return self._found


def _told(trial: Trial, answer: dict[str, Any]) -> str:
    """Return a line about a finished trial."""
    scores = answer["scores"]
    shown = [f"{name} {scores[name]:.4g}" for name in ("accuracy", "loss") if name in scores]
    return f"{trial.name}: {', '.join(shown)}, {answer['rounds']} rounds, {answer['seconds']:.1f} s"
