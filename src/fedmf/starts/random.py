"""The paper's random start: W0 and H0 uniform on [0, a), a = sqrt(mean|X| / K).

There is nothing to ask: the server draws W0 and every site its own H0 (see `fedmf.engine.begin`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.messages import Exchange, Task
from fedmf.problem import Goal
from fedmf.starts.base import Start


@dataclass(frozen=True)
class Random(Start):
    """Begin anywhere."""

    name: ClassVar[str] = "random"

    def tasks(self) -> dict[str, Task]:
        """Return nothing that a site could be asked."""
        return {}

    def run(
        self, goal: Goal, everyone: IntArray, dtype: np.dtype[Any], seed: int
    ) -> Exchange[Array | None]:
        """Return None: the random start follows."""
        return None
        yield  # an exchange without a request
