"""KM-parallel: k-means|| of Bahmani, Moseley, Vattani, Kumar and Vassilvitskii (VLDB 2012).

From the source (Algorithm 2)

    C <- one sample, uniform over all;  phi <- cost(X, C)
    r times:  every sample joins C by itself with probability min(1, l d^2(x, C) / phi)
    w_c <- how many samples have c as the nearest in C
    K of the candidates, drawn by k-means++ with these weights

and then Lloyd's algorithm over all samples: sites send the sums and counts of their clusters until
no sample changes its cluster. l = 2K and r = 5 are values of the source's experiments.

Choices: k-means++ here is the source's Algorithm 1, the seeding alone with one draw a centre;
`recluster="lloyd"` goes on with Lloyd's iterations on the weighted candidates. Where r rounds gave
fewer than K candidates, up to K more rounds follow as long as there is a cost left; then centres
repeat. A cluster that becomes empty keeps its centre.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fedmf.arrays import Array, IntArray, Rows, Scalar
from fedmf.baselines.base import (
    LABEL,
    Centres,
    Final,
    Result,
    Rival,
    Scene,
    answer_label,
    finish,
    label,
    result,
)
from fedmf.baselines.rows import Sent, pack, together, unpack
from fedmf.checks import check_integer, check_real, unknown
from fedmf.lloyd import descend, means, seeds
from fedmf.messages import Exchange, Task, ask
from fedmf.points import Flags, Labels, Points, pick
from fedmf.private import Columns
from fedmf.rng import stream
from fedmf.sites import Cohort


class Reach(NamedTuple):
    """A site's private state while candidates are collected."""

    squared: Columns  # to the nearest candidate
    nearest: Labels  # which candidate that is
    sent: Flags


class Seed(NamedTuple):
    """The order to draw one sample."""

    seed: Scalar


class New(NamedTuple):
    """Candidates that have joined, and how many there were before."""

    values: Array
    columns: Array
    borders: Array
    before: Scalar


class Draw(NamedTuple):
    """The order to draw candidates: l / phi, the seed and the number of the draw."""

    rate: Scalar
    seed: Scalar
    number: Scalar


class Count(NamedTuple):
    """How many candidates there are."""

    candidates: Scalar


class Cost(NamedTuple):
    """A site's cost."""

    cost: Scalar


class Weights(NamedTuple):
    """How many of a site's samples are nearest to each candidate."""

    weights: Array


class Sums(NamedTuple):
    """A site's part of one of Lloyd's iterations."""

    sums: Array  # (K, M)
    counts: Array  # (K,)
    moved: Scalar  # how many samples changed their cluster
    cost: Scalar
    raw: Scalar


@dataclass(frozen=True)
class KMeansParallel(Rival):
    """k-means||.

    Parameters
    ----------
    oversampling : l, how many candidates a round draws on average; None: 2 K.
    draws : r, the number of rounds of drawing.
    recluster : how K centres come from the candidates, "seeds" or "lloyd".
    iterations : at most so many of Lloyd's iterations.
    """

    name = "km-parallel"
    sends = "raw samples as candidates; then sums and counts of the site's clusters"

    oversampling: float | None = None
    draws: int = 5
    recluster: str = "seeds"
    iterations: int = 300

    def __post_init__(self) -> None:
        """Check every setting once."""
        super().__post_init__()
        if self.oversampling is not None:
            check_real("oversampling", self.oversampling, minimum=0, above=True, finite=True)
        check_integer("draws", self.draws, minimum=0)
        if self.recluster not in ("seeds", "lloyd"):
            raise unknown("recluster", self.recluster, ("seeds", "lloyd"))
        check_integer("iterations", self.iterations, minimum=1)

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks."""
        return {
            "first": Task(_first, each=True, counted=True),
            "update": Task(_update),
            "draw": Task(_draw, each=True, counted=True),
            "weigh": Task(_weigh, counted=True),
            "improve": Task(_improve, counted=True),
            LABEL: Task(answer_label),
        }

    def play(self, scene: Scene) -> Exchange[Result]:
        """Seed, then Lloyd."""
        centres = yield from self.start(scene)
        return (yield from self.improve(centres, scene))

    def start(self, scene: Scene) -> Exchange[Array]:
        """Return the K centres that k-means|| begins with."""
        candidates = yield from self._candidates(scene)
        count = Count(np.int64(candidates.shape[0]))
        answer = yield ask("weigh", count, scene.everyone)
        random = stream(scene.seed, "k-means|| recluster")
        points, weights = Points.of(candidates), answer.total.weights
        centres = seeds(points, weights, self.n_clusters, random, tries=1)
        if self.recluster == "lloyd":
            return descend(points, weights, centres).centres
        return centres

    def improve(self, centres: Array, scene: Scene) -> Exchange[Result]:
        """Lloyd's algorithm across the sites, until no sample moves."""
        for _ in range(self.iterations):
            answer = yield ask("improve", Centres(centres), scene.everyone)
            if answer.total.moved == 0:
                return result(centres, answer)
            centres = means(answer.total.sums, answer.total.counts, centres)
        return (yield from label(centres, scene))

    def _candidates(self, scene: Scene) -> Exchange[Rows]:
        """Collect C from one uniform sample and the rounds of drawing."""
        site = _site_of(scene)
        answer = yield ask("first", Seed(np.int64(scene.seed)), np.array([site]))
        new = unpack(answer.each[0], scene.features)
        found: Rows = new[:0]
        for number in self._numbers():
            payload = New(*pack(new), np.int64(found.shape[0]))
            phi = float((yield ask("update", payload, scene.everyone)).total.cost)
            found = together([found, new])
            enough = number >= self.draws and found.shape[0] >= self.n_clusters
            if phi == 0 or enough:
                break
            order = Draw(np.float64(self._rate / phi), np.int64(scene.seed), np.int64(number))
            answer = yield ask("draw", order, scene.everyone)
            new = together([unpack(each, scene.features) for each in answer.each])
        return found

    def _numbers(self) -> Iterator[int]:
        """Yield the draws' numbers; the last one only takes in what was drawn before it."""
        return iter(range(self.draws + self.n_clusters + 1))

    @property
    def _rate(self) -> float:
        return 2.0 * self.n_clusters if self.oversampling is None else self.oversampling


