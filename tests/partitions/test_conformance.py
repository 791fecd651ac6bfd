"""What holds for every partition that there is, found by listing, and for every seed."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from threadpoolctl import threadpool_limits

from fedmf.partitions import names, options, partition

RANDOM = [name for name in names() if name != "column"]
SETTINGS = settings(max_examples=25, deadline=None)


def deal(name, X, labels, n_sites, seed=0):
    """Deal with `name`, with a column of ids for the partition that needs one."""
    given = {}
    if name == "column":
        given["column"] = np.random.default_rng(seed).permutation(np.arange(len(X)) % n_sites)
    return partition(name, X, labels, n_sites, seed, **given)


@cache
def samples(n, m=3, classes=2):
    random = np.random.default_rng(n)
    labels = np.arange(n) % classes
    return random.random((n, m)) + 2 * labels[:, None], labels


def same(left, right):
    return len(left) == len(right) and all(
        np.array_equal(a, b) for a, b in zip(left, right, strict=True)
    )


def check_cover(sites, n, n_sites):
    assert len(sites) == n_sites
    assert all(rows.dtype == np.int64 and rows.size for rows in sites)
    assert all((np.diff(rows) > 0).all() for rows in sites)
    assert np.array_equal(np.sort(np.concatenate(sites)), np.arange(n))


def test_the_listing_holds_the_partitions_and_nothing_else():
    expected = {"column", "digits-two", "dirichlet", "iid", "kmeans", "nearest", "power-law"}
    assert expected <= set(names())
    assert list(names()) == sorted(names())
    assert all(isinstance(options(name), dict) for name in names())


@pytest.mark.parametrize("name", names())
@given(data=st.data())
@SETTINGS
def test_each_sample_is_on_exactly_one_site_and_no_site_is_empty(name, data):
    n = data.draw(st.integers(2, 60))
    n_sites = data.draw(st.integers(1, n))
    classes = data.draw(st.integers(1, min(n, 2 * n_sites)))
    levels = data.draw(st.integers(1, 4))
    seed = data.draw(st.integers(0, 2**32))
    X = np.random.default_rng(seed).integers(0, levels, (n, 2)).astype(float)
    sites = deal(name, X, np.arange(n) % classes, n_sites, seed)
    check_cover(sites, n, n_sites)
    assert same(sites, deal(name, X, np.arange(n) % classes, n_sites, seed))


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("n_sites", [1, 50])
def test_one_site_and_a_site_for_each_sample(name, n_sites):
    check_cover(deal(name, *samples(50), n_sites), 50, n_sites)


@pytest.mark.parametrize("name", names())
def test_ten_thousand_sites(name):
    X, labels = samples(12_000, 4, 10)
    check_cover(deal(name, X, labels, 10_000), 12_000, 10_000)


@pytest.mark.parametrize("name", RANDOM)
def test_another_seed_deals_differently(name):
    X, labels = samples(200, 3, 4)
    assert not same(deal(name, X, labels, 10, 0), deal(name, X, labels, 10, 1))


@pytest.mark.parametrize("name", names())
def test_the_number_of_threads_changes_nothing(name, monkeypatch):
    X, labels = samples(3000, 300, 5)
    monkeypatch.setattr("fedmf.partitions._rows.BLOCK_BYTES", 2**20)
    with threadpool_limits(1):
        monkeypatch.setattr("fedmf.partitions._rows.MOST_WORKERS", 1)
        alone = deal(name, X, labels, 20)
    monkeypatch.setattr("fedmf.partitions._rows._cores", lambda: 4)
    monkeypatch.setattr("fedmf.partitions._rows.MOST_WORKERS", 4)
    assert same(alone, deal(name, X, labels, 20))


@pytest.mark.parametrize("name", names())
def test_sparse_memory_mapped_and_dense_data_give_the_same_sites(name, tmp_path):
    X, labels = samples(300, 5, 4)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    dense = deal(name, X, labels, 12)
    given = {"column": np.random.default_rng(0).permutation(np.arange(300) % 12)}
    extra = given if name == "column" else {}
    assert same(dense, partition(name, mapped, labels, 12, **extra))
    assert same(dense, partition(name, csr_array(X), labels, 12, **extra))


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64, np.uint8, bool])
def test_every_real_dtype_is_dealt(name, dtype):
    X, labels = samples(60, 3, 3)
    check_cover(deal(name, X.astype(dtype), labels, 7), 60, 7)


@pytest.mark.parametrize("name", names())
def test_the_data_is_left_as_it_was(name):
    X, labels = samples(100, 3, 4)
    before = X.copy()
    deal(name, X, labels, 10)
    assert np.array_equal(X, before)
