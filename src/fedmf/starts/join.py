"""How many weighted rows are joined to few: two at a time, always the two that are most alike.

Ward's way: the squared error of a joint group around its mean is that of its two parts and

    w_i w_j / (w_i + w_j) ||u_i - u_j||^2

and the two for which this is least are joined. Over the rows of 100 sites its error is below that
of the best of twenty k-means. By averages: the two are joined whose members have the least mean
distance 1 - u'v. Ward's way prefers clusters of like weight and splits a large one; averages follow
clusters of any weight, but where nothing is far from everything they gather all in one and leave
single rows over. Which of them a start takes, it decides by how clear the clusters are.

The u are unit vectors. There is no chance in it but where there are more rows than MOST: Lloyd's
iterations from some of them come first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from fedmf.arrays import Array, IntArray, Rows
from fedmf.clustering.silhouette import Sums, scores
from fedmf.lloyd import descend, draw
from fedmf.points import Points, dense, row_squares

MOST = 4000  # rows whose distances to each other the server holds
FIRST_ITERATIONS = 5
SPREAD = 0.5  # of the factors that tell copies of one centre apart
CHAINED = 0.5  # of all weight in one cluster: averages have gathered what is not alike

# From points, weights and a number of clusters to the cluster of each point.
Way: TypeAlias = Callable[[Array, Array, int], IntArray]
# From the costs, the weights and two groups to the costs of joining each with these two's union.
Rule: TypeAlias = Callable[[Array, Array, int, int], Array]


def ward(points: Rows, weights: Array, clusters: int, least: float = 0) -> IntArray:
    """Return each weighted point's group after joining Ward's way, (n,).

    Down to so many groups at the most; then on, as long as one weighs less than `least`.
    """
    pairs = weights[:, None] * weights / (weights[:, None] + weights)
    return _join(_distances(points) * pairs, weights, _ward, clusters, least)


def average(points: Array, weights: Array, clusters: int) -> IntArray:
    """Return each point's group after joining by averages, (n,); points are means of units."""
    return _join(1 - points @ points.T, weights, _average, clusters)


def join(
    rows: Array,
    sizes: Array,
    clusters: int,
    random: np.random.Generator,
    ways: Sequence[Way] = (ward,),
) -> Array:
    """Return K centres, (K, M), the means over all members of the groups (rows, sizes)."""
    wide = rows.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1)
    units, weights = wide / lengths[:, None], sizes * lengths
    first = _fewer(units, weights, random)
    count = int(first.max()) + 1
    mass = np.bincount(first, weights, count).astype(np.float64)
    inner = _sums(units * weights[:, None], first, count) / mass[:, None]
    label = clearest(units, weights, [way(inner, mass, clusters)[first] for way in ways])
    found = int(label.max()) + 1
    totals = np.bincount(label, sizes, found).astype(np.float64)
    centres = _sums(wide * sizes[:, None], label, found) / totals[:, None]
    return _complete(centres, totals, clusters, random)


def clearest(units: Array, weights: Array, found: Sequence[IntArray]) -> IntArray:
    """Return the labels with the largest mean silhouette.

    The first are always among them, the others only if no cluster has over half of all weight: the
    silhouette of one that has nearly all is large, and says nothing.
    """
    others = [
        label for label in found[1:] if np.bincount(label, weights).max() <= CHAINED * weights.sum()
    ]
    if not others:
        return found[0]
    points = Points.of(units)
    return max([found[0], *others], key=lambda label: _silhouette(points, label, weights))


def _silhouette(points: Points, label: IntArray, weights: Array) -> float:
    """Return the weighted mean of the rows' silhouettes."""
    counts, every = np.bincount(label), np.ones(len(label))
    squares = np.bincount(label, points.squares).astype(np.float64)
    sums = Sums(counts.astype(np.float64), points.sums(label, every, len(counts)), squares)
    found = scores(points, label, every.astype(bool), sums)
    return float(np.average(found, weights=weights))


def _join(table: Array, weights: Array, rule: Rule, clusters: int, least: float = 0) -> IntArray:
    """Join by a table of costs, which is used up."""
    weights, label, there = weights.copy(), np.arange(len(table)), np.ones(len(table), dtype=bool)
    np.fill_diagonal(table, np.inf)
    nearest, cost = table.argmin(axis=1), table.min(axis=1)
    for left in range(len(table), 1, -1):
        small = there & (weights < least)
        if left <= clusters and not small.any():
            break
        wanted = cost if left > clusters else np.where(small, cost, np.inf)
        keep = int(wanted.argmin())
        gone = int(nearest[keep])
        row = rule(table, weights, keep, gone)
        row[[keep, gone]] = np.inf
        weights[keep] += weights[gone]
        label[label == gone], there[gone] = keep, False
        table[keep], table[:, keep] = row, row
        table[gone], table[:, gone] = np.inf, np.inf
        # Joining brings nobody nearer than the nearer part was: other rows stay as they are.
        changed = (nearest == keep) | (nearest == gone)
        changed[keep], changed[gone] = True, True
        nearest[changed] = table[changed].argmin(axis=1)
        cost[changed] = table[changed].min(axis=1)
    return np.unique(label, return_inverse=True)[1].astype(np.int64)


def _ward(table: Array, weights: Array, one: int, other: int) -> Array:
    """Return the costs of joining each group with the union of two (Lance and Williams)."""
    both = weights[one] + weights[other]
    costs = (weights[one] + weights) * table[one] + (weights[other] + weights) * table[other]
    row: Array = (costs - weights * table[one, other]) / (both + weights)
    return row


def _average(table: Array, weights: Array, one: int, other: int) -> Array:
    """Return the mean distances of each group to the union of two."""
    total: Array = weights[one] * table[one] + weights[other] * table[other]
    row: Array = total / (weights[one] + weights[other])
    return row


def _distances(points: Rows) -> Array:
    """Return all squared distances, (n, n)."""
    wide = points.astype(np.float64, copy=False)
    squares = row_squares(wide)
    return np.asarray(np.maximum(squares[:, None] + squares - 2 * dense(wide @ wide.T), 0))


def _sums(rows: Array, label: IntArray, count: int) -> Array:
    """Return the sum of the rows of each label, (count, M)."""
    return Points.of(rows).sums(label, np.ones(len(rows)), count)


def _fewer(units: Array, weights: Array, random: np.random.Generator) -> IntArray:
    """Return a first grouping of the rows into MOST groups at the most, none of them empty."""
    if len(units) <= MOST:
        return np.arange(len(units))
    seeds = units[np.unique(draw(weights, MOST, random))]
    nearest = descend(Points.of(units), weights, seeds, iterations=FIRST_ITERATIONS).nearest
    return np.unique(nearest, return_inverse=True)[1].astype(np.int64)


def _complete(centres: Array, totals: Array, clusters: int, random: np.random.Generator) -> Array:
    """Return K centres; where there are fewer, copies of the largest, their entries varied."""
    missing = clusters - len(centres)
    if missing <= 0:
        return centres
    largest = np.argsort(-totals, kind="stable")[np.arange(missing) % len(centres)]
    return np.concatenate([centres, varied(centres[largest], random)])


def varied(centres: Array, random: np.random.Generator) -> Array:
    """Return centres with each entry varied by up to half."""
    return np.asarray(centres * (1 + SPREAD * (2 * random.random(centres.shape) - 1)))
