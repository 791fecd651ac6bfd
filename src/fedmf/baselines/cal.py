"""CAL: distributed clustering with outliers, Chen, Azer and Zhang (NeurIPS 2018).

From the source. A site summarises its n samples X (Algorithm 1, balls grown from samples), with
kappa = max(log n, K), alpha = 2 and beta = 0.45:

    while more than 8 t_p samples are left:
        S_i <- alpha kappa of those left, drawn with replacement
        rho_i <- the smallest radius at which the balls around S_i hold beta of those left
        those inside the balls are no longer left

then the augmented step (Algorithm 2): X_r is what is left, S the union of the S_i; where X_r is
larger than S, as many of the other samples are added to S; every sample of X_r stands for itself,
every other one is counted for the nearest of S. The summary is S and X_r with these counts, all
raw samples. The coordinator (Algorithm 3) runs k-means-- with t outliers on the union, with
t_p = 2 t / P for samples that were dealt out at random, t_p = t for any partition.

Choices: k-means-- counts outliers by weight, and a point on the border in part; its seeds are those
of `lloyd`. A sample is an outlier when all samples counted for the same point are left out as a
whole; it gets a label like the others. Points that stand for nobody (copies) are not sent. With
t = 0, the default, balls grow until nothing is left, and no sample is an outlier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedmf.arrays import Array, IntArray, Scalar
from fedmf.baselines.base import Final, Outcome, Result, Rival, Scene, finish, result
from fedmf.baselines.rows import Weighted, pack, together, unpack
from fedmf.checks import check_integer, check_real
from fedmf.errors import ParameterError
from fedmf.lloyd import solve
from fedmf.messages import Exchange, Task, ask
from fedmf.points import BoolArray, Flags, Labels, Points, pick
from fedmf.rng import stream
from fedmf.sites import Cohort


class Summary(NamedTuple):
    """A site's private state: for each sample the place of the point that it is counted for."""

    place: Labels
    sent: Flags


class Order(NamedTuple):
    """The order to summarise: t_p, a real number, and the seed."""

    outliers: Scalar
    seed: Scalar


class Verdict(NamedTuple):
    """The centres, and the points that are outliers: whose, and which of theirs."""

    centres: Array
    sites: IntArray
    places: IntArray


@dataclass(frozen=True)
class CAL(Rival):
    """Summaries by growing balls, and k-means-- on them.

    Parameters
    ----------
    n_outliers : t, how many samples may be left out.
    any_partition : prepare for all outliers at one site (t_p = t), not only for samples that were
        dealt out at random (t_p = 2 t / P).
    alpha, beta : how many samples a step draws, and which share of those left its balls hold.
    restarts : starts of the k-means-- at the coordinator.
    """

    name = "cal"
    sends = "raw samples with weights: those that balls grew from, and those left over"
    finds_outliers = True

    n_outliers: int = 0
    any_partition: bool = False
    alpha: float = 2.0
    beta: float = 0.45
    restarts: int = 10

    def __post_init__(self) -> None:
        """Check every setting once."""
        super().__post_init__()
        check_integer("n_outliers", self.n_outliers, minimum=0)
        check_real("alpha", self.alpha, minimum=0, above=True, finite=True)
        check_real("beta", self.beta, minimum=0, above=True)
        if self.beta > 1:
            raise ParameterError(f"beta must be at most 1, got {self.beta:g}")
        check_integer("restarts", self.restarts, minimum=1)

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks."""
        return {
            "summarise": Task(self._summarise, each=True, counted=True),
            "judge": Task(_judge),
        }

    def play(self, scene: Scene) -> Exchange[Result]:
        """Cluster the union of the summaries."""
        t = float(self.n_outliers)
        own = t if self.any_partition else 2 * t / len(scene.sizes)
        order = Order(np.float64(own), np.int64(scene.seed))
        answer = yield ask("summarise", order, scene.everyone)
        points = Points.of(together([unpack(each, scene.features) for each in answer.each]))
        weights = np.concatenate([each.weights for each in answer.each])
        random = stream(scene.seed, "cal coordinator")
        found = solve(points, weights, self.n_clusters, random, self.restarts, t)
        outliers = np.flatnonzero(found.left_out(weights))
        edges = np.cumsum([0, *(len(each.weights) for each in answer.each)])
        whose = np.searchsorted(edges, outliers, side="right") - 1
        verdict = Verdict(found.centres, whose, outliers - edges[whose])
        answer = yield ask("judge", verdict, scene.everyone)
        return result(found.centres, answer)

    def _summarise(
        self, goal: None, private: None, payload: Order, data: Cohort, weight: Array
    ) -> tuple[Summary, Weighted]:
        """Send the site's summary."""
        random = stream(int(payload.seed), "cal summarise", site=int(data.sites[0]))
        points = Points.of(data)
        chosen, left = self._grow_balls(points, 8 * float(payload.outliers), random)
        _augment(chosen, left, random)
        return _summary(points, chosen, left)

    def _grow_balls(
        self, points: Points, enough: float, random: np.random.Generator
    ) -> tuple[BoolArray, BoolArray]:
        """Return which samples balls grew from, and which are left outside."""
        n = len(points)
        left, chosen = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
        count = int(np.ceil(self.alpha * max(np.log(n), self.n_clusters)))
        while (size := int(left.sum())) > enough:
            members = np.flatnonzero(left)
            drawn = np.unique(members[random.integers(size, size=count)])
            squared = points.nearest(pick(points.data, drawn), among=left)[1]
            inside = int(np.ceil(self.beta * size)) - 1
            left[members[squared <= np.partition(squared, inside)[inside]]] = False
            chosen[drawn] = True
        return chosen, left


def _augment(chosen: BoolArray, left: BoolArray, random: np.random.Generator) -> None:
    """Add other samples to those chosen until they are as many as those left, in place."""
    others = np.flatnonzero(~chosen & ~left)
    missing = min(int(left.sum()) - int(chosen.sum()), len(others))
    if missing > 0:
        chosen[random.choice(others, missing, replace=False)] = True


def _summary(points: Points, chosen: BoolArray, left: BoolArray) -> tuple[Summary, Weighted]:
    """Count every sample for the nearest chosen one, or for itself where it is left."""
    point = np.arange(len(points))
    if not left.all():
        near = points.nearest(pick(points.data, np.flatnonzero(chosen)), among=~left)[0]
        point[~left] = np.flatnonzero(chosen)[near]
    sent, place, counts = np.unique(point, return_inverse=True, return_counts=True)
    mask = np.zeros(len(points), dtype=bool)
    mask[sent] = True
    rows = pack(pick(points.data, sent))
    return Summary(place, mask), Weighted(*rows, counts.astype(np.float64))


def _judge(
    goal: None, private: Summary, payload: Verdict, data: Cohort, weight: Array
) -> tuple[Final, Outcome]:
    """Label the samples, and mark those counted for a point that is an outlier."""
    labels, squared = Points.of(data).nearest(payload.centres)
    own = payload.places[payload.sites == data.sites[0]]
    return finish(labels, squared, private.sent, np.isin(private.place, own))
