"""Keeping a run of this process at its last complete round, and showing it while it goes on."""

from __future__ import annotations

from collections.abc import Callable, Container
from os import PathLike
from time import perf_counter
from typing import TypeAlias

from fedmf.arrays import here
from fedmf.engine import Position
from fedmf.private import gather
from fedmf.run import Run, row
from fedmf.runtimes.local import LocalRuntime
from fedmf.stopping import Ending
from fedmf.terms import site_terms

Folder: TypeAlias = str | PathLike[str]


class LocalKeeper:
    """Keeps a run at its last complete round, in memory and in its folder."""

    def __init__(
        self, run: Run, runtime: LocalRuntime, folder: Folder | None, seconds: float
    ) -> None:
        self.run = run
        self._runtime = runtime
        self._folder = folder
        self._seconds = seconds
        self._saved = perf_counter()
        self._done = (run.position, runtime.privates(), len(run.ledger.entries))

    def keep(self, position: Position) -> None:
        """Take over a round: from the assignment on it counts as done."""
        self.run.rows.append(row(position))
        self._done = (position, self._runtime.privates(), len(self.run.ledger.entries))
        if self._folder is not None and perf_counter() - self._saved >= self._seconds:
            s = position.round
            self._complete(
                Ending(False, f"saved in round {s} while it was running; resume goes on")
            )
            self.run.save(self._folder)
            self._saved = perf_counter()

    def look(self) -> Run:
        """Return the run as of its last complete round, while it goes on."""
        self._complete(Ending(False, "running"))
        return self.run

    def interrupted(self) -> Run:
        """Return the run as of its last complete round, after Ctrl-C: at once, without `terms`."""
        s = self._done[0].round
        self._complete(Ending(False, f"stopped by the user after round {s}; resume goes on"))
        return self._save()

    def finish(self, ending: Ending) -> Run:
        """Return the run, ended for this reason."""
        self._complete(ending)
        run, hosts = self.run, self._runtime.hosts
        H = [here(host.private.H) for host in hosts]
        run.terms = site_terms(run.goal, [host.data for host in hosts], run.W, H)
        return self._save()

    def _save(self) -> Run:
        """Save the run where it has a folder."""
        if self._folder is not None:
            self.run.save(self._folder)
        return self.run

    def _complete(self, ending: Ending) -> None:
        """Bring the run to its last complete round; nothing of a later one stays."""
        run, (position, privates, entries) = self.run, self._done
        del run.ledger.entries[entries:]
        del run.rows[position.round :]
        run.position, run.private = position, gather(privates)
        run.converged, run.status = ending
        run.terms = None


class Looker:
    """Shows the run to a user's function, in the rounds that the user named."""

    def __init__(
        self,
        keeper: LocalKeeper,
        inspect: Callable[[Run], None] | None,
        numbers: Container[int] | None,
    ) -> None:
        self._keeper, self._inspect, self._numbers = keeper, inspect, numbers

    def __call__(self, number: int) -> None:
        """Show the run after this round, if it is one of them."""
        if self._inspect is not None and (self._numbers is None or number in self._numbers):
            self._inspect(self._keeper.look())
