"""How many local steps on W a round has: a number, or a schedule over the rounds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from fedmf.checks import check_integer


@dataclass(frozen=True)
class Diminishing:
    """Q2^s = floor(Qhat / s) + 1: many steps at first, one in the end, as Theorem 1 wants."""

    qhat: int

    def __post_init__(self) -> None:
        """Check Qhat."""
        check_integer("qhat", self.qhat, minimum=0)

    def __call__(self, number: int) -> int:
        """Return Q2 of round `number`."""
        return self.qhat // number + 1


Schedule: TypeAlias = int | Callable[[int], int]


def steps_of(schedule: Schedule, number: int) -> int:
    """Return the number of steps in round `number`."""
    count = schedule(number) if callable(schedule) else schedule
    return check_integer("q2", count, minimum=1)
