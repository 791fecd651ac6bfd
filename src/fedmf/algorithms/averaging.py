"""What FedMAvg and FedPALM share: drawing sites, averaging their W_p, sending W to all.

A round ends where the paper's next one begins: with the average, projected, and W sent to every
site. There each forms W'X, which its H steps need anyway, and so knows its term of F. It sends how
that changed, so that the server's sums stay right when a site is away for a while.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedmf.algorithms.base import Algorithm, Draw, check_participants
from fedmf.algorithms.local import curvatures
from fedmf.arrays import Array, IntArray, Scalar, largest_eigenvalue
from fedmf.checks import check_real, unknown
from fedmf.declared import Curved, Tall
from fedmf.messages import Answer, Exchange, Nothing, Task, ask
from fedmf.private import Columns, PerSite, Shared
from fedmf.problem import Goal, Parts
from fedmf.sites import Cohort


class Server(NamedTuple):
    """The server's state."""

    W: Array  # (M, K)
    curvature: Array  # (k, k), the sum of the sites', K x K for the squared loss: 2 H H'
    loss: Scalar  # F's three sums
    overlap: Scalar
    energy: Scalar


class Private(NamedTuple):
    """A site's private state."""

    H: Columns
    cross: Columns  # W'X_p
    sent: PerSite  # (b, k, k), the curvature that the server knows of
    told: PerSite  # (b, 3), the terms of F that it knows of; their sum over the cohort counts
    W: Shared  # as received


class Broadcast(NamedTuple):
    """W for all sites."""

    W: Array


class Terms(NamedTuple):
    """What a site answers to a broadcast: how its sums of F and its curvature changed."""

    loss: Scalar
    overlap: Scalar
    energy: Scalar
    change: Curved


class Model(NamedTuple):
    """A site's own W_p."""

    W: Tall


