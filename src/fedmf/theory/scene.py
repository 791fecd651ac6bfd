"""All sites' data in double precision, and F seen from one block with the other one fixed.

F = sum_p omega_p F_p, equation (2), and F_p has its data and its R_H by 1/omega_p, equation (3).
Everything here that belongs to a site is in the scale of F_p, as the paper's constants are.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fedmf.algorithms.averaging import Averaging
from fedmf.algorithms.base import Algorithm, Begin, random_H, random_W, start_scale
from fedmf.algorithms.fedmgs import FedMGS
from fedmf.algorithms.local import curvatures
from fedmf.arrays import Array, Rows, largest_eigenvalue
from fedmf.border import Sites, as_sites, as_start
from fedmf.constraints import Constraint
from fedmf.errors import ParameterError
from fedmf.problem import Goal
from fedmf.run import Run
from fedmf.sites import Cohort


class Curvature(NamedTuple):
    """How curved F is in W at some H."""

    own: Array  # (P,), L_Wp of each F_p
    mean: float  # L_W of the paper: sqrt(sum_p omega_p L_Wp^2), an upper bound of the next
    common: float  # the Lipschitz constant of F's own gradient


class BlockH(NamedTuple):
    """F at fixed W: (1/2) <H, A H> - <B, H> and a constant."""

    A: Array  # (K, K)
    B: Array  # (K, N)
    omega: Array  # (N,), of each sample's site

    def gradient(self, H: Array) -> Array:
        """Return the gradients of the F_p in their H_p, side by side."""
        return (self.A @ H - self.B) / self.omega


class BlockW(NamedTuple):
    """Every F_p at fixed H_p: (1/2) <W, W A_p> - <V_p, W> and a constant."""

    A: Array  # (P, K, K)
    V: Array  # (P, M, K)

    def gradients(self, W: Array) -> Array:
        """Return the gradient of each F_p, (P, M, K), at one W for all or at one W_p each."""
        gradients: Array = W @ self.A - self.V
        return gradients


class Scene:
    """A goal and all sites' data side by side."""

    def __init__(self, goal: Goal, sites: Sites) -> None:
        self.goal = goal
        self.data = _together([own.astype(np.float64) for own in sites.rows])

    @cached_property
    def omega(self) -> Array:
        """N_p / N of each site, (P,)."""
        share: Array = self.data.sizes / self.goal.known.samples
        return share

    def spread(self, per_site: NDArray[Any]) -> NDArray[Any]:
        """Repeat a site's number for each of its samples."""
        return self.data.spread(per_site)

    def objective(self, W: Array, H: Array, rho: float) -> float:
        """Return F(W, H)."""
        return self.goal.objective(self.goal.parts(self.data, W, H, self.data.cross(W)), W, rho)

    def gradient_H(self, W: Array, H: Array, rho: float) -> Array:
        """Return the gradients of the F_p in H_p, side by side, with any loss."""
        of_phi = self.goal.loss.gradient_H(self.data, W, H) / self.goal.known.samples
        gradient: Array = (of_phi + self.goal.penalty(rho) @ H) / self.spread(self.omega)
        return gradient

    def gradient_W(self, W: Array, H: Array) -> Array:
        """Return the gradient of F in W, with any loss."""
        of_phi = self.goal.loss.gradient_W(self.data, W, H) / self.goal.known.samples
        gradient: Array = of_phi + self.goal.mu * W
        return gradient

    def lipschitz_H(self, W: Array, H: Array, rho: float) -> Array:
        """Return L_Hp of each F_p at this W, (P,)."""
        N, penalty = self.goal.known.samples, self.goal.penalty(rho)
        if self.goal.squared:
            return largest_eigenvalue(2 / N * (W.T @ W) + penalty) / self.omega
        parts = zip(self.data.apart(), self.data.split(H), strict=True)
        own = np.array([self.goal.loss.curvature_H(site, W, part) for site, part in parts])
        bounds: Array = (own / N + largest_eigenvalue(penalty)) / self.omega
        return bounds

    def curvature_W(self, W: Array, H: Array) -> Curvature:
        """Return the Lipschitz constants in W at this H."""
        matrices, mu = curvatures(self.goal, self.data, W, H), self.goal.mu
        own = np.linalg.eigvalsh(matrices)[:, -1] / self.data.sizes + mu
        common = largest_eigenvalue(matrices.sum(axis=0)) / self.goal.known.samples + mu
        return Curvature(own, float(np.sqrt(self.omega @ own**2)), common)

    def at_W(self, W: Array, rho: float) -> BlockH:
        """Return F at fixed W, for the squared loss."""
        factor = 2 / self.goal.known.samples
        A = factor * (W.T @ W) + self.goal.penalty(rho)
        return BlockH(A, factor * self.data.cross(W), self.spread(self.omega))

    def at_H(self, H: Array) -> BlockW:
        """Return every F_p at fixed H, for the squared loss."""
        factor = (2 / self.data.sizes)[:, None, None]
        A = factor * self.data.grams(H) + self.goal.mu * np.eye(self.goal.rank)
        parts = zip(self.data.apart(), self.data.split(H), strict=True)
        return BlockW(A, factor * np.stack([site.moment(part) for site, part in parts]))


