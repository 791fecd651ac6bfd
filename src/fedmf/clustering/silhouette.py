"""The silhouette across sites, from sums: how much nearer a sample is to its own cluster.

For a sample x of cluster c, with mean *squared* distances to the samples of a cluster,

    a = to the others of c,    b = to those of the nearest other cluster,    s = (b - a) / max(a, b)

and s = 0 where x is alone in its cluster. No pair of samples has to meet, since the mean squared
distance to the n_k samples of cluster k is ||x||^2 - 2 x'm_k + q_k, where m_k is the mean of the
samples and q_k that of their squared norms. A site sends these sums for its own samples; with the
totals of all sites it scores its own, and sends the sums of s. This is exactly the silhouette of
the pooled data for squared Euclidean distances.

The sum over a single sample is that sample. Hence a site sends nothing of a cluster of which it has
fewer than `n_min` samples: those are scored, but their part in the cluster's means is left out.
`n_min=1` gives the exact figure, and is for simulations and for sums that are added up securely.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.border import as_sites
from fedmf.checks import check_integer
from fedmf.engine import converse, set_up
from fedmf.errors import InputError
from fedmf.ledger import SETUP, Ledger
from fedmf.messages import Exchange, Nothing, Runtime, Task, ask
from fedmf.points import BoolArray, Points
from fedmf.runtimes.local import LocalRuntime
from fedmf.sites import Cohort

Labels: TypeAlias = Annotated[IntArray, "columns"]


class Labelled(NamedTuple):
    """The private state of a site that has labels and no H."""

    labels: Labels


class Sums(NamedTuple):
    """Sums over a site's samples, by cluster."""

    counts: Array  # (K,)
    rows: Array  # (K, M)
    squares: Array  # (K,), of ||x||^2


class Scores(NamedTuple):
    """Sums of s over a site's samples, by cluster."""

    counts: Array  # (K,)
    scores: Array  # (K,)


class Silhouette(NamedTuple):
    """The mean of s over all samples, and over those of each cluster (NaN where it is empty)."""

    mean: float
    by_cluster: Array  # (K,)


@dataclass(frozen=True)
class SilhouetteMethod:
    """The method: two requests to every site. A site's private state has `labels`, or else `H`."""

    clusters: int
    n_min: int = 5

    def __post_init__(self) -> None:
        """Check every setting once."""
        check_integer("clusters", self.clusters, minimum=1)
        check_integer("n_min", self.n_min, minimum=1)

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks."""
        return {"sums": Task(self._sums), "scores": Task(self._scores)}

    def run(self, everyone: IntArray) -> Exchange[Silhouette]:
        """Return the silhouette of all sites' samples."""
        sums = (yield ask("sums", Nothing(), everyone)).total
        counts, scores = (yield ask("scores", sums, everyone)).total
        by_cluster = np.where(counts > 0, scores / np.maximum(counts, 1), np.nan)
        return Silhouette(float(scores.sum() / counts.sum()), by_cluster)

    def over(self, runtime: Runtime, ledger: Ledger | None = None) -> Silhouette:
        """Hold the exchange over any runtime; what is sent goes into the ledger."""
        exchange, ledger = self.run(np.arange(runtime.sites)), ledger or Ledger()
        return converse(exchange, self, None, runtime, ledger, SETUP)

    def _sums(
        self, goal: None, private: Any, payload: Nothing, data: Cohort, weight: Array
    ) -> tuple[Any, Sums]:
        """Add up the samples of each cluster, but for those of which a site has too few."""
        labels, points = _labels(private), Points.of(data)
        inside = self._inside(data, labels).astype(np.float64)
        rows = points.sums(labels, inside, self.clusters)
        return private, Sums(
            self._add(labels, inside), rows, self._add(labels, inside * points.squares)
        )

    def _scores(
        self, goal: None, private: Any, sums: Sums, data: Cohort, weight: Array
    ) -> tuple[Any, Scores]:
        """Score the cohort's samples."""
        labels = _labels(private)
        s = scores(Points.of(data), labels, self._inside(data, labels), sums)
        return private, Scores(self._add(labels, np.ones(len(s))), self._add(labels, s))

    def _inside(self, data: Cohort, labels: IntArray) -> BoolArray:
        """Return which samples are in the sums: their site has enough of their cluster."""
        site = np.repeat(np.arange(len(data.sites)), data.sizes)
        groups = site * self.clusters + labels
        return np.asarray(np.bincount(groups)[groups] >= self.n_min)

    def _add(self, labels: IntArray, values: Array) -> Array:
        """Return the sum of the values of each cluster, (K,)."""
        return np.bincount(labels, values, self.clusters).astype(np.float64)


def scores(points: Points, labels: IntArray, inside: BoolArray, sums: Sums) -> Array:
    """Return s of each sample, (n,), from the sums of all sites; `inside`: it is in them itself."""
    counts = np.asarray(sums.counts)
    filled = np.maximum(counts, 1)
    means = sums.rows / filled[:, None]
    inner = np.maximum(sums.squares / filled - np.einsum("ij,ij->i", means, means), 0)
    apart = points.table(means) + inner  # ||x - m_k||^2 and the spread within k
    apart[:, counts == 0] = np.inf
    sample, company = np.arange(len(labels)), counts[labels] - inside
    # The mean over a cluster counts x itself, at distance 0, where the others alone are wanted.
    factor = np.where(inside, counts[labels] / np.maximum(company, 1), 1)
    own = np.where(company > 0, apart[sample, labels], 0) * factor
    apart[sample, labels] = np.inf
    other = apart.min(axis=1)
    known = (company > 0) & np.isfinite(other)
    other = np.where(known, other, 0)
    largest = np.maximum(own, other)
    return np.where(known & (largest > 0), (other - own) / np.where(largest > 0, largest, 1), 0.0)


def silhouette(
    sites: Sequence[Any],
    labels: Sequence[Any],
    n_min: int = 5,
    clusters: int | None = None,
    ledger: Ledger | None = None,
) -> Silhouette:
    """Return the silhouette of sites in this process.

    Parameters
    ----------
    sites : as in `fedmf.fit`.
    labels : for each site its samples' clusters, whole numbers from 0, as `Run.labels` has them.
    n_min : of how many samples a site must have in a cluster to send their sums; 1: exact.
    clusters : K; None: as many as the largest label says.
    ledger : where what is sent is written down.
    """
    data = as_sites(sites)
    own = [_checked(part, rows.shape[0]) for part, rows in zip(labels, data.rows, strict=True)]
    count = clusters or 1 + max(int(part.max()) for part in own)
    runtime = LocalRuntime(data.rows, data.features)
    set_up(runtime)  # refuses what is not finite
    runtime.place([Labelled(part) for part in own])
    return SilhouetteMethod(count, n_min).over(runtime, ledger)


def _checked(labels: Any, samples: int) -> IntArray:
    """Return one site's labels as an array."""
    found = np.asarray(labels)
    if found.shape != (samples,) or found.dtype.kind not in "iu" or found.min() < 0:
        raise InputError(
            f"labels must have a whole number from 0 for each of the site's {samples} samples, "
            f"got {found.dtype} of shape {found.shape}"
        )
    return found.astype(np.int64)


def _labels(private: Any) -> IntArray:
    """Return the clusters of a site's samples: its labels, or the largest entries of H."""
    found = getattr(private, "labels", None)
    return np.asarray(private.H.argmax(axis=0) if found is None else found)