def _site_of(scene: Scene) -> int:
    """Return the site of a sample that is uniform over all."""
    sample = stream(scene.seed, "k-means|| site").integers(int(scene.sizes.sum()))
    return int(np.searchsorted(np.cumsum(scene.sizes), sample, side="right"))


def _first(
    goal: None, private: None, payload: Seed, data: Cohort, weight: Array
) -> tuple[Reach, Sent]:
    """Send one sample, uniform over the site's."""
    random = stream(int(payload.seed), "k-means|| first", site=int(data.sites[0]))
    chosen = random.integers(data.shape[0], size=1)
    state = _unreached(data)
    state.sent[chosen] = True
    return state, pack(pick(data, chosen))


def _unreached(data: Cohort) -> Reach:
    """Return the state before there is any candidate."""
    n = data.shape[0]
    return Reach(np.full(n, np.inf), np.zeros(n, dtype=np.int64), np.zeros(n, dtype=bool))


def _update(
    goal: None, private: Reach | None, payload: New, data: Cohort, weight: Array
) -> tuple[Reach, Cost]:
    """Take in new candidates; send the cost."""
    state = _unreached(data) if private is None else private
    new = unpack(Sent(*payload[:3]), data.shape[1])
    if new.shape[0] > 0:
        nearest, squared = Points.of(data).nearest(new)
        nearer = squared < state.squared
        state = Reach(
            np.where(nearer, squared, state.squared),
            np.where(nearer, nearest + int(payload.before), state.nearest),
            state.sent,
        )
    return state, Cost(np.float64(state.squared.sum()))


def _draw(
    goal: None, private: Reach, payload: Draw, data: Cohort, weight: Array
) -> tuple[Reach, Sent]:
    """Send the samples that were drawn, each by itself."""
    random = stream(int(payload.seed), "k-means|| draw", int(payload.number), int(data.sites[0]))
    drawn = random.random(data.shape[0]) < float(payload.rate) * private.squared
    return private._replace(sent=private.sent | drawn), pack(pick(data, np.flatnonzero(drawn)))


def _weigh(
    goal: None, private: Reach, payload: Count, data: Cohort, weight: Array
) -> tuple[Reach, Weights]:
    """Send how many samples each candidate is nearest to."""
    counts = np.bincount(private.nearest, minlength=int(payload.candidates))
    return private, Weights(counts.astype(np.float64))


def _improve(
    goal: None, private: Reach | Final | None, payload: Centres, data: Cohort, weight: Array
) -> tuple[Final, Sums]:
    """Assign the samples; send the clusters' sums and counts. A sum over one sample is it."""
    points, K = Points.of(data), len(payload.centres)
    labels, squared = points.nearest(payload.centres)
    counts = np.bincount(labels, minlength=K)
    sent = (counts == 1)[labels]
    if private is not None:
        sent |= private.sent
    state, outcome = finish(labels, squared, sent)
    sums = points.sums(labels, np.ones(len(labels)), K)
    moved = np.int64(_moved(private, labels))
    return state, Sums(sums, counts.astype(np.float64), moved, *outcome)


def _moved(private: Reach | Final | None, labels: IntArray) -> int:
    """Return how many samples changed their cluster: all, the first time."""
    if isinstance(private, Final):
        return int((private.labels != labels).sum())
    return len(labels)
