"""`run_all`: many trials over the cores, each of them once, stopped at any time and gone on with.

Every worker is a process with one thread; a thread here hands it work and waits. A federation is
made by the first worker that is free when one of its trials comes up, and the others read it from
the cache. The longest trials go first. Whatever is done is in the store at once, so a kill loses
only what is under way.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from tempfile import TemporaryDirectory
from threading import Condition, Thread
from time import perf_counter
from typing import Any, NamedTuple

from fedmf.checks import check_integer, check_real
from fedmf.trials.cost import Clock
from fedmf.trials.federation import Cache, key_of
from fedmf.trials.store import Store
from fedmf.trials.trial import Trial

SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
LOOK = 0.2  # seconds between two looks at the time


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


def run_all(
    trials: Iterable[Trial],
    store: Store,
    workers: int | None = None,
    *,
    cache: str | os.PathLike[str] | None = None,
    data_dir: str | None = None,
    max_seconds: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Outcome:
    """Run what is not in the store yet.

    Parameters
    ----------
    workers : how many processes; None: one for each core.
    cache : where federations are kept for the next call; None: a temporary folder.
    data_dir : where the files of the built-in data sets lie; None: `FEDMF_DATA`.
    max_seconds : stop then; what is under way is given up.
    progress : called in this thread whenever something has happened, and every few seconds.
    """
    count = os.cpu_count() or 1 if workers is None else check_integer("workers", workers, 1)
    if max_seconds is not None:
        check_real("max_seconds", max_seconds, minimum=0)
    with TemporaryDirectory(prefix="fedmf-") as temporary:
        kept = Cache(temporary if cache is None else cache, data_dir)
        agenda = Agenda(trials, store, kept, max_seconds)
        crew = [Worker(agenda, store, kept) for _ in range(min(count, len(agenda.waiting)))]
        try:
            while any(worker.is_alive() for worker in crew):
                for event in agenda.events(LOOK):
                    if progress is not None:
                        progress(event)
                if agenda.late():
                    break
        finally:
            agenda.close()
            for worker in crew:
                worker.stop()
    return agenda.outcome()


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


class Worker:
    """A process, and the thread that hands it work."""

    def __init__(self, agenda: Agenda, store: Store, cache: Cache) -> None:
        self._agenda, self._command = agenda, command_of(store, cache)
        self._process = self._begin()
        self._thread = Thread(target=self._serve, daemon=True)
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether it is still at work."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self._process.kill()
        self._thread.join()
        self._process.communicate()

    def _begin(self) -> subprocess.Popen[str]:
        return subprocess.Popen(  # noqa: S603 our own module, our own folders
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **dict.fromkeys(SINGLE, "1")},
            start_new_session=True,  # Ctrl-C is for us, who then end the workers
        )

    def _serve(self) -> None:
        while (job := self._agenda.next()) is not None:
            answer = self._put(job)
            if answer is not None:
                self._agenda.finish(job, answer)
            elif self._agenda.closed:
                self._agenda.abandon(job)
            else:
                self._process.communicate()  # closes the pipes
                status = self._process.returncode
                self._agenda.finish(job, {"error": f"the worker died with status {status}"})
                self._process = self._begin()

    def _put(self, job: Job) -> dict[str, Any] | None:
        """Hand over a piece of work and wait for the answer; None where the worker died."""
        process = self._process
        if process.stdin is None or process.stdout is None:
            raise TypeError("the worker has no pipes")
        try:
            order = {"what": job.what, "trial": job.trial.as_table()}
            process.stdin.write(json.dumps(order) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            return None
        answer: dict[str, Any] | None = json.loads(line) if line.endswith("\n") else None
        return answer


def command_of(store: Store, cache: Cache) -> list[str]:
    """Return the command line of a worker."""
    folders = [store.folder, cache.folder, *([cache.data_dir] if cache.data_dir else [])]
    return [sys.executable, "-m", "fedmf.trials.worker", *map(str, folders)]


def _told(trial: Trial, answer: dict[str, Any]) -> str:
    """Return a line about a finished trial."""
    scores = answer["scores"]
    shown = [f"{name} {scores[name]:.4g}" for name in ("accuracy", "loss") if name in scores]
    return f"{trial.name}: {', '.join(shown)}, {answer['rounds']} rounds, {answer['seconds']:.1f} s"
