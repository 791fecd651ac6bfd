"""k-FED: one-shot federated clustering, Dennis, Li and Smith (ICML 2021).

From the source. A site finds k' <= K clusters of its own (Algorithm 1, after Awasthi and Sheffet
2012) and sends their centres, once:

    project the samples on the site's k' leading right singular vectors; cluster there: centres nu
    S_r <- the samples with ||x - nu_r|| <= ||x - nu_s|| / 3 for all s;  theta_r <- mean of S_r
    Lloyd's algorithm on the samples as they are, from theta

The server (Algorithm 2) takes all centres of one site, then again and again the centre that is
farthest from those taken until there are K, and makes one round of Lloyd's: each site's centre goes
to the nearest of the K. A sample belongs where its own site's centre went; the final centres are
the means of the sites' centres. Nothing is weighted by sizes, which no site tells.

Choices: k' is the square root of K, rounded up, the most that the source's theory covers; a site
with no more than k' samples has each of them as a centre; the site that is taken first is the first
one with the most centres; an empty S_r takes all samples nearest to nu_r; where all sites together
have fewer than K centres, centres repeat.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.extmath import randomized_svd

from fedmf.arrays import Array, IntArray, Scalar
from fedmf.baselines.base import Final, Outcome, Result, Rival, Scene, finish, result
from fedmf.baselines.rows import Sent, expose, like, pack, unpack
from fedmf.checks import check_integer
from fedmf.errors import ParameterError
from fedmf.lloyd import Solution, descend, means, padded, solve
from fedmf.messages import Exchange, Task, ask
from fedmf.points import Flags, Labels, Points, dense
from fedmf.rng import stream
from fedmf.sites import Cohort


class Local(NamedTuple):
    """A site's private state: the cluster of its own that each sample is in."""

    cluster: Labels
    sent: Flags


class Begin(NamedTuple):
    """The order to cluster."""

    seed: Scalar


class Verdict(NamedTuple):
    """The final centres, and where each site's centres went: a line a site, -1 beyond its last."""

    centres: Array
    went: IntArray  # (P, k')


@dataclass(frozen=True)
class KFED(Rival):
    """One-shot clustering of local centres.

    Parameters
    ----------
    local_clusters : k', at most K; None: the square root of K, rounded up.
    local_restarts : starts of the k-means on the projected samples.
    """

    name = "k-fed"
    sends = "local centres; the centre of a cluster of one sample is that sample"

    local_clusters: int | None = None
    local_restarts: int = 1

    def __post_init__(self) -> None:
        """Check every setting once."""
        super().__post_init__()
        check_integer("local_restarts", self.local_restarts, minimum=1)
        if self.local_clusters is None:
            return
        check_integer("local_clusters", self.local_clusters, minimum=1)
        if self.local_clusters > self.n_clusters:
            raise ParameterError(
                f"local_clusters must be at most n_clusters, {self.n_clusters}; "
                f"got {self.local_clusters}"
            )

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks."""
        return {
            "centres": Task(self._centres, each=True, counted=True),
            "induce": Task(_induce),
        }

    def play(self, scene: Scene) -> Exchange[Result]:
        """Cluster the sites' centres."""
        answer = yield ask("centres", Begin(np.int64(scene.seed)), scene.everyone)
        own = [dense(unpack(each, scene.features)) for each in answer.each]
        every = np.concatenate(own)
        taken = _farthest_first(own, self.n_clusters)
        went = Points.of(every).nearest(taken)[0]
        counts = np.bincount(went, minlength=len(taken))
        sums = Points.of(every).sums(went, np.ones(len(went)), len(taken))
        centres = means(sums, counts, taken)
        answer = yield ask("induce", Verdict(centres, _lines(went, own)), scene.everyone)
        return result(centres, answer)

    def _centres(
        self, goal: None, private: None, payload: Begin, data: Cohort, weight: Array
    ) -> tuple[Local, Sent]:
        """Send the centres of the site's own clusters."""
        random = stream(int(payload.seed), "k-fed centres", site=int(data.sites[0]))
        points = Points.of(data)
        wanted = self.local_clusters or int(np.ceil(np.sqrt(self.n_clusters)))
        found = _cluster(points, wanted, self.local_restarts, random)
        centres, sent = expose(points, found)
        used = np.unique(found.nearest)
        rows = like(centres[used], data)
        return Local(np.searchsorted(used, found.nearest), sent), pack(rows)


def _cluster(points: Points, clusters: int, restarts: int, random: np.random.Generator) -> Solution:
    """Return the clusters that Awasthi and Sheffet's algorithm finds."""
    n, M = points.data.shape
    ones = np.ones(n)
    if n <= clusters:
        return descend(points, ones, dense(points.data.rows))
    projected = points
    if clusters < M:
        directions = _directions(points.data.rows, clusters, random)
        projected = Points.of(points.data.cross(directions).T)
    rough = solve(projected, ones, clusters, random, restarts)
    labels, close = _close(projected, rough.centres)
    counts = np.bincount(labels, close, clusters)
    weights = np.where((counts == 0)[labels], 1.0, close)
    sums = points.sums(labels, weights, clusters)
    start = means(sums, np.bincount(labels, weights, clusters), sums)
    return descend(points, ones, start)


def _directions(rows: Any, count: int, random: np.random.Generator) -> Array:
    """Return the leading right singular vectors, (M, k')."""
    wide = rows.astype(np.float64, copy=False)
    state = int(random.integers(2**31))
    return np.asarray(randomized_svd(wide, n_components=count, random_state=state)[2].T)


def _close(points: Points, centres: Array) -> tuple[IntArray, Array]:
    """Return each sample's nearest centre, and one where all others are three times as far."""
    labels, squared = points.nearest(centres)
    others = points.table(centres)
    others[np.arange(len(labels)), labels] = np.inf
    return labels, (squared <= others.min(axis=1) / 9).astype(np.float64)


def _farthest_first(own: list[Array], clusters: int) -> Array:
    """Return K of the sites' centres: one site's, then always the farthest from those taken."""
    first = max(range(len(own)), key=lambda site: len(own[site]))
    taken = own[first][:clusters]
    points = Points.of(np.concatenate(own))
    squared = points.nearest(taken)[1]
    while len(taken) < clusters and squared.any():
        new = dense(points.data.rows[[int(squared.argmax())]])
        taken = np.concatenate([taken, new])
        squared = np.minimum(squared, points.nearest(new)[1])
    return padded(taken, clusters)


def _lines(went: IntArray, own: list[Array]) -> IntArray:
    """Return where the centres went, a line a site."""
    lines = np.full((len(own), max(map(len, own))), -1, dtype=np.int64)
    lengths = np.array([len(centres) for centres in own])
    lines[np.arange(lines.shape[1]) < lengths[:, None]] = went
    return lines


def _induce(
    goal: None, private: Local, payload: Verdict, data: Cohort, weight: Array
) -> tuple[Final, Outcome]:
    """Give each sample the cluster that its own site's centre went to."""
    labels = payload.went[data.sites[0]][private.cluster].astype(np.int64)
    squared = Points.of(data).squared_to(payload.centres, labels)
    return finish(labels, squared, private.sent)
