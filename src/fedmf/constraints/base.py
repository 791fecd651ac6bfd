"""What a constraint is: a closed convex set and the projection onto it."""

from __future__ import annotations

from abc import ABC, abstractmethod

from fedmf.arrays import Array


class Constraint(ABC):
    """A closed convex set of matrices."""

    @abstractmethod
    def project(self, A: Array) -> Array:
        """Return the nearest point of the set, in A's dtype; a new array, or A where inside."""

    @property
    def interval(self) -> tuple[float, float] | None:
        """The bounds of every entry where the set is that simple, for the compiled kernels."""
        return None
