"""The right-hand sides of Theorem 1 (23), Corollary 1 (25) and Theorem 2 (34), for finished runs.

Each takes one trace, or the traces of the runs that different draws of sites lead to from one
start, with their chances: with all of them both sides are those of the theorem, with some of them
estimates. A theorem's step sizes enter its proof through few numbers, so that they may differ from
site to site and from round to round: docs/explanation/theory.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fedmf.theory.runs import C2, C3, Averaging, Runs, Traces, price
from fedmf.theory.runs import gamma as gamma_of

NO_PROMISE = {"no promise with these step sizes": np.inf}


@dataclass(frozen=True)
class Bound:
    """A theorem on finished runs.

    Attributes
    ----------
    measured : the theorem's left side, the (expected) average gap over all inner steps.
    terms : the summands of its right side, by name.
    constants : the constants in them.
    broken : the theorem's conditions that the runs do not meet, in words.
    """

    name: str
    measured: float
    terms: dict[str, float]
    constants: dict[str, float]
    broken: tuple[str, ...]

    @property
    def bound(self) -> float:
        """The theorem's right side."""
        return sum(self.terms.values())

    @property
    def kept(self) -> bool:
        """Whether the measured average lies under the bound."""
        return self.measured <= self.bound

    def __str__(self) -> str:
        """Say it in a few lines."""
        terms = " + ".join(f"{value:.4g} ({name})" for name, value in self.terms.items())
        constants = ", ".join(f"{name} {value:.4g}" for name, value in self.constants.items())
        conditions = [f"  not met: {reason}" for reason in self.broken]
        return "\n".join(
            [
                f"{self.name}: average gap {self.measured:.4g}, bound {self.bound:.4g}",
                f"  bound: {terms}",
                f"  constants: {constants}",
                *(conditions or ["  every condition is met"]),
            ]
        )


def theorem1(
    traces: Traces,
    chances: Sequence[float] | None = None,
    *,
    gamma_1: float | None = None,
    gamma_2: float | None = None,
    lower: float = 0.0,
) -> Bound:
    """Return Theorem 1: FedMAvg, PCC, m sites drawn with replacement.

    gamma_1, gamma_2 : what would the theorem promise with these? None: those that the runs had.
    lower : a lower bound of F.
    """
    runs = Runs(traces, chances, lower)
    k, m, T = Averaging(runs, gamma_1, gamma_2), runs.drawn, runs.first.steps
    terms = NO_PROMISE
    if np.isfinite(k.D):
        slope = k.gamma_2 * k.lowest_W
        terms = {
            "start": k.D / T * runs.drop,
            "draws": 8 * k.D * k.zeta2 / (m * slope) + 96 * k.zeta2 / m,
            "descent": 2 * k.D * (1 + 8 / m) * k.mixed * k.C1 / (T * k.gamma_2**2 * slope),
            "gap": k.mixed * runs.total(lambda q2: C2(q2, m)) / (T * k.gamma_2**2),
            "projection": 3 * (k.zeta2 + k.phi2) * k.C1 / (2 * T),
        }
    full = ["every site takes part: see Corollary 1"] if runs.first.plan.full else []
    return Bound("Theorem 1", runs.measured, terms, k.table(), (*full, *k.broken()))


def corollary1(
    traces: Traces,
    *,
    gamma_1: float | None = None,
    gamma_2: float | None = None,
    lower: float = 0.0,
) -> Bound:
    """Return Corollary 1: FedMAvg with every site. The arguments are those of `theorem1`."""
    runs = Runs(traces, None, lower)
    k, T = Averaging(runs, gamma_1, gamma_2), runs.first.steps
    terms = NO_PROMISE
    if np.isfinite(k.D):
        terms = {
            "start": k.D / T * runs.drop,
            "descent": k.D * k.mixed * k.C1 / (T * k.gamma_2**3 * k.lowest_W),
            "gap": k.mixed * runs.total(C3) / (T * k.gamma_2**2),
            "projection": 3 * (k.zeta2 + k.phi2) * k.C1 / (2 * T),
        }
    drawn = [] if runs.first.plan.full else ["sites are drawn: see Theorem 1"]
    return Bound("Corollary 1", runs.measured, terms, k.table(), (*drawn, *k.broken()))


def theorem2(
    traces: Traces,
    chances: Sequence[float] | None = None,
    *,
    gamma: float | None = None,
    lower: float = 0.0,
) -> Bound:
    """Return Theorem 2: FedMGS, m sites drawn without replacement, or all.

    gamma : what would the theorem promise with it? None: what the runs had, for H and W apart.
    lower : a lower bound of F.
    """
    runs = Runs(traces, chances, lower)
    c, L_H = runs.every(lambda r: r.c), runs.every(lambda r: r.lipschitz_H)
    d, L_W = runs.every(lambda r: r.d), runs.every(lambda r: r.curvature.common)
    P, m, T = len(runs.first.omega), runs.drawn, runs.first.steps
    of_H, of_W = P / m * price(c, L_H, gamma), price(d, L_W, gamma)
    terms = NO_PROMISE
    if np.isfinite(of_H + of_W):
        terms = {"H": of_H / T * runs.drop, "W": of_W / T * runs.drop}
    constants = {
        "gamma of H": gamma_of(c, L_H) if gamma is None else gamma,
        "gamma of W": gamma_of(d, L_W) if gamma is None else gamma,
        "L_H": float(L_H.max()),
        "L_W": float(L_W.max()),
        "P / m": P / m,
        "T": T,
        "runs": len(runs.traces),
    }
    reasons = {
        "d must be over L_W / 2": price(d, L_W) == np.inf,
        "this is not FedMGS": not runs.first.plan.sharing,
    }
    broken = [*runs.broken(), *(reason for reason, true in reasons.items() if true)]
    return Bound("Theorem 2", runs.measured, terms, constants, tuple(broken))
