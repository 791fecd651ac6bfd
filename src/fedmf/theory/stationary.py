"""How far from stationary a run is: G_H and G_W, equations (21) and (22).

    G_H(W, H) = sum_p omega_p c_p^2 ||H_p - P_H(H_p - grad_H F_p(W, H_p) / c_p)||_F^2        (21)
    G_W(W, H) = d^2 ||W - P_W(W - grad_W F(W, H) / d)||_F^2                                  (22)

Both are zero exactly at the stationary points. Where no bound is active they are squared norms of
gradients and do not depend on the step sizes: sum_p omega_p ||grad_H F_p||^2 and ||grad_W F||^2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from fedmf.arrays import Array
from fedmf.constraints import Constraint
from fedmf.run import Run
from fedmf.theory.scene import Scene, end_of, factors, scene_of, start_of, step


class Gap(NamedTuple):
    """G_H and G_W at one point."""

    H: float
    W: float


class Gaps(NamedTuple):
    """The two gaps where a run began and where it ended."""

    start: Gap
    end: Gap

    @property
    def relative(self) -> Gap:
        """The end's gaps as shares of the start's; NaN where the start had none."""
        pairs = zip(self.end, self.start, strict=True)
        return Gap(*(end / start if start > 0 else float("nan") for end, start in pairs))


def stationarity(sites: Any, run: Run) -> Gap:
    """Return G_H and G_W where the run ended, with its own step sizes there."""
    scene, _ = scene_of(sites, run)
    return _gap(scene, run, *end_of(run), run.rho)


def gaps(sites: Any, run: Run, init: Any = None) -> Gaps:
    """Return G_H and G_W where the run began and where it ended.

    `init` is what `fit` was given. Both points are measured with the penalty of the end.
    """
    scene, data = scene_of(sites, run)
    start, rho = start_of(run, scene, data, init), run.rho
    return Gaps(_gap(scene, run, *start, rho), _gap(scene, run, *end_of(run), rho))


def gap_H(H: Array, gradient: Array, c: Array, omega: Array, onto: Constraint) -> float:
    """Return G_H of equation (21); c and omega are given for each sample, (N,)."""
    return float(np.sum(omega * c**2 * (H - step(H, gradient, c, onto)) ** 2))


def gap_W(W: Array, gradient: Array, d: float, onto: Constraint) -> float:
    """Return G_W of equation (22)."""
    return d**2 * float(np.sum((W - step(W, gradient, d, onto)) ** 2))


def _gap(scene: Scene, run: Run, W: Array, H: Array, rho: float) -> Gap:
    goal, (of_c, of_d) = scene.goal, factors(run.algorithm)
    c = scene.spread(of_c * scene.lipschitz_H(W, H, rho))
    d = of_d * scene.curvature_W(W, H).common
    of_H = gap_H(H, scene.gradient_H(W, H, rho), c, scene.spread(scene.omega), goal.h_set)
    return Gap(of_H, gap_W(W, scene.gradient_W(W, H), d, goal.w_set))
