"""FedMGS, Algorithm 2 of the paper: gradient sharing with several steps on both sides.

Round s, for the sites drawn (uniformly, without replacement):

    a site    H_p <- P_H(H_p - grad_H F_p(W, H_p) / c),                  Q1 times
              sends the changes of U_p = H_p H_p' and V_p = X_p H_p'
    server    G1 <- G1 + (2/N) sum of the changes of U_p,   G2 likewise with V_p
              W  <- P_W(W - (W G1 - G2 + mu W) / d),                     Q2 times

with c = (gamma_h/2) lambda_max of the Hessian in H and d = (gamma_w/2) lambda_max(G1 + mu I).
A site that was not drawn does nothing. Q1 = Q2 = 1 is the earlier gradient-sharing method.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedmf.algorithms.base import Algorithm, Draw, check_participants
from fedmf.arrays import Array, IntArray, Scalar, gram, largest_eigenvalue
from fedmf.checks import check_integer, check_real
from fedmf.declared import Square, Tall
from fedmf.errors import ParameterError
from fedmf.kernels import outer
from fedmf.losses.squared import Quadratic
from fedmf.messages import Exchange, Nothing, Task, ask
from fedmf.private import Columns
from fedmf.problem import Goal, Parts, descend, h_sums
from fedmf.sites import Cohort


class Server(NamedTuple):
    """The server's state: W and the running sums G1, G2 of the paper."""

    W: Array  # (M, K)
    G1: Array  # (K, K), (2/N) sum_p H_p H_p'
    G2: Array  # (M, K), (2/N) sum_p X_p H_p'


class Private(NamedTuple):
    """A site's private state: H_p, and the H_p that its last upload was made of."""

    H: Columns
    sent: Columns


class Order(NamedTuple):
    """What a drawn site receives."""

    W: Array
    rho: Scalar


class Change(NamedTuple):
    """What a site sends: how U_p and V_p changed since its last upload."""

    U: Square
    V: Tall


@dataclass(frozen=True, kw_only=True)
class FedMGS(Algorithm):
    """Federated matrix factorisation by gradient sharing.

    Parameters
    ----------
    participants : m, how many sites are drawn in a round; None: all.
    q1, q2 : the number of steps on H at a site and on W at the server.
    gamma_h, gamma_w : both over 1; a step divides by gamma/2 times the largest curvature.
    """

    name = "fedmgs"
    server_type = Server
    private_type = Private

    q1: int = 10
    q2: int = 100
    gamma_h: float = 1.02
    gamma_w: float = 1.002

    def __post_init__(self) -> None:
        """Check every setting once."""
        check_participants(self.participants)
        check_integer("q1", self.q1, minimum=1)
        check_integer("q2", self.q2, minimum=1)
        check_real("gamma_h", self.gamma_h, minimum=1, above=True, finite=True)
        check_real("gamma_w", self.gamma_w, minimum=1, above=True, finite=True)

    def draw(self, sizes: IntArray, random: np.random.Generator) -> IntArray:
        """Return m sites drawn uniformly without replacement, ascending; or all."""
        if self.participants is None:
            return np.arange(len(sizes))
        return np.sort(random.choice(len(sizes), self.participants, replace=False))

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks."""
        return {
            "begin": Task(self.begin, sends=Nothing),
            "first": Task(self._first, counted=True, sends=Change, portable=True),
            "improve": Task(self._improve, counted=True, sends=Change, addable=True, portable=True),
        }

    def start(self, goal: Goal, W: Array, everyone: IntArray) -> Exchange[Server]:
        """Build G1 and G2 from one upload by every site."""
        if not goal.squared:
            raise ParameterError(
                f"FedMGS needs the squared loss, got {goal.loss.name!r}: FedMAvg works with any"
            )
        answer = yield ask("first", Nothing(), everyone)
        K, M = goal.rank, goal.known.features
        return _add(goal, Server(W, np.zeros((K, K)), np.zeros((M, K))), answer.total)

    def round(
        self,
        goal: Goal,
        server: Server,
        draw: Draw,
        number: int,
        rho: float,
    ) -> Exchange[Server]:
        """Play one round."""
        answer = yield ask("improve", Order(server.W, np.float64(rho)), draw.drawn)
        return self._improve_W(goal, _add(goal, server, answer.total))

    def parts(self, goal: Goal, server: Server) -> Parts:
        """Return F's sums from G1 and G2: with them the server needs nothing more."""
        W = server.W.astype(np.float64, copy=False)
        N = goal.known.samples
        fit = N * (np.vdot(gram(W), server.G1) / 2 - np.vdot(W, server.G2))
        return Parts(goal.known.squared_norm + fit, *h_sums(server.G1 * (N / 2)))

    def private(self, goal: Goal, data: Cohort, H: Array) -> Private:
        """Return the state before the first upload: nothing was sent yet."""
        return Private(H, np.zeros_like(H))

    def _first(
        self,
        goal: Goal,
        private: Private,
        payload: Nothing,
        data: Cohort,
        weight: Array,
    ) -> tuple[Private, Change]:
        """Upload U_p and V_p of the start: their change from nothing."""
        return _upload(private, private.H, data)

    def _improve(
        self,
        goal: Goal,
        private: Private,
        order: Order,
        data: Cohort,
        weight: Array,
    ) -> tuple[Private, Change]:
        """Take Q1 steps on H_p and upload what changed."""
        W, rho = order.W, float(order.rho)
        H = goal.improve_H(data, W, data.cross(W), private.H, rho, self.q1, self.gamma_h)
        return _upload(private, H, data)

    def _improve_W(self, goal: Goal, server: Server) -> Server:
        """Take Q2 projected steps on W at the server."""
        A = server.G1 + goal.mu * np.eye(goal.rank)
        divisor = self.gamma_w / 2 * largest_eigenvalue(A)
        B = server.G2.astype(server.W.dtype, copy=False).T
        W = descend(Quadratic(A, B), server.W.T, self.q2, divisor, goal.w_set)
        return server._replace(W=W.T)


def _upload(private: Private, H: Array, data: Cohort) -> tuple[Private, Change]:
    """Return the state after an upload, and the upload: X_p (H_new - H_sent)' is V_p's change."""
    change = Change(outer(H) - outer(private.sent), data.moment(H, private.sent))
    return Private(H, H), change


def _add(goal: Goal, server: Server, change: Change) -> Server:
    """Add the sites' changes to G1 and G2."""
    factor = 2 / goal.known.samples
    G2 = factor * change.V
    G2 += server.G2
    return Server(server.W, server.G1 + factor * change.U, G2)
