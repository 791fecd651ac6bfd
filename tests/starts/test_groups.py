"""One site's groups: which of them may leave it."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fedmf.sites import Cohort
from fedmf.starts import KMeans, Linkage
from fedmf.starts.groups import groups_of

FEATURES, RANK = 4, 3


@pytest.fixture(params=[KMeans, lambda n_min: Linkage(n_min, groups=1)], ids=["kmeans", "linkage"])
def groups(request):
    """Return a function from samples to the groups that one start lets leave a site."""

    def made(X, clusters, n_min, seed=0):
        start, random = request.param(n_min), np.random.default_rng(seed)
        return groups_of(Cohort.of(X), n_min, lambda units: start.group(units, clusters, random))

    return made


def unit(rows):
    """Return the rows that are not zero, scaled to length 1."""
    lengths = np.linalg.norm(rows, axis=1)
    return rows[lengths > 0] / lengths[lengths > 0, None]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 2**31), st.integers(2, 30), st.integers(2, 6), st.booleans())
def test_groups_keep_the_rules(groups, seed, size, n_min, single):
    random = np.random.default_rng(seed)
    X = random.gamma(0.5, size=(size, FEATURES)).astype(np.float32 if single else np.float64)
    found = groups(X, RANK, n_min, seed)
    assert len(found.rows) <= min(RANK, size // n_min)
    assert found.rows.dtype == X.dtype
    if len(found.rows):
        assert found.sizes.min() >= n_min
        assert found.sizes.sum() == size
        lengths = np.linalg.norm(X, axis=1)
        assert np.linalg.norm(found.rows, axis=1).max() <= lengths.max() * (1 + 1e-6)


def test_n_min_just_reached(groups):
    X = np.random.default_rng(0).random((6, FEATURES))
    mean = unit(X).mean(axis=0) * np.linalg.norm(X, axis=1).mean()
    found = groups(X, 1, 6)
    np.testing.assert_allclose(found.rows, mean[None])
    assert found.sizes.tolist() == [6]
    assert len(groups(X[:5], 1, 6).rows) == 0


@pytest.mark.parametrize("filler", ["copies", "multiples", "zeros", "neighbours"])
def test_a_canary_among_its_like_stays(groups, filler):
    canary = np.array([3.0, 1.0, 4.0, 1.5])
    others = {
        "copies": np.tile(canary, (9, 1)),
        "multiples": np.outer(np.arange(1, 10), canary),
        "zeros": np.zeros((9, FEATURES)),
        "neighbours": canary * (1 + 1e-9 * np.random.default_rng(0).random((9, FEATURES))),
    }[filler]
    X = np.concatenate([canary[None], others])
    assert len(groups(X, RANK, 5).rows) == 0


@pytest.mark.parametrize("copies", [1, 5, 9])
def test_copies_count_once(groups, copies):
    rows = np.random.default_rng(0).random((5, FEATURES))
    X = np.repeat(rows, copies, axis=0) * np.arange(1, 5 * copies + 1)[:, None]
    for distinct, count in (4, 0), (5, 1):
        assert len(groups(X[: distinct * copies], 1, 5).rows) == count


def test_a_mean_that_happens_to_be_a_sample_stays(groups):
    ring = np.array([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1]])
    X = np.concatenate([ring, [[1.0, 1.0, 1.0]]])  # their mean points to the last one
    assert len(groups(X, 1, 5).rows) == 0
    assert len(groups(X[:5], 1, 5).rows) == 1


def test_one_large_sample_does_not_rule_a_group(groups):
    X = np.random.default_rng(0).random((5, FEATURES))
    X[0] *= 1e9
    row = groups(X, 1, 5).rows[0]
    np.testing.assert_allclose(unit(row[None]), unit(unit(X).mean(axis=0)[None]))


def test_a_large_site_joins_some_and_gives_all_to_the_nearest(monkeypatch):
    monkeypatch.setattr("fedmf.starts.linkage.MOST", 20)
    random = np.random.default_rng(0)
    kinds = np.repeat([0, 1, 2], [60, 30, 10])
    X = np.eye(3, FEATURES)[kinds] + 0.1 + 0.02 * random.random((100, FEATURES))
    start, cohort = Linkage(groups=1), Cohort.of(X)
    found = groups_of(cohort, 3, lambda units: start.group(units, RANK, random))
    order = found.rows.argmax(axis=1).argsort()
    assert found.sizes[order].tolist() == [60, 30, 10]
    wanted = [
        unit(X[kinds == k]).mean(axis=0) * np.linalg.norm(X[kinds == k], axis=1).mean()
        for k in range(3)
    ]
    np.testing.assert_allclose(found.rows[order], wanted)
