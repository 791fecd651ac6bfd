"""Figures of clusters, against brute force and scikit-learn."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

import cases
import fedmf
from fedmf.clustering.metrics import (
    accuracy,
    against,
    ari,
    cluster_sizes,
    nmi,
    purity,
    stability,
    summary,
)
from fedmf.clustering.silhouette import SilhouetteMethod, silhouette
from fedmf.engine import set_up
from fedmf.ledger import Ledger
from fedmf.runtimes.local import LocalRuntime

pairs = st.integers(1, 30).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(0, 3), min_size=n, max_size=n)] * 2)
)


@given(pairs)
def test_accuracy_is_the_best_of_all_matches(pair):
    classes, clusters = map(np.array, pair)
    best = max(np.mean(np.array(match)[clusters] == classes) for match in permutations(range(4)))
    assert accuracy(classes, clusters) == pytest.approx(best)


@given(pairs)
def test_purity_by_counting(pair):
    classes, clusters = map(np.array, pair)
    found = sum(np.bincount(classes[clusters == k]).max() for k in np.unique(clusters))
    assert purity(classes, clusters) == pytest.approx(found / len(classes))


@given(pairs)
def test_nmi_and_ari_are_scikit_learns(pair):
    assert nmi(*pair) == pytest.approx(normalized_mutual_info_score(*pair))
    assert ari(*pair) == pytest.approx(adjusted_rand_score(*pair))


def test_figures_against_classes_by_hand():
    classes, clusters = ["a", "a", "a", "b", "b", "c"], [1, 1, 0, 0, 0, 0]
    found = against(classes, clusters)
    assert list(found) == ["accuracy", "nmi", "ari", "purity"]
    assert found["accuracy"] == pytest.approx(4 / 6)
    assert found["purity"] == pytest.approx(4 / 6)


def test_more_clusters_than_classes():
    assert accuracy([0, 0, 0, 1], [0, 1, 2, 3]) == pytest.approx(0.5)
    assert purity([0, 0, 0, 1], [0, 1, 2, 3]) == 1


def test_stability_is_the_mean_over_pairs():
    runs = [[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]
    assert stability(runs[:2]) == 1
    assert stability(runs) == pytest.approx((1 + 2 * ari(runs[0], runs[2])) / 3)
    with pytest.raises(fedmf.FedMFError, match="clusterings must hold at least 2, got 1"):
        stability(runs[:1])


def test_sizes_count_empty_clusters():
    assert cluster_sizes([0, 2, 2], 4).tolist() == [1, 0, 2, 0]


def brute_force(X, labels):
    """Return the silhouette for squared distances, sample by sample."""
    distance = ((X[:, None] - X) ** 2).sum(axis=2)
    found = []
    for j, own in enumerate(labels):
        mates = np.flatnonzero((labels == own) & (np.arange(len(labels)) != j))
        others = [distance[j, labels == k].mean() for k in np.unique(labels) if k != own]
        if len(mates) == 0 or not others:
            found.append(0.0)
            continue
        a, b = distance[j, mates].mean(), min(others)
        found.append((b - a) / max(a, b) if max(a, b) > 0 else 0.0)
    return np.array(found)


@given(st.integers(0, 2**31), st.integers(1, 4), st.booleans())
def test_silhouette_of_the_pooled_data(seed, clusters, is_sparse):
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 7, 4)
    sites = [random.integers(0, 3, (n, 3)).astype(float) for n in sizes]
    labels = [random.integers(0, clusters, n) for n in sizes]
    wanted, together = brute_force(np.concatenate(sites), np.concatenate(labels)), np.hstack(labels)
    given_sites = [sparse.csr_array(own) for own in sites] if is_sparse else sites
    found = silhouette(given_sites, labels, n_min=1, clusters=clusters)
    assert found.mean == pytest.approx(wanted.mean(), abs=1e-9)
    means = [wanted[together == k].mean() if k in together else np.nan for k in range(clusters)]
    np.testing.assert_allclose(found.by_cluster, means, atol=1e-9)


def test_silhouette_is_scikit_learns_with_squared_distances():
    from sklearn.metrics import silhouette_samples

    sites, _ = cases.federation(sizes=(40, 30))
    labels = [np.arange(40) % 3, np.arange(30) % 3]
    X, own = np.concatenate(sites), np.concatenate(labels)
    wanted = silhouette_samples(X, own, metric="sqeuclidean")
    assert silhouette(sites, labels).mean == pytest.approx(wanted.mean())


def test_sums_over_fewer_than_n_min_samples_stay_at_their_site(layout):
    random = np.random.default_rng(0)
    sites = [random.random((n, 3)) for n in (1, 6, 8)]
    labels = [np.array([0]), np.array([0, 0, 0, 0, 0, 1]), np.array([1] * 8)]
    shown = Uploads(LocalRuntime(sites, apart=True), labels)
    found = SilhouetteMethod(clusters=2, n_min=5).over(shown)
    sums = shown.answers[0].total
    assert sums.counts.tolist() == [5, 8]
    np.testing.assert_allclose(sums.rows[0], sites[1][:5].sum(axis=0))
    np.testing.assert_allclose(sums.rows[1], sites[2].sum(axis=0))
    for row in np.concatenate([update.rows for update in shown.answers[0].each]):
        assert not (np.concatenate(sites) == row).all(axis=1).any()
    a = ((sites[0][0] - sites[1][:5]) ** 2).sum(axis=1).mean()  # it is in no sum itself
    b = ((sites[0][0] - sites[2]) ** 2).sum(axis=1).mean()
    assert shown.answers[1].each[0].scores[0] == pytest.approx((b - a) / max(a, b))
    assert np.isfinite(found.mean)


class Uploads:
    """A runtime that keeps the answers; its sites have labels."""

    def __init__(self, runtime, labels):
        from fedmf.clustering.silhouette import Labelled

        self.runtime, self.sites, self.answers = runtime, runtime.sites, []
        runtime.place([Labelled(own) for own in labels])

    def ask(self, method, goal, request):
        self.answers.append(self.runtime.ask(method, goal, request))
        return self.answers[-1]


def test_silhouette_is_counted_and_takes_labels_from_H():
    sites, (_, H) = cases.federation()
    labels = [own.argmax(axis=0) for own in H]
    ledger = Ledger()
    found = silhouette(sites, labels, n_min=1, clusters=3, ledger=ledger)
    book = ledger.frame()
    assert book.groupby("task")["uplink_reals"].sum().to_dict() == {
        "sums": 4 * (3 + 3 * 7 + 3),
        "scores": 4 * (3 + 3),
    }
    run = cases.play(sites, fedmf.FedMGS(q1=1, q2=1), rounds=1)
    runtime = LocalRuntime(sites)
    set_up(runtime)
    from fedmf.algorithms.base import Given
    from fedmf.private import gather

    runtime.place([Given(own) for own in H])
    again = SilhouetteMethod(3, n_min=1).over(runtime)
    np.testing.assert_array_equal(again.by_cluster, found.by_cluster)
    assert gather(runtime.privates()).H.shape == (3, sum(map(len, sites)))
    assert summary(run, sites)["silhouette"] == silhouette(sites, run.labels, clusters=3).mean


def test_summary_asks_for_no_classes(sites):
    run = cases.play(sites, fedmf.FedMGS(q1=1, q2=1), rounds=2)
    found = summary(run)
    assert list(found) == ["objective", "orthogonality", "sizes", "empty"]
    assert sum(found["sizes"]) == 16
    with_classes = summary(run, sites, [np.zeros(len(own), int) for own in sites])
    assert with_classes["purity"] == 1
    assert -1 <= with_classes["silhouette"] <= 1


@pytest.mark.parametrize("bad", [[0.0, 1.0], [0], [0, -1]])
def test_labels_that_cannot_be(bad):
    with pytest.raises(fedmf.FedMFError, match="a whole number from 0 for each of the site's 2"):
        silhouette([np.ones((2, 2))], [np.array(bad)])


def test_classes_and_clusters_of_different_length():
    with pytest.raises(fedmf.FedMFError, match=r"one value for each sample, got the shapes"):
        accuracy([0, 1], [0, 1, 2])
