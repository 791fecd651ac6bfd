"""Joining weighted rows: each join is the best there is, and the clearer clusters are taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedmf.starts.join import average, clearest, join, ward


def error(points, weights, label):
    """Return the weighted squared error around the groups' means."""
    total = 0.0
    for own in np.unique(label):
        part, mass = points[label == own], weights[label == own]
        mean = mass @ part / mass.sum()
        total += float(mass @ ((part - mean) ** 2).sum(axis=1))
    return total


@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 6))
def test_each_join_is_the_cheapest(seed, count, clusters):
    random = np.random.default_rng(seed)
    points, weights = random.random((count, 3)), random.uniform(1, 9, count)
    found = ward(points, weights, clusters)
    label = np.arange(count)
    while len(np.unique(label)) > clusters:
        own = np.unique(label)
        pairs = [(a, b) for a in own for b in own if a < b]
        joined = [np.where(label == b, a, label) for a, b in pairs]
        label = min(joined, key=lambda new: error(points, weights, new))
    assert len(np.unique(found)) == len(np.unique(label))
    assert error(points, weights, found) == pytest.approx(error(points, weights, label))


def test_many_rows_are_thinned_out_first(monkeypatch):
    random = np.random.default_rng(0)
    rows = np.repeat(np.eye(3), 40, axis=0) + 0.01 * random.random((120, 3))
    sizes = random.integers(5, 50, 120).astype(float)
    wanted = join(rows, sizes, 3, random)
    monkeypatch.setattr("fedmf.starts.join.MOST", 30)
    found = join(rows, sizes, 3, random)
    order = np.argmax(found, axis=1), np.argmax(wanted, axis=1)
    np.testing.assert_allclose(found[np.argsort(order[0])], wanted[np.argsort(order[1])])


def mean_distance(points, weights, one, other):
    """Return the mean of 1 - u'v over the members of two groups."""
    pairs = np.outer(weights[one], weights[other])
    return float((pairs * (1 - points[one] @ points[other].T)).sum() / pairs.sum())


@given(st.integers(0, 2**31), st.integers(1, 12), st.integers(1, 6))
def test_each_join_by_averages_is_of_the_nearest(seed, count, clusters):
    random = np.random.default_rng(seed)
    points, weights = random.random((count, 3)), random.uniform(1, 9, count)
    points /= np.linalg.norm(points, axis=1)[:, None]
    label = np.arange(count)
    while len(np.unique(label)) > clusters:
        own = np.unique(label)
        pairs = [(a, b) for a in own for b in own if a < b]
        costs = [mean_distance(points, weights, label == a, label == b) for a, b in pairs]
        kept, gone = pairs[int(np.argmin(costs))]
        label = np.where(label == gone, kept, label)
    found = average(points, weights, clusters)
    assert groups_in(found) == groups_in(label)


def groups_in(label):
    """Return the points of each group."""
    return {frozenset(np.flatnonzero(label == own).tolist()) for own in np.unique(label)}


@given(st.integers(0, 2**31), st.integers(1, 30), st.integers(1, 6), st.integers(1, 9))
def test_ward_goes_on_until_no_group_is_small(seed, count, clusters, least):
    random = np.random.default_rng(seed)
    points, weights = random.random((count, 3)), random.integers(1, 4, count).astype(float)
    sizes = np.bincount(ward(points, weights, clusters, least=least), weights)
    assert len(sizes) <= clusters
    assert sizes.sum() == weights.sum()
    assert sizes.min() >= least or len(sizes) == 1
    if np.bincount(ward(points, weights, clusters), weights).min() >= least:
        assert len(sizes) == min(count, clusters)


def unit(rows):
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def test_large_clusters_beside_small_ones_are_for_averages():
    # Ward's way saves more by halving one of 120 than it loses by joining two of three.
    random = np.random.default_rng(0)
    truth = np.repeat(np.arange(6), [120, 120, 3, 3, 3, 3])
    rows = unit(np.eye(40)[truth] + 0.17 * random.standard_normal((len(truth), 40)))
    weights = np.ones(len(rows))
    by_ward, by_average = ward(rows, weights, 6), average(rows, weights, 6)
    assert groups_in(by_average) == groups_in(truth)
    assert len(np.unique(by_ward[truth == 0])) > 1
    assert clearest(rows, weights, [by_ward, by_average]) is by_average
    assert clearest(rows, weights, [by_average, by_ward]) is by_average


def test_one_cluster_with_nearly_everything_is_not_taken():
    # Nothing is far from anything: averages leave single rows over, which have a large silhouette.
    random = np.random.default_rng(0)
    rows, weights = unit(random.standard_normal((150, 40)) + 0.4), np.ones(150)
    by_ward, by_average = ward(rows, weights, 5), average(rows, weights, 5)
    assert np.bincount(by_average).max() > 75
    assert clearest(rows, weights, [by_ward, by_average]) is by_ward
    assert clearest(rows, weights, [by_average]) is by_average  # there is no other
