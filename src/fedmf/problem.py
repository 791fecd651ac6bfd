"""The problem: min F(W, H) over W in the set for W, H_p in the set for H.

    F(W, H) = (1/N) Phi(X, W H) + sum_p R_H(H_p) + R_W(W)
    R_H(H_p) = (rho/2) sum_j ((1'h_j)^2 - ||h_j||^2) + (nu/2) ||H_p||_F^2
    R_W(W)   = (mu/2) ||W||_F^2

`Problem` is what a user asks for; `Goal` is the same with everything that depends on the data
filled in: N, the weights in absolute terms, W's box. R_H is a quadratic form itself:
R_H(H) = (1/2) <H, (rho (11' - I) + nu I) H>.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from fedmf.arrays import Array, Scalar, gram, here, largest_eigenvalue, remember_last
from fedmf.checks import check_integer, check_real, check_type, unknown
from fedmf.constraints import Box, Constraint, Free, Nonnegative
from fedmf.errors import DataError, InputTypeError, ParameterError
from fedmf.kernels import projected_steps
from fedmf.losses import Loss, Squared, find
from fedmf.losses.squared import Quadratic, residual
from fedmf.sites import Cohort


@dataclass(frozen=True)
class Problem:
    """What to minimise.

    Parameters
    ----------
    rank : K, the number of columns of W.
    rho, nu, mu : the weights of R_H and R_W; relative ones are multiplied by ||X||_F^2 / N.
    bounds : W's set: "data" (between the smallest and the largest entry of all data, the paper's),
        (lower, upper), "nonnegative", "free" or a `Constraint`.
    h_bounds : H's set: "nonnegative", "free" or a `Constraint`.
    loss : a loss's name or a `Loss`.
    weights : whether rho, nu and mu are "relative" to the data or "absolute".
    """

    rank: int
    rho: float = 1e-8
    nu: float = 1e-10
    mu: float = 0.0
    bounds: str | tuple[float, float] | Constraint = "data"
    h_bounds: str | Constraint = "nonnegative"
    loss: str | Loss = "squared"
    weights: str = "relative"

    def __post_init__(self) -> None:
        """Check every setting once."""
        check_integer("rank", self.rank, minimum=1)
        for name in ("rho", "nu", "mu"):
            check_real(name, getattr(self, name), minimum=0, finite=True)
        if self.weights not in ("relative", "absolute"):
            raise unknown("weights", self.weights, ("relative", "absolute"))
        if not (isinstance(self.bounds, str) and self.bounds == "data"):
            _constraint("bounds", self.bounds)
        _constraint("h_bounds", self.h_bounds)
        find(self.loss) if isinstance(self.loss, str) else check_type("loss", self.loss, Loss)

    def goal(self, known: Known) -> Goal:
        """Return the problem with the figures of the data filled in."""
        scale = known.squared_norm / known.samples if self.weights == "relative" else 1.0
        given = (known.minimum, known.maximum) if self.bounds == "data" else self.bounds
        w_set, h_set = _constraint("bounds", given), _constraint("h_bounds", self.h_bounds)
        loss = find(self.loss) if isinstance(self.loss, str) else self.loss
        _refuse_negative_data(known, w_set, h_set)
        weights = (float(self.rho) * scale, float(self.nu) * scale, float(self.mu) * scale)
        own = {"scale": scale, "first_rho": float(self.rho)}
        return Goal(known, self.rank, loss, w_set, h_set, *weights, **own)


class Known(NamedTuple):
    """The figures of all data together, from the set-up exchange."""

    samples: int
    features: int
    squared_norm: float
    minimum: float
    maximum: float
    mean_absolute: float


class Parts(NamedTuple):
    """The sums over sites that F consists of: each site sends its own three."""

    loss: Scalar  # Phi(X, W H)
    overlap: Scalar  # sum_j (1'h_j)^2 - ||h_j||^2
    energy: Scalar  # ||H||_F^2


@dataclass(frozen=True)
class Goal:
    """A problem on data whose figures are known; every weight is absolute."""

    known: Known
    rank: int
    loss: Loss
    w_set: Constraint
    h_set: Constraint
    rho: float
    nu: float
    mu: float
    scale: float = 1.0  # what relative weights are multiplied by
    first_rho: float = 0.0  # as the problem gives it

    def objective(self, parts: Parts, W: Array, rho: float) -> float:
        """Return F from its sums over the sites."""
        own = self.mu / 2 * float(np.sum(W.astype(np.float64, copy=False) ** 2)) if self.mu else 0.0
        penalty = rho / 2 * parts.overlap + self.nu / 2 * parts.energy
        return float(parts.loss / self.known.samples + penalty + own)

    def penalty(self, rho: float) -> Array:
        """Return the K x K matrix of R_H: rho (11' - I) + nu I."""
        ones, unit = np.ones((self.rank, self.rank)), np.eye(self.rank)
        return rho * (ones - unit) + self.nu * unit

    @property
    def squared(self) -> bool:
        """Whether Phi is the squared loss, whose blocks are quadratic problems."""
        return isinstance(self.loss, Squared)

    def parts(self, data: Cohort, W: Array, H: Array, cross: Array) -> Parts:
        """Return the cohort's terms of F at (W, H); `cross` is W'X."""
        if self.squared:
            loss = residual(data.squared_norm, cross, W, H)
        else:
            loss = self.loss.value(data, W, H)
        return Parts(np.float64(loss), *h_sums(here(H @ H.T)))

    def improve_H(
        self, data: Cohort, W: Array, cross: Array, H: Array, rho: float, steps: int, gamma: float
    ) -> Array:
        """Take `steps` projected gradient steps on H at fixed W, divisor (gamma/2) lambda_max.

        The gradient and the curvature are those of F, for the squared loss N/2 times as large; a
        site's own F_p has both 1/omega_p times as large: factors cancel. `cross` is W'X.
        """
        if self.squared:
            A, curvature = _hessian_H(self, W, rho)
            return descend(Quadratic(A, cross), H, steps, gamma / 2 * curvature, self.h_set)
        N = self.known.samples
        penalty = self.penalty(rho)
        for _ in range(steps):
            curvature = self.loss.curvature_H(data, W, H) / N + largest_eigenvalue(penalty)
            gradient = self.loss.gradient_H(data, W, H) / N + penalty @ H
            H = step(H, gradient, gamma / 2 * curvature, self.h_set)
        return H


@remember_last
def _hessian_H(goal: Goal, W: Array, rho: float) -> tuple[Array, float]:
    """Return N/2 times F's Hessian in a column of H (squared loss), and its largest eigenvalue."""
    A = gram(W).astype(np.float64) + goal.known.samples / 2 * goal.penalty(rho)
    return A, largest_eigenvalue(A)


def h_sums(gram: Array) -> tuple[Scalar, Scalar]:
    """Return sum_j (1'h_j)^2 - ||h_j||^2 and ||H||_F^2 from H H'."""
    total, energy = gram.sum(dtype=np.float64), np.trace(gram, dtype=np.float64)
    return np.float64(total - energy), np.float64(energy)


def descend(q: Quadratic, Z: Array, steps: int, divisor: float, onto: Constraint) -> Array:
    """Take `steps` projected gradient steps on a quadratic."""
    if onto.interval is not None and divisor > 0:
        return projected_steps(q.A, q.B, Z, steps, divisor, onto.interval)
    for _ in range(steps):
        Z = step(Z, q.A @ Z - q.B, divisor, onto)
    return Z


def step(Z: Array, gradient: Array, divisor: float, onto: Constraint) -> Array:
    """Take one projected gradient step; without curvature there is no gradient either."""
    moved = Z - gradient / divisor if divisor > 0 else Z
    return onto.project(moved.astype(Z.dtype, copy=False))


def _constraint(name: str, value: Any) -> Constraint:
    """Return the set that a user's value means."""
    if isinstance(value, Constraint):
        return value
    if isinstance(value, str):
        sets = {"nonnegative": Nonnegative, "free": Free}
        if value not in sets:
            allowed = ("data", *sets) if name == "bounds" else tuple(sets)
            raise unknown(name, value, allowed)
        return sets[value]()
    if not isinstance(value, tuple | list) or len(value) != 2:
        shown = type(value).__name__ if isinstance(value, np.ndarray) else repr(value)
        raise InputTypeError(f"{name} must be a name or a pair (lower, upper), got {shown}")
    lower, upper = (check_real(name, end) for end in value)
    if lower > upper:
        raise ParameterError(f"{name} must have lower <= upper, got ({lower}, {upper})")
    if lower == np.inf or upper == -np.inf:
        raise ParameterError(f"{name} must have a number between them, got ({lower}, {upper})")
    return Box(lower, upper)


def _refuse_negative_data(known: Known, w_set: Constraint, h_set: Constraint) -> None:
    """Refuse negative entries where W H cannot be negative."""
    lowest = [s.interval[0] if s.interval else -np.inf for s in (w_set, h_set)]
    if known.minimum < 0 and min(lowest) >= 0:
        raise DataError(
            f"the data hold negative values (smallest {known.minimum:g}), but W and H are "
            'nonnegative: shift the data, or use bounds="data" or bounds="free"'
        )
