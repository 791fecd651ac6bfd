"""When a run ends, and why, in words."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import NamedTuple

from fedmf.checks import check_integer, check_real
from fedmf.engine import Position


class Ending(NamedTuple):
    """Why a run ended."""

    converged: bool
    status: str


@dataclass
class Stopping:
    """The rules.

    Parameters
    ----------
    rounds : the number of the last round.
    tol : stop when the relative change of F falls below it.
    max_seconds : stop after the first round that ends later than this after the start.
    """

    rounds: int
    tol: float
    max_seconds: float | None = None
    _start: float = field(default_factory=perf_counter)

    def __post_init__(self) -> None:
        """Check the rules once."""
        check_integer("rounds", self.rounds, minimum=1)
        check_real("tol", self.tol, minimum=0)
        if self.max_seconds is not None:
            check_real("max_seconds", self.max_seconds, minimum=0)

    def ending(self, position: Position, *, settled: bool = True) -> Ending | None:
        """Return why the run ends at this position, or None.

        Where the penalty is about to change, the run has not `settled`, however little F changed.
        """
        s = position.round
        if settled and position.change < self.tol:
            change = f"relative change {position.change:.2e} < {self.tol:g}"
            return Ending(True, f"converged in round {s}: {change}")
        if s >= self.rounds:
            return Ending(False, f"stopped at the limit of {self.rounds} rounds")
        if self._late(s):
            return Ending(False, f"stopped in round {s}, after {self.max_seconds:g} seconds")
        return None

    def _late(self, s: int) -> bool:
        """Whether the time is up; round 1 is always played."""
        if self.max_seconds is None or s == 0:
            return False
        return perf_counter() - self._start >= self.max_seconds
