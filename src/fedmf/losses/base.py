"""What a loss brings: its value, both gradients, and bounds of its curvature.

Phi(X, W H) is a sum over the entries, so over the sites; the factor 1/N belongs to the problem.
FedMAvg works with every loss through the methods below. The squared loss has more to offer, since
its gradients are linear: see `fedmf.losses.squared`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from fedmf.arrays import Array
from fedmf.sites import Cohort


class Loss(ABC):
    """An entrywise loss between X (M, n) and W H."""

    name: ClassVar[str]

    @abstractmethod
    def value(self, data: Cohort, W: Array, H: Array) -> float:
        """Return Phi(X, W H)."""

    @abstractmethod
    def gradient_H(self, data: Cohort, W: Array, H: Array) -> Array:
        """Return the (K, n) gradient of Phi in H."""

    @abstractmethod
    def gradient_W(self, data: Cohort, W: Array, H: Array) -> Array:
        """Return the (M, K) gradient of Phi in W."""

    @abstractmethod
    def curvature_H(self, data: Cohort, W: Array, H: Array) -> float:
        """Return a Lipschitz bound of the gradient in H, at this W."""

    @abstractmethod
    def curvature_W(self, data: Cohort, W: Array, H: Array) -> Array:
        """Return a (k, k) matrix whose largest eigenvalue bounds the curvature in W.

        Such matrices of several sites add up to one for all of them; a loss that has no more than
        a Lipschitz bound returns it as a 1 x 1 matrix.
        """
