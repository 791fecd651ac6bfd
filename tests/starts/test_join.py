"""Ward's way of joining rows at the server."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedmf.starts.join import join, ward


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
