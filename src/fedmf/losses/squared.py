"""Phi(X, W H) = ||X - W H||_F^2, the paper's loss.

Its gradients are linear in W and in H, so each block is a small quadratic problem: many steps
need one product with X.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedmf.arrays import Array, here, largest_eigenvalue
from fedmf.kernels import inner, outer
from fedmf.losses.base import Loss
from fedmf.sites import Cohort


class Squared(Loss):
    """The squared Frobenius norm of the residual."""

    name = "squared"

    def value(self, data: Cohort, W: Array, H: Array) -> float:
        """Return ||X - W H||_F^2 from W'X, W'W and H H'."""
        return residual(data.squared_norm, data.cross(W), W, H)

    def gradient_H(self, data: Cohort, W: Array, H: Array) -> Array:
        """Return 2 (W'W H - W'X)."""
        return 2 * ((W.T @ W) @ H - data.cross(W))

    def gradient_W(self, data: Cohort, W: Array, H: Array) -> Array:
        """Return 2 (W H H' - X H')."""
        return 2 * (W @ here(H @ H.T) - data.moment(H))

    def curvature_H(self, data: Cohort, W: Array, H: Array) -> float:
        """Return 2 lambda_max(W'W)."""
        return 2 * largest_eigenvalue(W.T @ W)

    def curvature_W(self, data: Cohort, W: Array, H: Array) -> Array:
        """Return 2 H H'."""
        return 2 * (H @ H.T)


class Quadratic(NamedTuple):
    """(1/2) <Z, A Z> - <B, Z> in a block Z of shape (K, n)."""

    A: Array  # (K, K), symmetric
    B: Array  # (K, n)


def residual(squared_norm: float, cross: Array, W: Array, H: Array) -> float:
    """Return ||X - W H||^2 = ||X||^2 - 2 <W'X, H> + <W'W, H H'>, in double precision.

    `cross` is W'X (K, n). Where W H is very close to X the terms cancel: the absolute error stays
    near machine precision times ||X||^2, which is what the stopping rule is relative to.
    """
    return float(squared_norm - 2 * inner(cross, H) + np.sum(outer(W.T) * outer(H)))