@dataclass(frozen=True, kw_only=True)
class Averaging(Algorithm):
    """Sites improve a W of their own, the server averages them.

    Parameters
    ----------
    participants : m, how many sites are drawn in a round; None or P: all, weighted by size.
    participation : "pcc" (all sites work, those drawn upload) or "pcp" (the others rest).
    gamma_h : over 1; a step on H divides by gamma_h/2 times the largest curvature.
    divisor : a step on W divides by this times the largest curvature of all data together.
    """

    server_type = Server
    private_type = Private

    participation: str = "pcc"
    gamma_h: float = 1.02
    divisor: float = 5.0

    def __post_init__(self) -> None:
        """Check every setting once."""
        check_participants(self.participants)
        if self.participation not in ("pcc", "pcp"):
            raise unknown("participation", self.participation, ("pcc", "pcp"))
        check_real("gamma_h", self.gamma_h, minimum=1, above=True, finite=True)
        check_real("divisor", self.divisor, minimum=0, above=True, finite=True)

    @abstractmethod
    def local(
        self, goal: Goal, server: Server, draw: Draw, number: int, rho: float
    ) -> Exchange[tuple[Answer, Server]]:
        """Let the sites work; return the sum of their W_p and what the server learned."""

    @property
    def measured(self) -> bool:
        """Whether the curvature is wanted with the answer to a broadcast."""
        return True

    def draw(self, sizes: IntArray, random: np.random.Generator) -> IntArray:
        """Return m sites drawn with replacement, with probabilities omega_p; or all."""
        if self.participants in (None, len(sizes)):
            return np.arange(len(sizes))
        return random.choice(len(sizes), self.participants, p=sizes / sizes.sum())

    def start(self, goal: Goal, W: Array, everyone: IntArray) -> Exchange[Server]:
        """Send W0, projected, to all sites."""
        none = np.zeros((1, 1)), *np.zeros(3)
        server = Server(goal.w_set.project(W), *none)
        return self._send(goal, server, everyone, measured=True)

    def round(
        self, goal: Goal, server: Server, draw: Draw, number: int, rho: float
    ) -> Exchange[Server]:
        """Play one round."""
        answer, server = yield from self.local(goal, server, draw, number, rho)
        average = (answer.total.W / answer.weight).astype(server.W.dtype)
        server = server._replace(W=goal.w_set.project(average))
        return (yield from self._send(goal, server, draw.everyone, measured=self.measured))

    def parts(self, goal: Goal, server: Server) -> Parts:
        """Return F's sums as the sites sent them."""
        return Parts(server.loss, server.overlap, server.energy)

    def private(self, goal: Goal, data: Cohort, H: Array) -> Private:
        """Return the state before the first broadcast."""
        nothing = np.zeros((0, 0), dtype=H.dtype)
        count = len(data.sites)
        sent, told = np.zeros((count, 1, 1)), np.zeros((count, 3))
        return Private(H, np.zeros_like(H), sent, told, nothing)

    def weights(self, draw: Draw) -> tuple[Array, IntArray]:
        """Return what each site's W_p counts in the average, and how often the formula counts it.

        omega_p with all sites; otherwise 1/m for each time that the site was drawn.
        """
        if self.participants in (None, len(draw.sizes)):
            return draw.sizes / draw.sizes.sum(), np.ones_like(draw.sizes)
        times = np.bincount(draw.drawn, minlength=len(draw.sizes))
        return times / len(draw.drawn), times

    def active(self, draw: Draw) -> IntArray:
        """Return the sites that work in a round: all under PCC, those drawn under PCP."""
        return draw.everyone if self.participation == "pcc" else np.unique(draw.drawn)

    def common_divisor(self, goal: Goal, server: Server) -> float:
        """Return the common d: `divisor` times the largest curvature of F in W."""
        return self.divisor * (largest_eigenvalue(server.curvature) / goal.known.samples + goal.mu)

    def _send(
        self, goal: Goal, server: Server, everyone: IntArray, *, measured: bool
    ) -> Exchange[Server]:
        """Send W to all sites and collect their terms of F, and their curvature where wanted."""
        answer = yield ask("measure" if measured else "receive", Broadcast(server.W), everyone)
        change = answer.total.change if measured else 0.0
        known = server.loss, server.overlap, server.energy
        terms = (old + new for old, new in zip(known, answer.total[:3], strict=True))
        return Server(server.W, server.curvature + change, *terms)

    def receiving(self) -> dict[str, Task]:
        """Return the tasks that begin a run and that answer a broadcast."""
        return {
            "begin": Task(self.begin, sends=Nothing),
            "receive": Task(_receive, sends=Parts, broadcast="catch_up", portable=True),
            "measure": Task(_measure, sends=Terms, broadcast="catch_up", portable=True),
            "catch_up": Task(_catch_up, sends=Nothing, portable=True),
        }


def _receive(
    goal: Goal, private: Private, payload: Broadcast, data: Cohort, weight: Array
) -> tuple[Private, Parts]:
    """Keep W and W'X, answer with how the terms of F changed."""
    W, cross = payload.W, data.cross(payload.W)
    now = goal.parts(data, W, private.H, cross)
    change = Parts(*np.subtract(now, private.told.sum(axis=0)))
    told = np.zeros_like(private.told)
    told[0] = now  # a sum of all sites of the cohort: a broadcast goes to every one of them
    return private._replace(cross=cross, told=told, W=W), change


def _measure(
    goal: Goal, private: Private, payload: Broadcast, data: Cohort, weight: Array
) -> tuple[Private, Terms]:
    """Do the same, and answer with the curvature's change as well."""
    private, parts = _receive(goal, private, payload, data, weight)
    private, change = curvature_change(goal, private, data)
    return private, Terms(*parts, change)


def _catch_up(
    goal: Goal, private: Private, payload: Broadcast, data: Cohort, weight: Array
) -> tuple[Private, Nothing]:
    """Keep W and W'X at a site that missed the broadcast; what it sends next counts from before."""
    return private._replace(cross=data.cross(payload.W), W=payload.W), Nothing()


def curvature_change(goal: Goal, private: Private, data: Cohort) -> tuple[Private, Array]:
    """Return how much the sites' curvature changed since it was last sent."""
    now = curvatures(goal, data, private.W, private.H)
    return private._replace(sent=now), (now - private.sent).sum(axis=0)
