"""A run once more, step by step, with all that the theorems speak of at every step.

The steps are Algorithm 1's and 2's one by one, in double precision. The points are

    FedMAvg   W~ (the projected average of the sites' W_p, equation (20)), and H
    FedMGS    W, and H~: H as it would be if every site took part in the round, equation (33)

zeta^2 of (18) and phi^2 of (19) are taken where the proofs use them: at (W~, H) before each local
step on W.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedmf.arrays import Array
from fedmf.border import as_sites, as_start
from fedmf.engine import set_up
from fedmf.errors import ParameterError
from fedmf.problem import Goal, Problem
from fedmf.run import Run
from fedmf.runtimes.local import LocalRuntime
from fedmf.theory.plan import Plan, Turn, plan_of
from fedmf.theory.scene import BlockW, Curvature, Scene, end_of, scene_of, start_of, step
from fedmf.theory.stationary import gap_H, gap_W

if TYPE_CHECKING:
    import pandas as pd

# How far a replay may end from its run, relative to the largest entry.
CLOSE = {"float64": 1e-10, "float32": 1e-3}


@dataclass(frozen=True)
class Round:
    """What a round's steps were like; arrays (P,) hold one entry a site."""

    turn: Turn
    c: Array  # (P,), c_p
    d: float
    guarded: bool  # whether a site took a larger divisor than d
    lipschitz_H: Array  # (P,), L_Hp
    curvature: Curvature  # L_W of this round
    zeta2: float  # of (18); FedMGS needs none: 0
    phi2: float  # of (19)
    G_H: Array  # (Q1,), before each step on H
    G_W: Array  # (Q2,), before each step on W


@dataclass(frozen=True)
class Trace:
    """A run step by step, and where it ended."""

    goal: Goal
    plan: Plan
    omega: Array  # (P,)
    rounds: Sequence[Round]
    objective: float  # F(W, H) where it began
    inside: bool  # whether it began inside the sets for W and H
    W: Array  # (M, K)
    H: Array  # (K, N), all sites side by side

    @property
    def steps(self) -> int:
        """T, the number of all inner steps."""
        return sum(len(each.G_H) + len(each.G_W) for each in self.rounds)

    @property
    def average(self) -> float:
        """The left side of the theorems: the average of G_H and G_W over all inner steps."""
        return float(sum(each.G_H.sum() + each.G_W.sum() for each in self.rounds)) / self.steps

    def table(self) -> pd.DataFrame:
        """Return a row an inner step: round, step, block ("H" or "W"), gap."""
        import pandas as pd

        rows = [
            (s, t, "H" if t <= len(each.G_H) else "W", gap)
            for s, each in enumerate(self.rounds, start=1)
            for t, gap in enumerate((*each.G_H, *each.G_W), start=1)
        ]
        return pd.DataFrame(rows, columns=["round", "step", "block", "gap"])


class _Walked(NamedTuple):
    """Where W came to in a round, and what was measured on the way."""

    W: Array
    G_W: Array
    zeta2: float = 0.0
    phi2: float = 0.0


def trace(sites: Any, run: Run, init: Any = None) -> Trace:
    """Replay a finished run of FedMAvg or FedMGS with the squared loss.

    `init` is what `fit` was given. A replay that does not end where the run did is refused.
    """
    plan = plan_of(run)
    scene, data = scene_of(sites, run)
    replayed = _follow(scene, plan, *start_of(run, scene, data, init))
    for name, mine, its in zip("WH", (replayed.W, replayed.H), end_of(run), strict=True):
        apart = float(np.abs(mine - its).max()) / max(float(np.abs(its).max()), 1e-300)
        allowed = CLOSE[run.W.dtype.name]
        if not apart <= allowed:
            raise ParameterError(
                f"the replay's {name} is {apart:.1e} from the run's, {allowed:.0e} is allowed: the "
                "run did not take the steps of Algorithm 1 or 2 from this start"
            )
    return replayed


def follow(sites: Any, problem: Problem, plan: Plan, start: tuple[Any, Sequence[Any]]) -> Trace:
    """Follow a plan from (W0, [H0 of each site]), with whatever step sizes it has."""
    data = as_sites(sites)
    known, _ = set_up(LocalRuntime(data.rows))
    W, H = as_start(start, data, problem.rank)
    scene = Scene(problem.goal(known), data)
    return _follow(scene, plan, W.astype(float), np.concatenate(H, axis=1).astype(float))


