"""What holds for every rival."""

import dataclasses
import functools

import numpy as np
import pytest
from scipy import sparse

from fedmf.baselines import (
    BEL,
    CAL,
    KFED,
    KMeansParallel,
    central_sncp,
    cluster,
    conduct,
    kmeans_plusplus,
    rivals,
    run,
)
from fedmf.errors import DataError, InputTypeError, ParameterError, SiteMismatchError


def cost_of(sites, found):
    return sum(
        ((own - found.centres[labels]) ** 2).sum()
        for own, labels in zip(sites, found.labels, strict=True)
    )


def check_shape(sites, found, clusters):
    assert [labels.shape for labels in found.labels] == [(own.shape[0],) for own in sites]
    for labels in found.labels:
        assert labels.dtype == np.int64
        assert labels.min() >= 0
        assert labels.max() < clusters
    assert found.centres.shape == (clusters, sites[0].shape[1])
    assert np.isfinite(found.centres).all()
    assert np.isfinite(found.cost)
    assert found.cost >= 0


def test_each_sample_has_one_label_and_the_cost_is_that_of_the_labels(rival, easy):
    found = run(easy.sites, rival, seed=3)
    check_shape(easy.sites, found, rival.n_clusters)
    np.testing.assert_allclose(found.cost, cost_of(easy.sites, found), rtol=1e-9)
    assert found.name == rival.name
    assert found.sends == rival.sends
    assert (found.outliers is not None) == rival.finds_outliers


def test_the_same_seed_gives_the_same_bits_whatever_the_threads(rival, easy):
    one, other = (run(easy.sites, rival, seed=7, threads=count) for count in (1, 3))
    for own, wanted in zip(one.labels, other.labels, strict=True):
        np.testing.assert_array_equal(own, wanted)
    np.testing.assert_array_equal(one.centres, other.centres)
    assert (one.cost, one.rounds, one.raw_samples) == (other.cost, other.rounds, other.raw_samples)
    assert one.ledger.frame().equals(other.ledger.frame())


@pytest.mark.parametrize("kind", [KMeansParallel, BEL, CAL])
def test_another_seed_draws_anew(kind, easy, over_wire):
    sent = []
    for seed in (0, 1):
        runtime = over_wire(easy.sites)
        conduct(runtime, kind(4), seed)
        drawn = [talk for talk in runtime.talks if talk.task in ("draw", "sample", "summarise")]
        sent.append({row.tobytes() for talk in drawn for own in talk.updates for row in own.values})
    assert sent[0] != sent[1]


def test_it_runs_over_a_network_and_the_ledger_counts_what_was_sent(rival, easy, over_wire):
    runtime = over_wire(easy.sites)
    result, ledger, rounds = conduct(runtime, rival, 2)
    local = run(easy.sites, rival, seed=2)
    np.testing.assert_array_equal(result.centres, local.centres)
    assert rounds == local.rounds
    book = ledger.frame()
    assert book["uplink_bytes"].sum() == sum(sum(talk.up) for talk in runtime.talks)
    assert book["downlink_bytes"].sum() == sum(t.down * len(t.sites) for t in runtime.talks)
    assert book.equals(local.ledger.frame())
    assert book["round"].max() == rounds


def rows_in(update, features):
    """Return every row with M entries that a message holds."""
    fields = update._asdict()
    if "borders" in fields and update.values.ndim == 1:
        parts = (update.values, update.columns, update.borders)
        yield from sparse.csr_array(parts, shape=(len(update.borders) - 1, features)).toarray()
        return
    for value in fields.values():
        if value.ndim == 2 and value.shape[1] == features:
            yield from value.astype(np.float64)


def samples_seen(runtime, sites):
    """Return which samples are found bit for bit among the rows that their sites sent."""
    seen = set()
    for talk in runtime.talks:
        for site, update in zip(talk.sites, talk.updates, strict=True):
            own = {tuple(row): place for place, row in enumerate(sites[site])}
            found = (own.get(tuple(row)) for row in rows_in(update, sites[site].shape[1]))
            seen |= {(site, place) for place in found if place is not None}
    return seen


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("sizes", [(60, 45, 80, 35), (1, 2, 60, 5, 1)], ids=["large", "small"])
def test_raw_samples_are_counted_exactly(rival, make, over_wire, sizes, kind):
    sites = make(sizes).sites
    runtime = over_wire([kind(own) for own in sites])
    result, _, _ = conduct(runtime, rival, 0)
    assert result.raw_samples == len(samples_seen(runtime, sites))


