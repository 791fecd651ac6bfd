"""The runs that a server knows of, each in a folder of its own."""

from __future__ import annotations

import json
import logging
import os
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from threading import Condition, RLock
from typing import Any, NamedTuple

from fedmf.errors import FedMFError, MissingDataError, ParameterError
from fedmf.files import write_text
from fedmf.network.checkpoints import Checkpoints
from fedmf.network.frames import Frame, pack
from fedmf.network.jobs import Job
from fedmf.network.runtime import Factor, NetworkRuntime
from fedmf.storage import MODEL
from fedmf.wire import encode

UNFINISHED = ("queued", "running")
WARNING = "warning: "
TAIL, MOST_WARNINGS = 2**16, 20  # bytes of the log that are looked at; warnings that are shown
log = logging.getLogger("fedmf.server")


class History(NamedTuple):
    """The course of a run."""

    rows: list[dict[str, Any]]  # one a round
    before: dict[str, Any]  # F at the start, and what was sent before round 1


class Record:
    """One run: its job, its state, its log."""

    def __init__(self, folder: Path, sites: Sequence[str]) -> None:
        self.name, self._folder, self._sites = folder.name, folder, tuple(sites)
        self.job = Job.of(json.loads((folder / "job.json").read_text(encoding="utf-8")))
        self.checkpoints, self.result = Checkpoints(folder), folder / "result"
        self._table = json.loads((folder / "status.json").read_text(encoding="utf-8"))
        self._runtime: NetworkRuntime | None = None
        self._lock = RLock()
        self._last: dict[str, Any] = {}
        self._history: History | None = None  # once it was wanted

    @property
    def state(self) -> str:
        """queued, running, done, stopped or failed."""
        return str(self._table["state"])

    def begin(self, runtime: NetworkRuntime) -> None:
        """Note that it is being played."""
        self._runtime = runtime
        if self.state == "queued":
            self.tell("running")
        else:
            self.warn("the server was away; the run goes on from its last complete round")
        self._set(state="running")

    def end(self, state: str, status: str) -> None:
        """Note how it ended."""
        self._runtime = None
        self.tell(f"{state}: {status}")
        self._set(state=state, status=status)

    def stop(self, by: str) -> None:
        """End it after the last complete round."""
        if self.state not in UNFINISHED:
            raise ParameterError(f"run {self.name} has ended already: {self.state}")
        self.tell(f"to be stopped, says {by}")
        self._set(stopping=True)

    def is_stopping(self) -> bool:
        """Whether it is to end."""
        return bool(self._table["stopping"])

    def told(self, site: str) -> None:
        """Note that a site knows of the end."""
        with self._lock:
            self._set(told=sorted({*self._table["told"], site}))

    def tell(self, line: str) -> None:
        """Write a line of the log."""
        now = datetime.now(UTC).isoformat(sep=" ", timespec="seconds")
        try:
            with (self._folder / "log.txt").open("a", encoding="utf-8") as file:
                file.write(f"{now} {line}\n")
        except OSError as error:  # a log on a full disk is no reason to end a run
            log.warning("run %s: %s (not in its log: %s)", self.name, line, error)

    def warn(self, line: str) -> None:
        """Write a line of the log that somebody should see."""
        self.tell(f"{WARNING}{line}")

    def warnings(self) -> list[list[str]]:
        """Return the time and the text of the last warnings, the newest last."""
        path = self._folder / "log.txt"
        if not path.exists():
            return []
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL))
            lines = file.read().decode(errors="replace").splitlines()
        found = [line.partition(f" {WARNING}") for line in lines]
        return [[time, text] for time, warning, text in found if warning][-MOST_WARNINGS:]

    def show(self, row: dict[str, Any]) -> None:
        """Take notice of a round, which is in the checkpoint by now."""
        with self._lock:
            self._last = row
            if self._history is not None:
                self._history.rows.append(row)

    def history(self) -> History:
        """Return the course of the run so far."""
        with self._lock:
            if self._history is None:
                saved = Checkpoints(self._folder).load()
                if saved is None:
                    return History([], {})
                run = saved[0]
                before = {"objective": run.initial_objective, **run.ledger.first()}
                self._history = History(run.rows, before)
            return self._history._replace(rows=list(self._history.rows))

    def log(self, start: int, most: int) -> bytes:
        """Return the log from a byte on."""
        with (self._folder / "log.txt").open("rb") as file:
            file.seek(start)
            return file.read(most)

    def model(self) -> bytes:
        """Return the finished run's model."""
        path = self.result / MODEL
        if self.state in UNFINISHED or not path.is_file():
            raise MissingDataError(f"run {self.name} has no result: it is {self.state}")
        return path.read_bytes()

    def status(self, *, full: bool) -> dict[str, Any]:
        """Return how it stands, in plain values."""
        runtime = self._runtime
        waiting = [] if runtime is None else [self._sites[site] for site in runtime.waiting]
        about = {
            "run": self.name, "waiting": waiting, "rounds": self.job.run["rounds"],
            "label": self.job.federation["label"], "algorithm": self.job.algorithm["name"],
            "last": self._last,
        }  # fmt: skip
        more = {"job": self.job.tables, "warnings": self.warnings()} if full else {}
        return {**self._table, **about, **more}

    def farewells(self) -> dict[str, bytes]:
        """Return what is to be sent to the sites that do not know of the end yet."""
        left = [site for site in self._sites if site not in self._table["told"]]
        try:
            saved = self.checkpoints.load()
        except FedMFError:
            saved = None
        header = {"kind": "end", "run": self.name, "seq": -1, "job": self.job.tables,
                  "state": self.state, "status": self._table["status"]}  # fmt: skip
        if saved is None:
            return {site: pack(Frame({**header, "after": 0})) for site in left}
        run, marks = saved
        body, after = encode(Factor(run.W)), dict(zip(self._sites, marks.after, strict=True))
        return {site: pack(Frame({**header, "after": after[site]}, body)) for site in left}

    def _set(self, **changes: Any) -> None:
        with self._lock:
            self._table = {**self._table, **changes}
            write_text(self._folder / "status.json", json.dumps(self._table, indent=1))


