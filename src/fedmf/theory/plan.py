"""What a run does, apart from its data and its start: who takes part, how many steps, which sizes.

The step sizes are functions of the curvature that the theorems speak of, so that a plan may have
the paper's (c = (gamma_1/2) L_H for all rounds, d^s = gamma_2 L_W^s), the package's (from the
curvature of the round), or some that no theorem allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fedmf.algorithms.fedmavg import FedMAvg
from fedmf.algorithms.fedmgs import FedMGS
from fedmf.algorithms.schedules import Schedule, steps_of
from fedmf.arrays import Array, IntArray
from fedmf.errors import ParameterError
from fedmf.run import Run
from fedmf.theory.scene import Curvature, factors


class Turn(NamedTuple):
    """One round's part of the plan."""

    drawn: IntArray  # the sites drawn, with repeats
    q2: int
    rho: float  # absolute


@dataclass(frozen=True)
class Plan:
    """A run's plan.

    Parameters
    ----------
    sharing : whether W is improved by the server (FedMGS) rather than by the sites (FedMAvg).
    full : whether every site takes part in every round, weighted by omega_p.
    q1 : the number of steps on H in a round.
    turns : what differs from round to round.
    c : from L_Hp of every site, (P,), to c_p of every site.
    d : from the curvature in W to the common d.
    lagged : whether that curvature is of H before the round's steps on it.
    guard : a site takes at least this times L_Wp instead of d, where it takes several steps.
    resting : whether the sites that are not drawn leave H alone (PCP; in FedMGS they always do).
    """

    sharing: bool
    full: bool
    q1: int
    turns: Sequence[Turn]
    c: Callable[[Array], Array]
    d: Callable[[Curvature], float]
    lagged: bool = False
    guard: float = 0.0
    resting: bool = False

    def weight(self, turn: Turn, omega: Array) -> Array:
        """Return what each site's W_p counts in the average, (P,)."""
        if self.full:
            return omega
        weight: Array = np.bincount(turn.drawn, minlength=len(omega)) / len(turn.drawn)
        return weight

    def active(self, turn: Turn, sites: int) -> NDArray[np.bool_]:
        """Return whether each site improves its H_p, (P,)."""
        everyone = self.full or not (self.resting or self.sharing)
        return np.isin(np.arange(sites), turn.drawn) | everyone


def plan_of(run: Run) -> Plan:
    """Return the plan that a run of FedMAvg or FedMGS followed."""
    if isinstance(run.algorithm, FedMGS):
        return _of_sharing(run, run.algorithm)
    if isinstance(run.algorithm, FedMAvg):
        return _of_averaging(run, run.algorithm)
    name = run.algorithm.name
    raise ParameterError(f"the theorems are about 'fedmavg' and 'fedmgs', the run is of {name!r}")


def _of_sharing(run: Run, algorithm: FedMGS) -> Plan:
    of_c, of_d = factors(algorithm)
    return Plan(
        sharing=True,
        full=algorithm.participants in (None, len(run.sizes)),
        q1=algorithm.q1,
        turns=_turns(run, algorithm.q2),
        c=lambda L: of_c * L,
        d=lambda curvature: of_d * curvature.common,
    )


def _of_averaging(run: Run, algorithm: FedMAvg) -> Plan:
    of_c, of_d = factors(algorithm)
    return Plan(
        sharing=False,
        full=algorithm.participants in (None, len(run.sizes)),
        q1=algorithm.q1,
        turns=_turns(run, algorithm.q2),
        c=lambda L: of_c * L,
        d=lambda curvature: of_d * curvature.common,
        lagged=algorithm.common_step == "lagged",
        guard=of_c,
        resting=algorithm.participation == "pcp",
    )


def _turns(run: Run, q2: Schedule) -> list[Turn]:
    """Return what the history tells of every round."""
    drawn = [np.asarray(row["participants"], dtype=np.int64) for row in run.rows]
    pairs = enumerate(zip(run.rows, drawn, strict=True), start=1)
    scale = run.goal.scale
    return [Turn(sites, steps_of(q2, s), row["rho"] * scale) for s, (row, sites) in pairs]
