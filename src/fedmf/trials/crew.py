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
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from fedmf.checks import check_integer, check_real
from fedmf.trials.agenda import Agenda, Job, Outcome, Progress
from fedmf.trials.federation import Cache
from fedmf.trials.store import Store
from fedmf.trials.trial import Trial

SINGLE = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
LOOK = 0.2  # seconds between two looks at the time


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
