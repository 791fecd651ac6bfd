"""a >= 0 for every entry: the paper's set for H."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedmf.arrays import Array
from fedmf.constraints.base import Constraint


@dataclass(frozen=True)
class Nonnegative(Constraint):
    """All matrices without a negative entry."""

    def project(self, A: Array) -> Array:
        """Return argmin of ||Z - A||_F over Z >= 0: the positive part."""
        return np.maximum(A, A.dtype.type(0))

    @property
    def interval(self) -> tuple[float, float]:
        """From zero up."""
        return (0.0, float("inf"))
