"""What a tracker is: told the rows of a history as they come, it writes them somewhere else."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from importlib import import_module
from math import isfinite
from types import ModuleType, TracebackType
from typing import Any, ClassVar, Protocol, Self
from warnings import warn

from fedmf.engine import Position
from fedmf.errors import ParameterError
from fedmf.run import row

Row = Mapping[str, Any]


class Tracker(ABC):
    """Writes the rounds of one run; a callback of `fedmf.fit`, and a context that ends with it.

    A place that can no longer be written to ends the tracking with a warning, not the run.
    """

    name: ClassVar[str]

    def __init__(self, where: str) -> None:
        self.begun = self._ended = False
        self._open(where)

    def begin(self, name: str = "", settings: Row | None = None) -> Self:
        """Begin a run under this name, with settings to be shown beside it; return the tracker."""
        self.begun = True
        name = name or f"{datetime.now():%Y%m%d-%H%M%S}"
        self._safely(self._begin, name, {key: str(value) for key, value in flat(settings).items()})
        return self

    def __call__(self, position: Position) -> None:
        """Take a round of `fedmf.fit`."""
        self.rows([row(position)])

    def rows(self, rows: Sequence[Row]) -> None:
        """Take rows of a history."""
        if not self.begun:
            self.begin()
        for one in rows:
            self._safely(self._log, int(one["round"]), figures(one))

    def end(self, status: str, *, well: bool = True) -> None:
        """End the run, once; `status` says in words how it ended."""
        if self.begun and not self._ended:
            self._safely(self._end, status, well)
        self._ended = True

    def __enter__(self) -> Self:
        """Return the tracker."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        place: TracebackType | None,
    ) -> None:
        """End the run."""
        self.end("ended" if kind is None else f"ended by {kind.__name__}", well=kind is None)

    def _safely(self, act: Callable[..., None], *given: Any) -> None:
        if self._ended:
            return
        try:
            act(*given)
        except Exception as error:  # noqa: BLE001 - of another package: the run is worth more
            self._ended = True
            said = " ".join(str(error).split())[:300]
            warn(f"tracking with {self.name} ended, the run goes on: {said}", stacklevel=3)

    @abstractmethod
    def _open(self, where: str) -> None:
        """Refuse a place that cannot be written to, and a package that is not installed."""

    @abstractmethod
    def _begin(self, name: str, settings: Mapping[str, str]) -> None:
        """Begin a run."""

    @abstractmethod
    def _log(self, number: int, figures: Mapping[str, float]) -> None:
        """Write a round."""

    @abstractmethod
    def _end(self, status: str, well: bool) -> None:
        """End the run."""


class Source(Protocol):
    """Who knows a run's history: a `fedmf.Federation`."""

    def history(self, run: str, start: int = 0) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        """Return the rows from one on, and what was before round 1."""


class Following:
    """Tracks a federation's run: called with its status now and then, and once it has ended."""

    def __init__(self, source: Source, run: str, tracker: Tracker) -> None:
        self._source, self._run, self._tracker, self._count = source, run, tracker, 0

    def __call__(self, found: Row) -> None:
        """Hand on the rows that are new."""
        if not self._tracker.begun:
            self._tracker.begin(self._run, found["job"])
        ended = found["state"] not in ("queued", "running")
        if ended or found["last"].get("round", 0) > self._count:
            rows, _ = self._source.history(self._run, self._count)
            self._tracker.rows(rows)
            self._count += len(rows)
        if ended:
            self._tracker.end(found["status"], well=found["state"] != "failed")


def figures(one: Row) -> dict[str, float]:
    """Return the numbers of a row; of lists, such as the participants, how many there are."""
    values = {name: len(value) if isinstance(value, list) else value for name, value in one.items()}
    return {name: float(value) for name, value in values.items()
            if name != "round" and value is not None and isfinite(value)}  # fmt: skip


def flat(tables: Row | None, above: str = "") -> dict[str, Any]:
    """Return the entries of tables in tables under names such as run.seed; none that is not set."""
    found: dict[str, Any] = {}
    for name, value in (tables or {}).items():
        if isinstance(value, Mapping):
            found |= flat(value, f"{above}{name}.")
        elif value is not None and value != "":
            found[f"{above}{name}"] = value
    return found


def package(module: str, extra: str) -> ModuleType:
    """Return a module of an optional package, or say how it is installed."""
    try:
        return import_module(module)
    except ImportError:
        raise ParameterError(
            f'tracking with {extra} needs a package: pip install "fedmf[{extra}]"'
        ) from None