def step(Z: Array, gradient: Array, divisor: Array | float, onto: Constraint) -> Array:
    """Return Z after one projected step; without curvature there is no gradient either."""
    moved = np.divide(gradient, divisor, out=np.zeros_like(Z), where=np.asarray(divisor) > 0)
    return onto.project(Z - moved)


def scene_of(sites: Any, run: Run) -> tuple[Scene, Sites]:
    """Return the scene of a run; refuse sites that are not its own."""
    data = as_sites(sites)
    scene = Scene(run.goal, data)
    known, norm = run.goal.known, scene.data.squared_norm
    same = np.array_equal(scene.data.sizes, run.sizes) and data.rows[0].shape[1] == known.features
    if not same or not np.isclose(norm, known.squared_norm, rtol=1e-6, atol=0):
        raise ParameterError(
            f"these are not the sites of the run, which had {len(run.sizes)} sites with "
            f"{known.samples} samples and ||X||^2 = {known.squared_norm:g}"
        )
    return scene, data


def start_of(run: Run, scene: Scene, data: Sites, init: Any) -> tuple[Array, Array]:
    """Return (W0, H0 of all sites side by side) of a run; refuse a start that is not its own.

    `init` is what `fit` was given: None for the paper's random start.
    """
    if init is None:
        W = random_W(run.goal, data.dtype, run.seed)
        order = Begin(np.float64(start_scale(run.goal)), np.int64(run.seed))
        H = random_H(run.goal.rank, order, _together(data.rows))
    else:
        given = (init.W, init.H) if isinstance(init, Run) else init
        W, parts = as_start(given, data, run.goal.rank)
        H = np.concatenate(parts, axis=1)
    W, H = W.astype(np.float64), H.astype(np.float64)
    if isinstance(run.algorithm, Averaging):
        W = run.goal.w_set.project(W)
    F = scene.objective(W, H, run.goal.rho)
    if not np.isclose(F, run.initial_objective, rtol=1e-6, atol=1e-9 * run.goal.scale):
        raise ParameterError(
            f"this is not the start of the run: F is {F:.6g} here and was "
            f"{run.initial_objective:.6g} there; pass the init that fit was given"
        )
    return W, H


def end_of(run: Run) -> tuple[Array, Array]:
    """Return (W, H of all sites side by side) of a run, in double precision."""
    return run.W.astype(np.float64), np.concatenate(run.H, axis=1).astype(np.float64)


def factors(algorithm: Algorithm) -> tuple[float, float]:
    """Return c / L_H and d / L of an algorithm, L the Lipschitz constant of grad_W F."""
    if isinstance(algorithm, FedMGS):
        return algorithm.gamma_h / 2, algorithm.gamma_w / 2
    if isinstance(algorithm, Averaging):
        return algorithm.gamma_h / 2, algorithm.divisor
    raise ParameterError(f"the theory has no step sizes for the algorithm {algorithm.name!r}")


def _together(rows: list[Rows]) -> Cohort:
    """Return all sites as one cohort, a block each."""
    edges = np.concatenate([[0], np.cumsum([own.shape[0] for own in rows])])
    return Cohort(tuple(rows), np.arange(len(rows)), edges)
