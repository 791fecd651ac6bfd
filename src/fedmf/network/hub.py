"""Where the server's round loop and the calls of the sites meet.

Sites call; the round loop waits. For every site there is one thing that it is to do now. It gets
it whenever it asks, again and again until it has answered, so a site that was restarted or a
connection that broke needs nothing special.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Condition
from typing import NamedTuple

from fedmf.network.frames import Frame

AWAY = 30.0  # seconds of silence of a site without work; it calls more often than that


class Key(NamedTuple):
    """Which request: of which run, and its number there."""

    run: str
    seq: int


class Task(NamedTuple):
    """What a site is to do."""

    key: Key
    data: bytes


class Hub:
    """The sites' tasks and their answers."""

    def __init__(self, sites: int) -> None:
        self._changed = Condition()
        self._tasks: list[Task | None] = [None] * sites
        self._calls = [0] * sites
        self._answers: dict[tuple[int, Key], Frame] = {}
        self._farewells: list[list[Task]] = [[] for _ in range(sites)]
        self._seen = [-1.0] * sites
        self._fetched: list[Key | None] = [None] * sites
        self._closed = False

    def give(self, site: int, key: Key, data: bytes) -> None:
        """Let a site have something to do, in place of what it had."""
        with self._changed:
            self._tasks[site] = Task(key, data)
            self._changed.notify_all()

    def withdraw(self, site: int) -> None:
        """Let a site have nothing to do."""
        with self._changed:
            self._tasks[site] = None

    def farewell(self, site: int, key: Key, data: bytes) -> None:
        """Let a site know of something before all else, until it has answered."""
        with self._changed:
            self._farewells[site].append(Task(key, data))
            self._changed.notify_all()

    def fetch(self, site: int, hold: float) -> bytes | None:
        """Return what a site is to do, waiting for it a while; a newer call of the site ends it."""
        with self._changed:
            self._calls[site] += 1
            self._changed.notify_all()
            own, self._seen[site] = self._calls[site], time.monotonic()
            self._changed.wait_for(
                lambda: self._closed or self._calls[site] != own or self._next(site), hold
            )
            task = self._next(site)
            self._seen[site] = time.monotonic()
            if task is None or self._calls[site] != own or self._closed:
                return None
            self._fetched[site] = task.key
            return task.data

    def take(self, site: int, key: Key, answer: Frame) -> bool:
        """Take an answer if it is the one awaited; return whether it was."""
        with self._changed:
            self._seen[site] = time.monotonic()
            task = self._next(site)
            if task is None or task.key != key:
                return False
            if self._farewells[site]:
                self._farewells[site].pop(0)
                return True
            self._tasks[site] = None
            self._answers[site, key] = answer
            self._changed.notify_all()
            return True

    def _next(self, site: int) -> Task | None:
        return self._farewells[site][0] if self._farewells[site] else self._tasks[site]

    def collect(self, ready: Callable[[], bool], timeout: float | None) -> None:
        """Wait until an answer is there, `ready` says so, or the time is up."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._answers or ready(), timeout)

    def answers(self) -> dict[tuple[int, Key], Frame]:
        """Return the answers that came since the last call."""
        with self._changed:
            found, self._answers = self._answers, {}
            return found

    def nudge(self) -> None:
        """Let whoever waits look again."""
        with self._changed:
            self._changed.notify_all()

    def close(self) -> None:
        """End all waiting."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether the server is going down."""
        return self._closed

    def quiet(self) -> list[float | None]:
        """Return how many seconds ago each site was last heard of; None: never."""
        now = time.monotonic()
        return [None if seen < 0 else now - seen for seen in self._seen]

    def presence(self) -> list[str]:
        """Return of each site whether it is there, at work, away, or was never heard of."""
        with self._changed:
            return [self._word(site, quiet) for site, quiet in enumerate(self.quiet())]

    def _word(self, site: int, quiet: float | None) -> str:
        task = self._tasks[site]
        if quiet is None:
            return "never"
        if task is not None and task.key == self._fetched[site]:
            return "at work"
        return "there" if quiet < AWAY else "away"