class Records:
    """All runs, by name, in the order in which they were submitted."""

    def __init__(self, folder: Path, sites: Sequence[str]) -> None:
        self._folder, self._sites, self._changed = folder, tuple(sites), Condition()
        self._closed = False
        folder.mkdir(parents=True, exist_ok=True)
        found = sorted(path.parent for path in folder.glob("*/status.json"))
        self._all = {path.name: record for path in found if (record := self._read(path))}

    def add(self, job: Job, by: str) -> Record:
        """Take a new job."""
        now = datetime.now(UTC)
        folder = self._folder / f"{now:%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
        folder.mkdir()
        write_text(folder / "job.json", json.dumps(job.tables, indent=1))
        table = {"state": "queued", "status": "", "stopping": False, "told": [], "by": by,
                 "submitted": now.isoformat(timespec="seconds")}  # fmt: skip
        write_text(folder / "status.json", json.dumps(table, indent=1))
        with self._changed:
            record = self._all[folder.name] = Record(folder, self._sites)
            self._changed.notify_all()
        return record

    def find(self, name: str) -> Record:
        """Return a run by its name, or by the beginning of it."""
        found = [record for own, record in self._all.items() if own.startswith(name)]
        if len(found) != 1:
            many = f"{len(found)} runs begin with" if found else "there is no run"
            raise ParameterError(f"{many} {name!r}: see `fedmf status`")
        return found[0]

    def get(self, name: str) -> Record:
        """Return the run of this very name."""
        if name not in self._all:
            raise ParameterError(f"this server knows no run {name[:80]!r}")
        return self._all[name]

    def all(self) -> list[Record]:
        """Return all runs."""
        return list(self._all.values())

    def ended(self) -> list[Record]:
        """Return those that have ended."""
        return [record for record in self._all.values() if record.state not in UNFINISHED]

    def next(self) -> Record | None:
        """Wait for a run that is to be played and return it; None: no more."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self.unfinished())
            return None if self._closed else self.unfinished()[0]

    def close(self) -> None:
        """Hand out no more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _read(self, path: Path) -> Record | None:
        """Return a run that was there before; one that cannot be read does not stop the others."""
        try:
            return Record(path, self._sites)
        except (FedMFError, ValueError, KeyError, OSError) as error:
            log.error("%s is left out, it cannot be read: %s", path, error)  # noqa: TRY400
            return None

    def unfinished(self) -> list[Record]:
        """Return those that are to be played, the one that has begun first."""
        waiting = [record for record in self._all.values() if record.state in UNFINISHED]
        return sorted(waiting, key=lambda record: record.state != "running")
