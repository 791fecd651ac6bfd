"""Empty clusters begun anew: what comes of it, and what leaves a site."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import fedmf
from fedmf import FederatedClustering
from fedmf.clustering.metrics import accuracy
from fedmf.engine import set_up
from fedmf.reseeding import Reseed
from fedmf.runtimes.local import LocalRuntime
from fedmf.starts import begin_at


def planted(seed=0, K=4, dead=2):
    """Sites with K clear clusters, their classes, and a start in which `dead` columns are zero."""
    random = np.random.default_rng(seed)
    directions, classes = random.random((20, K)), random.integers(K, size=200)
    X = np.abs(directions[:, classes] + 0.2 * random.standard_normal((20, 200))).T
    sites = np.split(X, [10, 80, 140])
    W = np.stack([X[classes == k].mean(axis=0) for k in range(K)], axis=1)
    W[:, K - dead :] = 0
    lengths = np.where(W.any(axis=0), np.linalg.norm(W, axis=0), np.inf)
    H = []
    for own in sites:
        cosine = own @ W / lengths
        best = np.zeros((K, len(own)))
        best[cosine.argmax(axis=1), range(len(own))] = cosine.max(axis=1)
        H.append(best)
    return sites, classes, (W, H)


@pytest.mark.parametrize("seed", range(3))
def test_empty_clusters_are_begun_anew_if_asked(seed):
    sites, classes, start = planted(seed)
    with pytest.warns(ConvergenceWarning, match="2 of 4 clusters are empty: try empty_clusters='r"):
        kept = FederatedClustering(4, init=start, random_state=0).fit(sites)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = FederatedClustering(
            4, init=start, random_state=0, empty_clusters="reseed"
        ).fit(sites)  # fmt: skip
    assert kept.earlier_runs_ == []
    assert np.isfinite(kept.cluster_centers_).all()
    assert len(again.earlier_runs_) == 1
    assert set(again.labels_) == set(range(4))
    assert accuracy(classes, kept.labels_) < 0.75
    assert accuracy(classes, again.labels_) > 0.97


def test_what_cannot_be_filled_is_told_in_the_end():
    same = np.tile(np.random.default_rng(0).random(6), (12, 1))
    with pytest.warns(ConvergenceWarning, match="clusters are empty"):
        model = FederatedClustering(
            3, init=None, max_iter=30, empty_clusters="reseed", random_state=0
        ).fit(same)
    assert len(model.earlier_runs_) == 3
    assert np.isfinite(model.cluster_centers_).all()
    with pytest.raises(fedmf.FedMFError, match="empty_clusters must be one of 'keep', 'reseed'"):
        FederatedClustering(3, empty_clusters="split").fit(same)


def test_only_counts_leave_a_site():
    sites, _, (W, _) = planted()
    runtime = LocalRuntime(sites, apart=True)
    known, federation = set_up(runtime)
    goal = fedmf.Problem(4).goal(known)
    found = begin_at(Reseed(W=W, empty=(2, 3)), goal, federation, W.dtype, 0)
    book = federation.ledger.frame()
    assert set(book["task"]) == {"figures", "count", "assign"}
    counts = book[book["task"] == "count"]
    assert counts["uplink_bytes"].min() >= 4 * 8
    sample = W.shape[0] * 8  # in bytes: none would fit
    assert book[book["task"] != "figures"]["uplink_bytes"].max() < sample
    np.testing.assert_array_equal(found[:, :2], W[:, :2])
    directions = found / np.linalg.norm(found, axis=0)
    nearest = np.concatenate(sites) @ directions
    assert set(nearest.argmax(axis=1)) == set(range(4))
