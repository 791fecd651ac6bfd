"""Weighted k-means at one place: k-means++ seeds, then Lloyd's iterations, also with outliers.

With outliers it is k-means-- (Chawla and Gionis 2013): in each iteration the weight `outliers` that
is farthest from the centres is left out of the means. A point on the border is left out in part, so
that no iteration raises the cost.

Own choices: the seeds are greedy (the best of 2 + log K draws, as in scikit-learn), drawn among
what is not left out at that moment; the best of several starts is kept; a cluster that loses all
its points keeps its centre; where there are fewer distinct points than clusters, centres repeat.
scikit-learn's own k-means is not used: the order of its sums depends on its threads, and it warns
of, or refuses, what is ordinary at a small site.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.points import BoolArray, Points, dense, pick

ITERATIONS = 300


class Solution(NamedTuple):
    """Centres, and what they mean for the points."""

    centres: Array  # (K, M)
    nearest: IntArray  # (n,)
    squared: Array  # (n,), squared distance to the nearest centre
    kept: Array  # (n,), the weight that is not left out
    cost: float

    def left_out(self, weights: Array) -> BoolArray:
        """Return which points are outliers as a whole."""
        return np.asarray((self.kept == 0) & (weights > 0) & (self.squared > 0))


def solve(
    points: Points,
    weights: Array,
    clusters: int,
    random: np.random.Generator,
    restarts: int = 1,
    outliers: float = 0.0,
) -> Solution:
    """Return the best of several starts."""
    found = (
        descend(points, weights, seeds(points, weights, clusters, random, outliers), outliers)
        for _ in range(restarts)
    )
    return min(found, key=lambda solution: solution.cost)


def descend(
    points: Points,
    weights: Array,
    centres: Array,
    outliers: float = 0.0,
    iterations: int = ITERATIONS,
) -> Solution:
    """Return where Lloyd's iterations come to rest from these centres."""
    before: tuple[IntArray, Array] | None = None
    while True:
        nearest, squared = points.nearest(centres)
        kept = trim(squared, weights, outliers)
        settled = before is not None and all(map(np.array_equal, before, (nearest, kept)))
        if settled or iterations == 0:
            return Solution(centres, nearest, squared, kept, float(kept @ squared))
        before, iterations = (nearest, kept), iterations - 1
        counts = np.bincount(nearest, kept, len(centres))
        centres = means(points.sums(nearest, kept, len(centres)), counts, centres)


def means(sums: Array, counts: Array | IntArray, centres: Array) -> Array:
    """Return each cluster's mean, or its old centre where it is empty."""
    filled = counts > 0
    return np.where(filled[:, None], sums / np.where(filled, counts, 1)[:, None], centres)


def trim(squared: Array, weights: Array, outliers: float) -> Array:
    """Return the weights less those of the farthest points, `outliers` in all at most.

    What lies on a centre is never left out: it costs nothing.
    """
    if outliers <= 0:
        return weights
    order = np.argsort(-squared, kind="stable")
    sorted_weights = weights[order]
    before = np.cumsum(sorted_weights) - sorted_weights
    excluded = np.clip(outliers - before, 0, sorted_weights)
    kept = np.empty_like(weights)
    kept[order] = sorted_weights - np.where(squared[order] > 0, excluded, 0)
    return kept


def seeds(
    points: Points,
    weights: Array,
    clusters: int,
    random: np.random.Generator,
    outliers: float = 0.0,
    tries: int | None = None,
) -> Array:
    """Return K points drawn one by one, with odds by weight times squared distance, (K, M).

    tries : how many draws the best is taken of; 1 is k-means++ as published, None 2 + log K.
    """
    tries = 2 + int(np.log(clusters)) if tries is None else tries
    chosen = [int(draw(weights, 1, random)[0])]
    squared = points.table(pick(points.data, np.array(chosen)))[:, 0]
    while len(chosen) < clusters:
        mass = trim(squared, weights, outliers) * squared
        if not mass.any():
            break
        drawn = np.unique(draw(mass, tries, random))
        table = np.minimum(points.table(pick(points.data, drawn)), squared[:, None])
        costs = [trim(column, weights, outliers) @ column for column in table.T]
        best = int(np.argmin(costs))
        chosen.append(int(drawn[best]))
        squared = table[:, best]
    rows = np.concatenate([dense(pick(points.data, np.array([place]))) for place in chosen])
    return padded(rows, clusters)


def padded(centres: Array, clusters: int) -> Array:
    """Return K centres, repeated from the first on where there are fewer."""
    return centres[np.arange(clusters) % len(centres)]


def draw(mass: Array, count: int, random: np.random.Generator) -> IntArray:
    """Return indices drawn with replacement, with probabilities by their mass."""
    edges = np.cumsum(mass)
    places: IntArray = np.searchsorted(edges, random.random(count) * edges[-1], side="right")
    last = int(np.flatnonzero(mass)[-1]) if mass.any() else len(mass) - 1
    return np.minimum(places, last).astype(np.int64, copy=False)
