"""The coordinator's end: submit a job, follow it, stop it, fetch what came out.

federation = fedmf.Federation("kits/coordinator")
run = fedmf.fit(None, problem, algorithm, rounds=200, runtime=federation)
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fedmf.algorithms import Algorithm
from fedmf.config import penalty_table, to_table
from fedmf.errors import FedMFError
from fedmf.network.frames import Frame
from fedmf.network.jobs import Job
from fedmf.network.kits import Kit
from fedmf.network.link import Caller, UnreachableError
from fedmf.penalties import PenaltySchedule
from fedmf.problem import Problem
from fedmf.run import Run
from fedmf.storage import MODEL, load
from fedmf.tracking import Following, Tracker

LOOK = 0.2  # seconds between two looks at a run


class Federation:
    """A running federation, as its coordinator sees it.

    Parameters
    ----------
    kit : the folder of a user's kit.
    settings : what a job's [federation] table holds: deadline, min_answers, late, label.
    """

    def __init__(self, kit: str | os.PathLike[str], **settings: Any) -> None:
        own = Kit.read(Path(kit), "user")
        self.name, self._call = own.federation, Caller(own)
        self._settings = settings

    def __deepcopy__(self, memo: Any) -> Federation:
        """Return itself: a connection has no copy, and estimators copy their parameters."""
        return self

    def submit(self, tables: Mapping[str, Any]) -> str:
        """Hand in a job; return the run's name."""
        federation = {**tables.get("federation", {}), **self._settings}
        job = Job.of({**tables, "federation": federation})
        return str(self._call("submit", Frame({"job": job.tables})).header["run"])

    def status(self, run: str | None = None) -> dict[str, Any]:
        """Return how the federation stands: its sites, and all runs or one of them."""
        return self._call("status", Frame({} if run is None else {"run": run})).header

    def stop(self, run: str) -> None:
        """End a run after its last complete round."""
        self._call("stop", Frame({"run": run}))

    def log(self, run: str, start: int = 0) -> tuple[str, int, str]:
        """Return the log from a byte on, where the rest begins, and the run's state."""
        frame = self._call("log", Frame({"run": run, "from": start}))
        return frame.body.decode(), int(frame.header["next"]), str(frame.header["state"])

    def history(self, run: str, start: int = 0) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the rows of a run's history from one on, and what was before round 1."""
        rows: list[dict[str, Any]] = []
        while True:
            frame = self._call("history", Frame({"run": run, "from": start + len(rows)}))
            rows += json.loads(frame.body)
            if start + len(rows) >= frame.header["rows"]:
                return rows, frame.header["before"]

    def result(self, run: str) -> Run:
        """Return a run that has ended; every H stays at its site."""
        frame = self._call("result", Frame({"run": run}), 120.0)
        with TemporaryDirectory() as folder:
            Path(folder, MODEL).write_bytes(frame.body)
            return load(folder)

    def follow(
        self,
        run: str,
        show: Callable[[dict[str, Any]], None] | None = None,
        tracker: Tracker | None = None,
    ) -> dict[str, Any]:
        """Wait until a run has ended, and for a server that is away; return its last status."""
        looks = [show, None if tracker is None else Following(self, run, tracker)]
        while True:
            with suppress(UnreachableError):
                found: dict[str, Any] = self.status(run)["runs"][0]
                for look in filter(None, looks):
                    look(found)
                if found["state"] not in ("queued", "running"):
                    return found
            time.sleep(LOOK)

    def fit(
        self,
        problem: Problem,
        algorithm: Algorithm,
        *,
        penalty: PenaltySchedule | None = None,
        show: Callable[[dict[str, Any]], None] | None = None,
        tracker: Tracker | None = None,
        **run: Any,
    ) -> Run:
        """Run a job to its end and return what came out."""
        tables = {"problem": to_table(problem), "algorithm": to_table(algorithm), "run": run}
        name = self.submit({**tables, "penalty": penalty_table(penalty) or {}})
        found = self.follow(name, show, tracker)
        if found["state"] == "failed":
            raise FedMFError(f"run {name} failed: {found['status']}")
        return self.result(name)
