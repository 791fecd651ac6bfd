"""What each partition promises beyond covering the samples."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import random_array
from sklearn.cluster import KMeans

from fedmf import rng
from fedmf.partitions import partition
from fedmf.partitions._sizes import fill_empty, power_law_sizes
from fedmf.partitions.kmeans import _assign

QUICK = settings(max_examples=60, deadline=None)


def sizes(sites):
    return np.array([len(rows) for rows in sites])


def planted(n_clusters=8, size=40, seed=0):
    """Clusters a hundred times farther apart than they are wide."""
    random = np.random.default_rng(seed)
    centres = 100 * random.permutation(np.eye(n_clusters, 10))
    labels = random.permutation(np.repeat(np.arange(n_clusters), size))
    return centres[labels] + random.standard_normal((labels.size, 10)), labels


@given(n=st.integers(1, 500), data=st.data())
@QUICK
def test_iid_sizes_differ_by_at_most_one(n, data):
    n_sites = data.draw(st.integers(1, n))
    found = sizes(partition("iid", np.zeros((n, 1)), n_sites=n_sites))
    assert found.max() - found.min() <= 1


def test_iid_mixes_the_samples():
    sites = partition("iid", np.zeros((10_000, 1)), n_sites=10)
    means = np.array([rows.mean() for rows in sites])
    # A site's mean index has a standard error of 10000 / sqrt(12 * 1000) = 91.
    assert np.abs(means - 4999.5).max() < 5 * 91


@pytest.mark.parametrize("name", ["kmeans", "nearest"])
def test_similar_samples_share_a_site(name):
    X, labels = planted()
    sites = partition(name, X, n_sites=60, seed=3)
    mixed = [len(set(labels[rows])) for rows in sites]
    if name == "nearest":
        assert np.mean(mixed) < 1.2
    else:
        assert max(mixed) == 1


@pytest.mark.parametrize("seed", range(5))
def test_kmeans_finds_planted_clusters(seed):
    X, labels = planted(seed=seed)
    sites = partition("kmeans", X, n_sites=8, seed=seed)
    assert [len(set(labels[rows])) for rows in sites] == [1] * 8
    assert sizes(sites).tolist() == [40] * 8


def test_kmeans_on_a_sample_of_the_rows_still_finds_the_clusters():
    X, labels = planted(size=200)
    sites = partition("kmeans", X, n_sites=8, fit_rows=160)
    assert [len(set(labels[rows])) for rows in sites] == [1] * 8


def inertia(X, sites):
    return sum(((X[rows] - X[rows].mean(axis=0)) ** 2).sum() for rows in sites)


def test_kmeans_is_as_good_as_the_one_of_scikit_learn():
    X = np.random.default_rng(0).random((1500, 6))
    ours = inertia(X, partition("kmeans", X, n_sites=40))
    theirs = KMeans(40, n_init=1, random_state=0).fit(X).inertia_
    assert ours < 1.05 * theirs


def test_kmeans_takes_the_farthest_samples_where_rows_are_the_same():
    X = np.zeros((20, 2))
    X[7] = 5
    sites = partition("kmeans", X, n_sites=6)
    assert sorted(sizes(sites)) == [1, 1, 1, 1, 1, 15]
    assert [7] in [rows.tolist() for rows in sites]


def test_an_empty_cluster_takes_the_sample_farthest_from_its_centre():
    site, total = _assign(np.array([[0.0], [3.0], [1.0]]), np.array([[0.0], [100.0]]))
    assert site.tolist() == [0, 1, 0]
    assert total == 10


def test_nearest_sends_every_sample_to_the_nearest_of_the_drawn_points():
    X = np.random.default_rng(1).random((400, 3))
    points = rng.stream(2, "partition nearest").choice(400, 15, replace=False)
    distance = ((X[:, None] - X[points][None]) ** 2).sum(axis=2)
    expected = [np.flatnonzero(distance.argmin(axis=1) == p).tolist() for p in range(15)]
    sites = partition("nearest", X, n_sites=15, seed=2)
    assert [rows.tolist() for rows in sites] == expected


def test_similarity_reads_sparse_float32():
    X = random_array((300, 40), density=0.1, format="csr", dtype=np.float32, rng=0)
    for name in ("kmeans", "nearest"):
        found = sizes(partition(name, X, n_sites=30))
        assert found.sum() == 300
        assert found.min() >= 1


@given(n_classes=st.integers(2, 12), n_sites=st.integers(6, 40), seed=st.integers(0, 1000))
@QUICK
def test_digits_two_gives_every_site_exactly_two_classes(n_classes, n_sites, seed):
    random = np.random.default_rng(seed)
    labels = np.concatenate(
        [np.arange(n_classes).repeat(n_sites), random.integers(0, n_classes, 90)]
    )
    sites = partition("digits-two", np.zeros((labels.size, 1)), labels, n_sites, seed)
    assert {len(set(labels[rows])) for rows in sites} == {2}


@given(n=st.integers(2, 60), data=st.data())
@QUICK
def test_digits_two_never_gives_a_site_more_than_two(n, data):
    n_sites = data.draw(st.integers(1, n))
    labels = np.array(data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    sites = partition("digits-two", np.zeros((n, 1)), labels, n_sites)
    assert max(len(set(labels[rows])) for rows in sites) <= 2


def test_digits_two_is_unbalanced_and_pairs_many_classes():
    labels = np.arange(10_000) % 10
    sites = partition("digits-two", np.zeros((10_000, 1)), labels, 100)
    found = sizes(sites)
    assert found.max() > 20 * found.min()
    assert len({tuple(sorted(set(labels[rows]))) for rows in sites}) > 25
    even = sizes(partition("digits-two", np.zeros((10_000, 1)), labels, 100, exponent=0))
    assert even.max() == even.min() == 100


def mean_distance(labels, sites):
    pooled = np.bincount(labels) / labels.size
    mixes = [np.bincount(labels[rows], minlength=pooled.size) / rows.size for rows in sites]
    return np.mean([np.abs(mix - pooled).sum() / 2 for mix in mixes])


def test_dirichlet_goes_from_one_class_to_the_pooled_mix():
    labels = np.arange(6000) % 10
    X = np.zeros((6000, 1))
    alphas = [0.001, 0.05, 0.3, 2, 20, 1e6]
    found = [mean_distance(labels, partition("dirichlet", X, labels, 20, alpha=a)) for a in alphas]
    assert found == sorted(found, reverse=True)
    assert found[0] > 0.8
    # Each class gives each site 30 samples, rounded and with a standard deviation below 0.1.
    assert found[-1] < 1 / 30


def test_dirichlet_proportions_have_the_moments_of_the_distribution():
    labels = np.repeat(np.arange(200), 1000)
    sites = partition("dirichlet", np.zeros((labels.size, 1)), labels, 5, alpha=0.5)
    shares = np.array([np.bincount(labels[rows], minlength=200) for rows in sites]) / 1000
    # Dir(0.5 x 5): mean 1/5, variance (1/5)(4/5) / (2.5 + 1) = 0.0457 of each share.
    assert abs(shares.mean() - 0.2) < 1e-12
    assert abs(shares.var() - 0.16 / 3.5) < 0.005


def test_a_column_names_its_sites_in_sorted_order():
    ids = ["oslo", "rome", "oslo", "bern", "rome", "rome"]
    sites = partition("column", np.zeros((6, 2)), column=ids)
    assert [rows.tolist() for rows in sites] == [[3], [0, 2], [1, 4, 5]]


def test_power_law_sizes_follow_their_law():
    assert power_law_sizes(11, 3, 1.0).tolist() == [6, 3, 2]
    assert power_law_sizes(7, 5, 3.0).tolist() == [3, 1, 1, 1, 1]
    assert power_law_sizes(12, 4, 0.0).tolist() == [3, 3, 3, 3]
    found = sizes(partition("power-law", np.zeros((10_000, 1)), n_sites=50, exponent=1.2))
    expected = np.arange(1, 51) ** -1.2
    assert np.abs(found - 10_000 * expected / expected.sum()).max() < 1


@given(total=st.integers(1, 3000), exponent=st.floats(0, 10), data=st.data())
@QUICK
def test_power_law_sizes_descend_and_add_up(total, exponent, data):
    found = power_law_sizes(total, data.draw(st.integers(1, total)), exponent)
    assert found.sum() == total
    assert found.min() >= 1
    assert (np.diff(found) <= 0).all()


def test_an_empty_site_takes_the_first_donor_that_can_be_spared():
    site = np.array([0, 1, 1, 2, 2, 2])
    fill_empty(site, 5, np.array([0, 1, 2, 3, 4, 5]))
    assert site.tolist() == [0, 3, 1, 4, 2, 2]
