"""BEL: the distributed coreset of Balcan, Ehrlich and Liang (NIPS 2013), for k-means.

From the source (Algorithm 1, then weighted k-means on the coreset)

    a site    B_p <- a constant approximation of its own k-means problem; sends cost(P_p, B_p)
    server    sends the sum of all costs
    a site    t_p <- t cost(P_p, B_p) / sum of all costs
              S_p <- t_p samples drawn with probabilities proportional to m_q = 2 cost(q, B_p)
              sends S_p with w_q = (sum of all m) / (t m_q), and B_p with
                    w_b = |P_b| - sum of w_q over the q in S_p of b's cluster
    server    weighted k-means on the union

The 2 in m_q cancels. Drawing is with replacement, so that for any centres x

    E sum over S_p of w_q d(q, x) = t_p / t * (sum of all costs) / cost_p * sum of d(p, x)

is the sum over the site's samples exactly if E t_p = t cost_p / (sum of all costs), and then the
weights w_b are on average the number of samples that lie on b: the coreset's cost is unbiased.

Choices: t_p is rounded up or down at random so that it is right on average, and S has t samples on
average; B_p is k-means++ with Lloyd's iterations; a sample drawn twice is sent once with both
weights; a site whose share t_p would not be smaller than its number of samples sends them all with
weight 1. The weights w_b may be negative: the coreset keeps them, the k-means on it takes them as
zero. Without any cost (t_p = 0 everywhere) the centres are the coreset. The default budget is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedmf.arrays import Array, IntArray, Rows, Scalar
from fedmf.baselines.base import LABEL, Result, Rival, Scene, answer_label, label
from fedmf.baselines.rows import Weighted, expose, like, pack, together, unpack
from fedmf.checks import check_integer
from fedmf.lloyd import draw, solve
from fedmf.messages import Exchange, Task, ask
from fedmf.points import Flags, Labels, Points, pick
from fedmf.private import Columns, Shared
from fedmf.rng import stream
from fedmf.sites import Cohort


class Approximation(NamedTuple):
    """A site's private state: its own k-means solution."""

    centres: Shared  # B_p
    nearest: Labels
    squared: Columns  # cost(q, B_p)
    alone: Flags  # whether the sample's centre is the sample
    sent: Flags


class Begin(NamedTuple):
    """The order to approximate."""

    seed: Scalar


class Cost(NamedTuple):
    """cost(P_p, B_p)."""

    cost: Scalar


class Budget(NamedTuple):
    """The order to sample: the global budget t and the sum of all costs."""

    samples: Scalar
    cost: Scalar
    seed: Scalar


class Coreset(NamedTuple):
    """Weighted points that stand for all samples; some weights may be negative."""

    rows: Rows
    weights: Array


@dataclass(frozen=True)
class BEL(Rival):
    """The distributed coreset and k-means on it.

    Parameters
    ----------
    samples : t, how many samples all sites together send on average; None: 10 K. The local
        centres come on top: up to K for each site.
    local_restarts, restarts : starts of the k-means at a site and on the coreset.
    """

    name = "bel"
    sends = "its k-means cost; then raw samples and local centres with weights"

    samples: int | None = None
    local_restarts: int = 1
    restarts: int = 10

    def __post_init__(self) -> None:
        """Check every setting once."""
        super().__post_init__()
        if self.samples is not None:
            check_integer("samples", self.samples, minimum=1)
        check_integer("local_restarts", self.local_restarts, minimum=1)
        check_integer("restarts", self.restarts, minimum=1)

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks."""
        return {
            "approximate": Task(self._approximate),
            "sample": Task(self._sample, each=True, counted=True),
            LABEL: Task(answer_label),
        }

    def play(self, scene: Scene) -> Exchange[Result]:
        """Cluster the coreset."""
        rows, weights = yield from self.coreset(scene)
        random = stream(scene.seed, "bel coreset")
        points = Points.of(rows)
        found = solve(points, np.maximum(weights, 0), self.n_clusters, random, self.restarts)
        return (yield from label(found.centres, scene))

    def coreset(self, scene: Scene) -> Exchange[Coreset]:
        """Collect the coreset."""
        begin = Begin(np.int64(scene.seed))
        answer = yield ask("approximate", begin, scene.everyone)
        t = 10 * self.n_clusters if self.samples is None else self.samples
        budget = Budget(np.int64(t), np.float64(answer.total.cost), np.int64(scene.seed))
        answer = yield ask("sample", budget, scene.everyone)
        rows = together([unpack(each, scene.features) for each in answer.each])
        return Coreset(rows, np.concatenate([each.weights for each in answer.each]))

    def _approximate(
        self, goal: None, private: None, payload: Begin, data: Cohort, weight: Array
    ) -> tuple[Approximation, Cost]:
        """Cluster the site's own samples and send the cost."""
        random = stream(int(payload.seed), "bel approximate", site=int(data.sites[0]))
        points, n = Points.of(data), data.shape[0]
        clusters = min(self.n_clusters, n)
        found = solve(points, np.ones(n), clusters, random, self.local_restarts)
        centres, alone = expose(points, found)
        nobody = np.zeros(n, dtype=bool)
        state = Approximation(centres, found.nearest, found.squared, alone, nobody)
        return state, Cost(np.float64(found.squared.sum()))

    def _sample(
        self, goal: None, private: Approximation, payload: Budget, data: Cohort, weight: Array
    ) -> tuple[Approximation, Weighted]:
        """Send the site's portion of the coreset."""
        n, total = data.shape[0], float(payload.cost)
        share = 0.0
        if total > 0:
            share = float(payload.samples) * float(private.squared.sum()) / total
        if share >= n:
            everything = private._replace(sent=np.ones(n, dtype=bool))
            return everything, Weighted(*pack(pick(data, np.arange(n))), np.ones(n))
        random = stream(int(payload.seed), "bel sample", site=int(data.sites[0]))
        count = int(share) + int(random.random() < share - int(share))
        drawn = draw(private.squared, count, random)
        return _portion(data, private, drawn, total / float(payload.samples))


def _portion(
    data: Cohort, private: Approximation, drawn: IntArray, scale: float
) -> tuple[Approximation, Weighted]:
    """Return the samples drawn and the local centres, with their weights."""
    K = len(private.centres)
    chosen, times = np.unique(drawn, return_counts=True)
    weights = times * scale / private.squared[chosen]
    cluster = private.nearest[chosen]
    corrected = np.bincount(private.nearest, minlength=K) - np.bincount(cluster, weights, K)
    used = np.bincount(private.nearest, minlength=K) > 0
    sent = private.alone.copy()
    sent[chosen] = True
    rows = together([pick(data, chosen), like(private.centres[used], data)])
    message = Weighted(*pack(rows), np.concatenate([weights, corrected[used]]))
    return private._replace(sent=sent), message
