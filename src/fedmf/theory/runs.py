"""What the theorems' bounds are made of, gathered from finished runs.

Every constant is the run's own: a supremum is a maximum along the run, which is where the proofs
use it. Where sites are drawn a theorem is about an expectation, and the constants hold for every
run that the draws can lead to: `Runs` are such runs, from one start, with their chances.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

import numpy as np

from fedmf.arrays import Array
from fedmf.errors import ParameterError
from fedmf.problem import Goal
from fedmf.theory.replay import Round, Trace

Traces: TypeAlias = Trace | Sequence[Trace]


class Runs:
    """The runs that an expectation is taken over; equally likely unless `chances` are given."""

    def __init__(self, traces: Traces, chances: Sequence[float] | None, lower: float) -> None:
        self.traces = [traces] if isinstance(traces, Trace) else list(traces)
        self.lower = lower
        count = len(self.traces)
        if not count:
            raise ParameterError("traces must hold at least one trace, got none")
        self.chances = np.full(count, 1 / count) if chances is None else np.asarray(chances, float)
        if self.chances.shape != (count,) or not np.isclose(self.chances.sum(), 1):
            raise ParameterError(f"chances must be {count} numbers that add up to 1")
        self.first = self.traces[0]
        if not all(_alike(other, self.first) for other in self.traces):
            raise ParameterError("the traces must have one start, and equally many steps a round")

    @property
    def measured(self) -> float:
        """The expected average gap."""
        return float(self.chances @ [trace.average for trace in self.traces])

    @property
    def drop(self) -> float:
        """F at the start less its lower bound."""
        return self.first.objective - self.lower

    @property
    def drawn(self) -> int:
        """The number m of sites that take part in a round."""
        plan = self.first.plan
        return len(self.first.omega) if plan.full else len(plan.turns[0].drawn)

    def every(self, figure: Callable[[Round], Array | float]) -> Array:
        """Return a figure of every round of every run, side by side."""
        rounds = [each for trace in self.traces for each in trace.rounds]
        return np.concatenate([np.atleast_1d(figure(each)) for each in rounds])

    def total(self, figure: Callable[[int], float]) -> float:
        """Return the sum of a function of Q2^s over the rounds."""
        return float(sum(figure(turn.q2) for turn in self.first.plan.turns))

    def broken(self) -> list[str]:
        """Say which of the conditions that all theorems share are not met."""
        c, L_H = self.every(lambda r: r.c), self.every(lambda r: r.lipschitz_H)
        turns = [turn for trace in self.traces for turn in trace.plan.turns]
        goal, rho, partial = self.first.goal, turns[0].rho, not self.first.plan.full
        reasons = {
            "rho changes, and F with it": len({turn.rho for turn in turns}) > 1,
            "F may be negative: pass a lower bound": self.lower == 0 and not _positive(goal, rho),
            "the start lies outside the sets for W and H": not self.first.inside,
            "the number of drawn sites changes": partial and len({len(t.drawn) for t in turns}) > 1,
            "c must be over L_H / 2 at every site": price(c, L_H) == np.inf,
        }
        return [reason for reason, true in reasons.items() if true]


class Averaging:
    """The constants of Theorem 1 and Corollary 1."""

    def __init__(self, runs: Runs, gamma_1: float | None, gamma_2: float | None) -> None:
        self.runs = runs
        self.c, self.L_H = runs.every(lambda r: r.c), runs.every(lambda r: r.lipschitz_H)
        own = runs.every(lambda r: r.curvature.own)
        self.highest_W, self.lowest_W = float(own.max()), float(own.min())
        self.zeta2 = float(runs.every(lambda r: r.zeta2).max())
        self.phi2 = float(runs.every(lambda r: r.phi2).max())
        self.C1 = runs.total(C1)
        self.gamma_1 = gamma(self.c, self.L_H) if gamma_1 is None else gamma_1
        self.gammas_2 = self.actual_gammas if gamma_2 is None else np.array([gamma_2])
        self.gamma_2 = float(self.gammas_2.min())
        self.D = price(self.c, self.L_H, gamma_1) + self._of_W()

    @cached_property
    def actual_gammas(self) -> Array:
        """gamma_2 of every round, d^s / L_W^s."""
        d, L = self.runs.every(lambda r: r.d), self.runs.every(lambda r: r.curvature.mean)
        return np.divide(d, L, out=np.zeros_like(d), where=L > 0)

    @property
    def needed(self) -> float:
        """The least gamma_2 that the theorem allows; with Q2 the largest of any round."""
        if self.lowest_W == 0:
            return np.inf
        q2 = max(turn.q2 for turn in self.runs.first.plan.turns)
        return q2 * float(np.sqrt(2 * (7 + 4 * (self.highest_W / self.lowest_W) ** 2)))

    @property
    def mixed(self) -> float:
        """(11/3) zeta^2 + phi^2."""
        return 11 / 3 * self.zeta2 + self.phi2

    def _of_W(self) -> float:
        """Return D's summand for W, with the worst gamma_2 of any round."""
        if self.gamma_2 <= 1 or self.lowest_W == 0:
            return np.inf
        worst = float(((self.gammas_2**2 + 1) / (self.gammas_2 - 1)).max())
        return 6 * worst * self.highest_W**2 / self.lowest_W

    def table(self) -> dict[str, float]:
        """Return the constants by name."""
        return {
            "gamma_1": self.gamma_1,
            "gamma_2": self.gamma_2,
            "gamma_2 needed": self.needed,
            "L_H": float(self.L_H.max()),
            "highest L_W": self.highest_W,
            "lowest L_W": self.lowest_W,
            "zeta^2": self.zeta2,
            "phi^2": self.phi2,
            "D": self.D,
            "T": self.runs.first.steps,
            "runs": len(self.runs.traces),
        }

    def broken(self) -> list[str]:
        """Say which conditions the runs' own step sizes and plans do not meet."""
        least, plans = self.actual_gammas.min(), [trace.plan for trace in self.runs.traces]
        guarded = bool(self.runs.every(lambda r: r.guarded).any())
        resting = any(plan.resting and not plan.full for plan in plans)
        reasons = {
            f"gamma_2 = {least:.4g} must be at least {self.needed:.4g}": least < self.needed,
            "a site took smaller steps on W than the others": guarded,
            "the sites that are not drawn rest (PCP), the theorem is about PCC": resting,
            "this is not FedMAvg": any(plan.sharing for plan in plans),
        }
        return self.runs.broken() + [reason for reason, true in reasons.items() if true]


