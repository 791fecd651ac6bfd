"""FedMAvg, Algorithm 1 of the paper: model averaging.

Round s, every site having received W:

    an active site   H_p <- P_H(H_p - grad_H F_p(W, H_p) / c),       Q1 times
    a drawn site     W_p <- W_p - grad_W F_p(W_p, H_p) / d,          Q2^s times, from W_p = W
                     sends W_p
    server           W <- P_W(the average of the W_p)

with c = (gamma_h/2) lambda_max of the Hessian in H and d = divisor * lambda_max of the Hessian in
W, (2/N) sum_p H_p H_p' + mu I. With all sites the average has the weights omega_p (Corollary 1);
otherwise m sites are drawn with replacement, with probabilities omega_p, and each draw counts 1/m.
Under PCC all sites are active, under PCP those drawn.

The common d needs a figure from every site. `exact` asks for it after the H steps, the paper's
way, in one more exchange; `lagged` takes the one that came with the answers to the last broadcast.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedmf.algorithms.averaging import Averaging, Model, Private, Server, curvature_change
from fedmf.algorithms.base import Draw
from fedmf.algorithms.local import Steps, weighted_models
from fedmf.algorithms.schedules import Schedule, steps_of
from fedmf.arrays import Array, Scalar
from fedmf.checks import check_integer, unknown
from fedmf.declared import Curved
from fedmf.messages import Answer, Exchange, Task, ask
from fedmf.private import take
from fedmf.problem import Goal
from fedmf.sites import Cohort


class OrderH(NamedTuple):
    """The order to take the steps on H."""

    rho: Scalar


class OrderW(NamedTuple):
    """The order to take the steps on W."""

    divisor: Scalar  # the common d
    steps: Scalar  # Q2 of the round


class OrderBoth(NamedTuple):
    """The order to take both."""

    rho: Scalar
    divisor: Scalar
    steps: Scalar


class Curvature(NamedTuple):
    """How much a site's curvature changed since it was last sent."""

    change: Curved


@dataclass(frozen=True, kw_only=True)
class FedMAvg(Averaging):
    """Federated matrix factorisation by model averaging.

    Parameters
    ----------
    q1 : the number of steps on H in a round.
    q2 : the number of local steps on W: a number, `Diminishing(qhat)`, or any function of s.
    common_step : "exact" or "lagged".
    """

    name = "fedmavg"

    q1: int = 10
    q2: Schedule = 10
    common_step: str = "exact"

    def __post_init__(self) -> None:
        """Check every setting once."""
        super().__post_init__()
        check_integer("q1", self.q1, minimum=1)
        steps_of(self.q2, 1)
        if self.common_step not in ("exact", "lagged"):
            raise unknown("common_step", self.common_step, ("exact", "lagged"))

    @property
    def measured(self) -> bool:
        """Whether the curvature is wanted with the answer to a broadcast."""
        return self.common_step == "lagged"

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks."""
        return {
            **self.receiving(),
            "improve_H": Task(self._improve_H, sends=Curvature, portable=True),
            "improve_W": Task(self._improve_W, counted=True, sends=Model, portable=True),
            "improve": Task(self._improve, counted=True, sends=Model, portable=True),
        }

    def local(
        self, goal: Goal, server: Server, draw: Draw, number: int, rho: float
    ) -> Exchange[tuple[Answer, Server]]:
        """Let the sites work, in two exchanges (exact) or in one (lagged)."""
        active, (weight, times) = self.active(draw), self.weights(draw)
        steps = np.int64(steps_of(self.q2, number))
        if self.common_step == "lagged":
            divisor = np.float64(self.common_divisor(goal, server))
            order = OrderBoth(np.float64(rho), divisor, steps)
            return (yield ask("improve", order, active, weight[active], times[active])), server
        answer = yield ask("improve_H", OrderH(np.float64(rho)), active)
        server = server._replace(curvature=server.curvature + answer.total.change)
        order_W = OrderW(np.float64(self.common_divisor(goal, server)), steps)
        drawn = np.flatnonzero(weight)
        return (yield ask("improve_W", order_W, drawn, weight[drawn], times[drawn])), server

    def _improve_H(
        self, goal: Goal, private: Private, order: OrderH, data: Cohort, weight: Array
    ) -> tuple[Private, Curvature]:
        """Take Q1 steps on H_p; answer with the curvature's change."""
        private = self._better_H(goal, private, order.rho, data)
        private, change = curvature_change(goal, private, data)
        return private, Curvature(change)

    def _better_H(self, goal: Goal, private: Private, rho: Array, data: Cohort) -> Private:
        W, cross = private.W, private.cross
        H = goal.improve_H(data, W, cross, private.H, float(rho), self.q1, self.gamma_h)
        return private._replace(H=H)

    def _improve_W(
        self, goal: Goal, private: Private, order: OrderW, data: Cohort, weight: Array
    ) -> tuple[Private, Model]:
        """Take Q2 steps from W on each drawn site's own W_p."""
        steps = Steps(float(order.divisor), int(order.steps), self.gamma_h)
        return private, Model(weighted_models(goal, data, private.W, private.H, steps, weight))

    def _improve(
        self, goal: Goal, private: Private, order: OrderBoth, data: Cohort, weight: Array
    ) -> tuple[Private, Model]:
        """Take the steps on H_p and, where drawn, those on W_p."""
        private = self._better_H(goal, private, order.rho, data)
        drawn = np.flatnonzero(weight)
        if not len(drawn):
            return private, Model(np.zeros_like(private.W))
        part = OrderW(order.divisor, order.steps), data.select(drawn), weight[drawn]
        _, model = self._improve_W(goal, take(private, data, drawn), *part)
        return private, model
