"""lower <= a <= upper for every entry: the paper's set for W."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fedmf.arrays import Array
from fedmf.constraints.base import Constraint


@dataclass(frozen=True)
class Box(Constraint):
    """All matrices with entries between `lower` and `upper`."""

    lower: float
    upper: float

    def project(self, A: Array) -> Array:
        """Return argmin of ||Z - A||_F over lower <= Z <= upper: each entry clipped."""
        return np.clip(A, A.dtype.type(self.lower), A.dtype.type(self.upper))

    @property
    def interval(self) -> tuple[float, float]:
        """The two bounds."""
        return (self.lower, self.upper)
