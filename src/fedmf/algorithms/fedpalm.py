"""FedPALM, the paper's negative control (Remark 1): alternate single steps at the sites.

Every active site takes, `steps` = Q/2 times, one projected step on H_p and one projected step on
its own W_p, each with the other block as it just became. That runs towards a solution of the
site's own problem, too greedy for the common one unless Q = 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedmf.algorithms.averaging import Averaging, Model, Private, Server
from fedmf.algorithms.base import Draw
from fedmf.algorithms.local import gradient_W, guarded, largest_curvature
from fedmf.arrays import Array, Scalar, space
from fedmf.checks import check_integer
from fedmf.messages import Answer, Exchange, Task, ask
from fedmf.problem import Goal, step
from fedmf.sites import Cohort


class Order(NamedTuple):
    """What an active site is told."""

    rho: Scalar
    divisor: Scalar  # the common d, from H at the start of the round


@dataclass(frozen=True, kw_only=True)
class FedPALM(Averaging):
    """The naive variant of FedMAvg.

    Parameters
    ----------
    steps : Q/2, the number of pairs of steps in a round.
    """

    name = "fedpalm"

    steps: int = 10

    def __post_init__(self) -> None:
        """Check every setting once."""
        super().__post_init__()
        check_integer("steps", self.steps, minimum=1)

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks."""
        alternate = Task(self._alternate, counted=True, sends=Model, portable=True)
        return {**self.receiving(), "alternate": alternate}

    def local(
        self,
        goal: Goal,
        server: Server,
        draw: Draw,
        number: int,
        rho: float,
    ) -> Exchange[tuple[Answer, Server]]:
        """Let the active sites alternate."""
        active, (weight, times) = self.active(draw), self.weights(draw)
        order = Order(np.float64(rho), np.float64(self.common_divisor(goal, server)))
        return (yield ask("alternate", order, active, weight[active], times[active])), server

    def _alternate(
        self, goal: Goal, private: Private, order: Order, data: Cohort, weight: Array
    ) -> tuple[Private, Model]:
        """Alternate at each site of the cohort."""
        total, new_H = np.zeros(private.W.shape), []
        parts = zip(data.apart(), data.split(private.H), weight, strict=True)
        for site, H, own_weight in parts:
            W, H = self._alternate_at(goal, site, private.W, H, order)
            new_H.append(H)
            total += own_weight * W
        H = space(private.H).concat([own.T for own in new_H], axis=0).T
        return private._replace(H=H), Model(total.astype(private.W.dtype))

    def _alternate_at(
        self, goal: Goal, site: Cohort, W: Array, H: Array, order: Order
    ) -> tuple[Array, Array]:
        """Alternate at one site; return its W_p and H_p."""
        rho, common = float(order.rho), float(order.divisor)
        for _ in range(self.steps):
            H = goal.improve_H(site, W, site.cross(W), H, rho, 1, self.gamma_h)
            largest = largest_curvature(goal, site, W, H)
            divisor = guarded(largest, common, self.steps, self.gamma_h)[0]
            W = step(W, gradient_W(goal, site, W, H), divisor, goal.w_set)
        return W, H
