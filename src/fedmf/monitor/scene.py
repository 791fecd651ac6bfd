"""What there is to see of a federation at one moment, and whoever looks again and again."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import median
from threading import Lock
from typing import Any, NamedTuple, Protocol

from fedmf.errors import FedMFError

WINDOW = 50  # rounds for which it is shown who answered
RECENT = 20  # rounds by whose time the time left is told
ANSWERED, MISSING, SILENT = "answered", "missing", "not asked"

Row = dict[str, Any]


class Source(Protocol):
    """Who can be asked: a `fedmf.Federation`."""

    name: str

    def status(self, run: str | None = None) -> dict[str, Any]:
        """Return how the federation stands: its sites, and all runs or one of them."""

    def history(self, run: str, start: int = 0) -> tuple[list[Row], dict[str, Any]]:
        """Return the rows of a run's history from one on, and what was before round 1."""


class Site(NamedTuple):
    """A site."""

    name: str
    presence: str
    quiet: float | None  # seconds since it was last heard of
    marks: tuple[str, ...]  # of each round in the window: did it answer?

    @property
    def asked(self) -> int:
        """In how many of these rounds it was asked."""
        return len(self.marks) - self.marks.count(SILENT)

    @property
    def answered(self) -> int:
        """In how many of these rounds it answered."""
        return self.marks.count(ANSWERED)


@dataclass(frozen=True)
class Course:
    """A run: how it stands and how it got there."""

    about: dict[str, Any]  # the server's words on it
    rows: list[Row] = field(default_factory=list)
    before: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """What it is called."""
        return str(self.about["run"])

    @property
    def going(self) -> bool:
        """Whether it has not ended."""
        return is_going(self.about)

    @property
    def round(self) -> int:
        """The last complete round."""
        return len(self.rows)

    @property
    def window(self) -> list[Row]:
        """The last rounds."""
        return self.rows[-WINDOW:]

    @property
    def objectives(self) -> list[float]:
        """F at the start and after each round."""
        first = [self.before["objective"]] if self.before else []
        return first + [row["objective"] for row in self.rows]

    @property
    def changes(self) -> list[float]:
        """The relative change of F in each round."""
        return [row["change"] for row in self.rows]

    def sent(self, direction: str) -> int:
        """Return the bytes sent, "uplink" or "downlink", those before round 1 included."""
        column = f"{direction}_bytes"
        return int(self.before.get(column, 0) + sum(row[column] for row in self.rows))

    @cached_property
    def spent(self) -> float:
        """The seconds that all rounds took."""
        return float(sum(row["seconds"] for row in self.rows))

    @property
    def left(self) -> float | None:
        """The most seconds that it still takes if rounds go on as they do; None: unknown."""
        if self.about["state"] != "running" or not self.rows:
            return None
        typical: float = median(row["seconds"] for row in self.rows[-RECENT:])
        left: float = typical * max(self.about["rounds"] - self.round, 0)
        limit = self.about.get("job", {}).get("run", {}).get("max_seconds")
        return left if limit is None else min(left, max(limit - self.spent, 0.0))


@dataclass(frozen=True)
class Scene:
    """A federation."""

    name: str
    sites: tuple[Site, ...]
    runs: tuple[dict[str, Any], ...]  # in the order in which they were submitted
    course: Course | None  # of the run that is looked at
    trouble: str = ""  # why this is not how it stands now


class Watcher:
    """Looks at a federation: asks for what is new and remembers the rest.

    Where the server cannot be reached, what was seen last is seen again, with the reason. Several
    threads may look.
    """

    def __init__(self, source: Source) -> None:
        self._source, self._lock = source, Lock()
        self._courses: dict[str, Course] = {}
        self._last: dict[str | None, Scene] = {}
        self._times: dict[str | None, float] = {}
        self._nothing = Scene(source.name, (), (), None)

    def look(self, run: str | None = None, age: float = 0.0) -> Scene:
        """Return how it stands, at most some seconds old; `run` by default is the one at work."""
        with self._lock:
            now = time.monotonic()
            if now - self._times.get(run, -age) >= age:
                self._times[run] = now
                self._last[run] = self._looked(run)
            return self._last[run]

    def _looked(self, run: str | None) -> Scene:
        try:
            found = self._source.status()
            name = run or at_work(found["runs"])
            course = None if name is None else self._course(name)
        except FedMFError as error:
            last = self._last.get(run, self._last.get(None, self._nothing))
            return Scene(last.name, last.sites, last.runs, last.course, str(error))
        sites = seen(found, [] if course is None else course.window)
        return Scene(found["federation"], sites, tuple(found["runs"]), course)

    def _course(self, name: str) -> Course:
        """Return a run's course; its rows are asked for once."""
        (about,) = self._source.status(name)["runs"]
        known = self._courses.get(about["run"], Course(about))
        rows, before = self._source.history(about["run"], known.round)
        course = Course(about, known.rows + rows, before)
        self._courses[course.name] = course
        return course


def is_going(run: dict[str, Any]) -> bool:
    """Whether a run has not ended."""
    return run["state"] in ("queued", "running")


def at_work(runs: Sequence[dict[str, Any]]) -> str | None:
    """Return the run that is played, or else the next, or else the last; None: there is none."""
    for state in ("running", "queued"):
        for run in runs:
            if run["state"] == state:
                return str(run["run"])
    return str(runs[-1]["run"]) if runs else None


def seen(found: dict[str, Any], rows: Sequence[Row]) -> tuple[Site, ...]:
    """Return the sites by number, and whether each answered in these rounds."""
    return tuple(
        Site(
            name,
            found["presence"][name],
            found["sites"][name],
            tuple(_mark(place, row) for row in rows),
        )
        for place, name in enumerate(found["order"])
    )


def _mark(site: int, row: Row) -> str:
    if site in row.get("missing", ()):
        return MISSING
    return ANSWERED if site in row["participants"] else SILENT