def price(divisor: Array, L: Array, claimed: float | None = None) -> float:
    """Return what the gaps of a block may add up to, for each unit that its steps lower F by.

    A projected step with divisor a on a function with curvature up to L lowers it by at least
    (a - L/2) times the squared move, and the gap is a^2 times it. With a = (gamma/2) L the ratio is
    gamma^2 L / (2 (gamma - 1)), the theorems' expression. Infinite where a <= L/2 has no ratio.
    """
    if claimed is not None:
        return np.inf if claimed <= 1 else claimed**2 * float(L.max()) / (2 * (claimed - 1))
    divisor, L = divisor[L > 0], L[L > 0]  # no curvature: no gradient, and no gap
    if (divisor <= L / 2).any():
        return np.inf
    return float((divisor**2 / (divisor - L / 2)).max(initial=0.0))


def gamma(divisor: Array, L: Array) -> float:
    """Return the gamma with which divisors are (gamma/2) L, the least one where they differ."""
    return float((2 * divisor[L > 0] / L[L > 0]).min(initial=np.inf))


def C1(q2: int) -> float:
    """Return C_1^s of equation (24a)."""
    return q2 * (q2 - 1) * (2 * q2 - 1)


def C2(q2: int, m: int) -> float:
    """Return C_2^s of equation (24b)."""
    return 6 * (3 * q2 * (q2 - 1) / 2 + 4 + 32 / m) * C1(q2)


def C3(q2: int) -> float:
    """Return C_3^s of Corollary 1."""
    return 6 * (3 * q2 * (q2 - 1) / 2 + 2) * C1(q2)


def _alike(other: Trace, first: Trace) -> bool:
    """Whether two runs have one start and equally many steps in each round."""
    steps = [[turn.q2 for turn in trace.plan.turns] for trace in (other, first)]
    same = steps[0] == steps[1] and other.plan.q1 == first.plan.q1
    return same and bool(np.isclose(other.objective, first.objective, rtol=1e-9))


def _positive(goal: Goal, rho: float) -> bool:
    """Whether F >= 0 is plain: H >= 0, or R_H a sum of squares."""
    lowest = goal.h_set.interval[0] if goal.h_set.interval else -np.inf
    return lowest >= 0 or rho <= goal.nu or goal.rank == 1