def _follow(scene: Scene, plan: Plan, W: Array, H: Array) -> Trace:
    goal = scene.goal
    if not goal.squared:
        raise ParameterError(
            f"the theorems are traced for the squared loss, not {goal.loss.name!r}"
        )
    if not plan.turns:
        raise ParameterError("there is no round to replay")
    if not plan.sharing:
        W = goal.w_set.project(W)
    onto = (W, goal.w_set), (H, goal.h_set)
    inside = all(np.array_equal(part, its_set.project(part)) for part, its_set in onto)
    F, rounds = scene.objective(W, H, plan.turns[0].rho), []
    for turn in plan.turns:
        W, H, done = _round(scene, plan, turn, W, H)
        rounds.append(done)
    return Trace(goal, plan, scene.omega, rounds, F, inside, W, H)


def _round(scene: Scene, plan: Plan, turn: Turn, W: Array, H: Array) -> tuple[Array, Array, Round]:
    before = scene.curvature_W(W, H)
    L = scene.lipschitz_H(W, H, turn.rho)
    c = plan.c(L)
    active = scene.spread(plan.active(turn, len(L)))
    better, G_H = _improve_H(scene, plan.q1, turn.rho, scene.spread(c), W, H)
    H = np.where(active, better, H)
    after = scene.curvature_W(W, H)
    d, block = plan.d(before if plan.lagged else after), scene.at_H(H)
    own = np.maximum(d, plan.guard * after.own) if turn.q2 > 1 else np.full(len(L), d)
    if plan.sharing:
        walked = _share(scene, turn.q2, d, block, W)
    else:
        walked = _average(scene, turn.q2, d, own, plan.weight(turn, scene.omega), block, W)
    guarded = bool((own > d).any()) and not plan.sharing
    measured = walked.zeta2, walked.phi2, G_H, walked.G_W
    return walked.W, H, Round(turn, c, d, guarded, L, after, *measured)


def _improve_H(
    scene: Scene, steps: int, rho: float, c: Array, W: Array, H: Array
) -> tuple[Array, Array]:
    """Take the steps on H at every site, c given for each sample; return H and every G_H."""
    block, onto, gaps = scene.at_W(W, rho), scene.goal.h_set, []
    for _ in range(steps):
        gradient = block.gradient(H)
        gaps.append(gap_H(H, gradient, c, block.omega, onto))
        H = step(H, gradient, c, onto)
    return H, np.array(gaps)


def _share(scene: Scene, steps: int, d: float, block: BlockW, W: Array) -> _Walked:
    """Take Algorithm 2's steps on W; return it and every G_W."""
    onto, gaps = scene.goal.w_set, []
    A, V = (np.tensordot(scene.omega, part, axes=1) for part in block)
    for _ in range(steps):
        gradient = W @ A - V
        gaps.append(gap_W(W, gradient, d, onto))
        W = step(W, gradient, d, onto)
    return _Walked(W, np.array(gaps))


def _average(
    scene: Scene, steps: int, d: float, own: Array, weight: Array, block: BlockW, W: Array
) -> _Walked:
    """Take Algorithm 1's steps on every W_p; return the projected average and every G_W."""
    onto, gaps, zeta2, phi2 = scene.goal.w_set, [], 0.0, 0.0
    W_p = np.repeat(W[None], len(weight), axis=0)
    for _ in range(steps):
        gradients = block.gradients(W)
        gradient = np.tensordot(scene.omega, gradients, axes=1)
        zeta2 = max(zeta2, float(((gradients - gradient) ** 2).sum(axis=(1, 2)).max()))
        phi2 = max(phi2, float((gradient**2).sum()))
        gaps.append(gap_W(W, gradient, d, onto))
        divisor = np.where(own > 0, own, 1.0)[:, None, None]
        W_p = W_p - block.gradients(W_p) / divisor
        W = onto.project(np.tensordot(weight, W_p, axes=1))
    return _Walked(W, np.array(gaps), zeta2, phi2)
