"""What a start is: a method of its own before round 1, over the same runtime and ledger."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.engine import Federation, converse
from fedmf.ledger import SETUP
from fedmf.messages import Exchange, Task
from fedmf.problem import Goal


@dataclass(frozen=True)
class Start(ABC):
    """A start: settings, a server's side and a site's side, no state of its own.

    Where it finds a W0, every site ends with its own H0 as its private state, a `Given` of
    `fedmf.algorithms.base`. Where it does not, the sites have no state, and the paper's random
    start follows.
    """

    name: ClassVar[str]

    @abstractmethod
    def tasks(self) -> dict[str, Task]:
        """Return what a site can be asked, by name."""

    @abstractmethod
    def run(
        self, goal: Goal, everyone: IntArray, dtype: np.dtype[Any], seed: int
    ) -> Exchange[Array | None]:
        """Return W0, (M, K), or None for a random one."""


def begin_at(
    start: Start, goal: Goal, federation: Federation, dtype: np.dtype[Any], seed: int
) -> Array | None:
    """Hold a start's exchange in round 0; return W0, the sites keep H0."""
    runtime, _, ledger = federation
    exchange = start.run(goal, federation.everyone, dtype, seed)
    return converse(exchange, start, goal, runtime, ledger, SETUP)