def test_who_sends_raw_samples(easy):
    sent = {name: run(easy.sites, kind(4)).raw_samples_sent for name, kind in rivals().items()}
    assert sent == {"km-parallel": True, "bel": True, "cal": True, "k-fed": False}


def test_k_fed_sends_the_sample_of_a_site_that_has_only_one(make):
    assert run(make((1, 50, 50)).sites, KFED(4)).raw_samples == 1


def test_sparse_and_single_precision_data_give_the_same_labels(rival, easy):
    wanted = run(easy.sites, rival, seed=1)
    sparse_sites = [sparse.csr_array(own) for own in easy.sites]
    single = [own.astype(np.float32) for own in easy.sites]
    exact = run([own.astype(np.float64) for own in single], rival, seed=1)
    for reference, sites in ((wanted, sparse_sites), (exact, single)):
        found = run(sites, rival, seed=1)
        for own, other in zip(found.labels, reference.labels, strict=True):
            np.testing.assert_array_equal(own, other)
        np.testing.assert_allclose(found.cost, reference.cost, rtol=1e-6)


HOSTILE = (
    *("one sample each", "fewer than K", "all identical", "two points", "one feature"),
    *("huge and tiny", "far from the origin", "zeros", "empty sparse rows"),
    *("dense and sparse", "exactly K", "float32"),
)


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_sites(rival, hostile, case):
    sites = hostile[case]
    found = run(sites, rival, seed=4)
    check_shape(sites, found, rival.n_clusters)
    if case in ("all identical", "zeros", "exactly K") and rival.name == "km-parallel":
        assert found.cost == 0


def test_more_clusters_than_samples_are_refused(rival, hostile):
    sites = hostile["zeros"]
    many = dataclasses.replace(rival, n_clusters=11)
    with pytest.raises(ParameterError, match=r"n_clusters must be at most .* samples, 10; got 11"):
        run(sites, many)


def test_a_full_set_of_clusters_costs_nothing(hostile):
    sites = hostile["one sample each"]
    for method in (KMeansParallel(6), BEL(6), CAL(6), KFED(6)):
        assert run(sites, method).cost == pytest.approx(0, abs=1e-20)


def test_unfit_data_are_refused(rival, easy):
    with pytest.raises(SiteMismatchError, match="site 1 has 5 features"):
        run([easy.sites[0], easy.sites[1][:, :5]], rival)
    broken = easy.sites[0].copy()
    broken[2, 1] = np.nan
    with pytest.raises(DataError, match="site 0: nan at row 2, column 1"):
        run([broken], rival)


@pytest.mark.parametrize(
    ("kind", "settings", "text"),
    [
        (KMeansParallel, {"n_clusters": 0}, "n_clusters must be an integer of at least 1"),
        (KMeansParallel, {"oversampling": 0}, "oversampling must be a finite number above 0"),
        (KMeansParallel, {"recluster": "x"}, "recluster must be one of 'seeds', 'lloyd'"),
        (BEL, {"samples": 0}, "samples must be an integer of at least 1"),
        (CAL, {"n_outliers": -1}, "n_outliers must be an integer of at least 0"),
        (CAL, {"beta": 1.5}, "beta must be at most 1, got 1.5"),
        (CAL, {"alpha": 0}, "alpha must be a finite number above 0"),
        (KFED, {"local_clusters": 4}, "local_clusters must be at most n_clusters, 3; got 4"),
    ],
)
def test_settings_are_checked(kind, settings, text):
    with pytest.raises(ParameterError, match=text):
        kind(**{"n_clusters": 3, **settings})


def test_a_method_is_needed(easy):
    with pytest.raises(InputTypeError, match="method must be a Rival, got str"):
        run(easy.sites, "bel")
    with pytest.raises(ParameterError, match=r"rival must be one of bel, cal, k-fed.*'cal'"):
        rivals()["call"]


@pytest.mark.parametrize(
    "reference",
    [kmeans_plusplus, functools.partial(central_sncp, q2=20, rounds=80)],
    ids=["k-means++", "central SNCP"],
)
def test_pooled_references_find_the_clusters(reference, easy):
    X = easy.X + 10
    found, again = (reference(X, 4, seed=0) for _ in range(2))
    check_shape([X], found, 4)
    np.testing.assert_allclose(found.cost, easy.optimum, rtol=1e-9)
    np.testing.assert_array_equal(found.labels[0], again.labels[0])
    assert found.raw_samples == len(X)


def test_labels_stay_at_the_sites(rival, easy, over_wire):
    runtime = over_wire(easy.sites)
    cluster(runtime, rival, 0)
    last = runtime.talks[-1]
    assert all(np.size(value) < 35 for update in last.updates for value in update)
