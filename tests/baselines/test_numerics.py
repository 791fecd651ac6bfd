"""Distances and weighted k-means, with and without outliers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fedmf import lloyd, points
from fedmf.blocks import cut
from fedmf.points import Points, pick
from fedmf.sites import Cohort

X = np.random.default_rng(0).normal(size=(50, 7))
C = np.random.default_rng(1).normal(size=(5, 7))
TABLE = ((X[:, None] - C) ** 2).sum(axis=2)


@pytest.fixture(params=["whole", "blocks", "csr"])
def data(request, monkeypatch):
    """The samples as one block, as several in small pieces, and sparse."""
    if request.param == "csr":
        return Points.of(sparse.csr_array(X))
    if request.param == "whole":
        return Points.of(X)
    monkeypatch.setattr(points, "SCORE_BYTES", 8 * 5 * 4)
    monkeypatch.setattr(points, "PIECES_AT_ONCE", 3)
    parts = [part for first in range(0, 50, 13) for part in cut(X[first : first + 13])]
    return Points.of(Cohort(tuple(parts), np.array([0]), np.array([0, 50])))


def test_distances_are_those_of_the_definition(data):
    nearest, squared = data.nearest(C)
    np.testing.assert_array_equal(nearest, TABLE.argmin(axis=1))
    np.testing.assert_allclose(squared, TABLE.min(axis=1), rtol=1e-12)
    np.testing.assert_allclose(data.table(C), TABLE, rtol=1e-12)
    labels = np.arange(50) % 5
    np.testing.assert_allclose(data.squared_to(C, labels), TABLE[np.arange(50), labels], rtol=1e-12)


def test_some_samples_only(data):
    among = np.arange(50) % 3 == 0
    nearest, squared = data.nearest(sparse.csr_array(C), among)
    np.testing.assert_array_equal(nearest, TABLE[among].argmin(axis=1))
    np.testing.assert_allclose(squared, TABLE[among].min(axis=1), rtol=1e-12)


def test_sums_and_picks(data):
    labels, weights = np.arange(50) % 4, np.linspace(0, 2, 50)
    wanted = np.stack([(weights[labels == k, None] * X[labels == k]).sum(axis=0) for k in range(5)])
    np.testing.assert_allclose(data.sums(labels, weights, 5), wanted, atol=1e-12)
    some = np.array([0, 12, 13, 14, 49])
    np.testing.assert_array_equal(points.dense(pick(data.data, some)), X[some])
    assert pick(data.data, some[:0]).shape == (0, 7)


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_a_copy_is_at_distance_zero(offset):
    rows = X + offset
    for own in (rows, sparse.csr_array(rows), rows.astype(np.float32)):
        assert not Points.of(own).nearest(own)[1].any()


def test_integer_weights_are_copies():
    weights = np.arange(50) % 4
    copies = np.repeat(X, weights, axis=0)
    one = lloyd.descend(Points.of(X), weights.astype(float), C)
    other = lloyd.descend(Points.of(copies), np.ones(len(copies)), C)
    np.testing.assert_allclose(one.centres, other.centres, atol=1e-12)
    assert one.cost == pytest.approx(other.cost)


@pytest.mark.parametrize("outliers", [0.0, 2.5, 10.0])
def test_no_iteration_raises_the_cost(outliers):
    weights = np.linspace(0.5, 3, 50)
    steps = [lloyd.descend(Points.of(X), weights, C, outliers, count) for count in range(12)]
    costs = [step.cost for step in steps]
    assert np.diff(costs).max() <= 1e-12 * costs[0]
    assert costs[-1] < costs[0]
    np.testing.assert_allclose(steps[-1].kept.sum(), weights.sum() - outliers)


@given(
    st.lists(st.tuples(st.floats(0, 9), st.floats(0, 5)), min_size=1, max_size=12),
    st.floats(0, 20),
)
def test_trimming_leaves_out_the_farthest(pairs, outliers):
    squared, weights = np.array(pairs).T
    kept = lloyd.trim(squared, weights, outliers)
    assert (kept >= 0).all()
    assert (kept <= weights).all()
    gone = weights - kept
    assert gone.sum() <= outliers + 1e-9
    assert not gone[squared == 0].any()
    if gone.any():
        assert not kept[squared > squared[gone > 0].min()].any()


def test_an_empty_cluster_keeps_its_centre():
    centres = np.concatenate([C[:1], np.full((1, 7), 1e3)])
    found = lloyd.descend(Points.of(X), np.ones(50), centres)
    np.testing.assert_array_equal(found.centres[1], centres[1])
    np.testing.assert_allclose(found.centres[0], X.mean(axis=0), atol=1e-12)


def test_seeds_are_distinct_while_there_are_distinct_points():
    rows = np.repeat(np.arange(4.0)[:, None], [1, 5, 20, 2], axis=0)
    for seed in range(20):
        found = lloyd.seeds(Points.of(rows), np.ones(28), 4, np.random.default_rng(seed))
        assert sorted(found.ravel()) == [0, 1, 2, 3]
    found = lloyd.seeds(Points.of(rows), np.ones(28), 6, np.random.default_rng(0))
    assert set(found.ravel()) == {0, 1, 2, 3}


def test_draws_follow_their_mass():
    mass = np.array([0.0, 1.0, 0.0, 3.0, 0.0])
    drawn = lloyd.draw(mass, 4000, np.random.default_rng(0))
    share = (drawn == 3).mean()
    assert set(drawn) == {1, 3}
    assert abs(share - 0.75) < 4 * np.sqrt(0.75 * 0.25 / 4000)
