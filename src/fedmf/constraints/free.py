"""No constraint."""

from __future__ import annotations

from dataclasses import dataclass

from fedmf.arrays import Array
from fedmf.constraints.base import Constraint


@dataclass(frozen=True)
class Free(Constraint):
    """All matrices."""

    def project(self, A: Array) -> Array:
        """Return A: it is its own nearest point."""
        return A

    @property
    def interval(self) -> tuple[float, float]:
        """The whole line."""
        return (-float("inf"), float("inf"))
