"""Sites in every form, and the run behind an estimator."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import fedmf
from estimators.models import BOTH, accuracy, make
from fedmf import FederatedClustering
from fedmf.clustering import SNCP


@BOTH
def test_it_is_a_run_of_fit(kind, X, ids):
    """Settings and sites arrive as they are: the same run, bit for bit."""
    model = make(kind, participants=2, nu=1e-3, bounds="nonnegative").fit(X, sites=ids)
    order = list(dict.fromkeys(ids))
    algorithm = fedmf.FedMGS(participants=2)
    clusters = kind is FederatedClustering
    run = fedmf.fit(
        [X[ids == site] for site in order],
        fedmf.Problem(3, nu=1e-3, bounds="nonnegative"),
        algorithm,
        rounds=15,
        seed=0,
        init="linkage" if clusters else None,
        penalty=SNCP(start=1e-4).for_algorithm(algorithm) if clusters else None,
    )
    assert model.sites_ == order
    assert np.array_equal(model.components_, run.W.T)
    assert all(map(np.array_equal, model.run_.H, run.H))
    columns = ["round", "objective", "change", "rho", "uplink_bytes"]
    assert model.history_[columns].equals(run.history[columns])
    assert model.n_iter_ == 15


@pytest.mark.parametrize(
    "form",
    [list, tuple, np.array, pd.Series, pd.Categorical, lambda s: np.array(s, dtype=object)],
)
def test_ids_in_any_form(form, X, ids):
    expected = make().fit(X, sites=ids)
    model = make().fit(X, sites=form(ids))
    assert np.array_equal(model.components_, expected.components_)
    assert model.sites_ == expected.sites_


def test_ids_of_any_kind(X):
    mixed = [("north", 1), 7, "7", None.__class__] * 15
    model = make().fit(X, sites=mixed)
    assert model.sites_ == [("north", 1), 7, "7", None.__class__]


def test_an_index_of_ids_or_of_rows_plays_no_part(X, ids):
    shuffled = np.random.default_rng(0).permutation(60)
    frame = pd.DataFrame(X, index=shuffled)
    model = make().fit(frame, sites=pd.Series(ids, index=shuffled[::-1]))
    assert np.array_equal(model.components_, make().fit(X, sites=ids).components_)


@BOTH
def test_a_list_is_the_rows_with_ids(kind, X):
    parts = [X[:7], X[7:40], X[40:]]
    listed = make(kind).fit(parts)
    together = make(kind).fit(X, sites=np.repeat([9, 3, 5], [7, 33, 20]))
    assert np.array_equal(listed.components_, together.components_)
    assert (listed.sites_, together.sites_) == ([0, 1, 2], [9, 3, 5])
    nested = make(kind).fit([part.tolist() for part in parts])
    assert np.array_equal(listed.components_, nested.components_)
    if kind is FederatedClustering:
        assert np.array_equal(listed.labels_, together.labels_)
        assert np.array_equal(listed.predict(parts), listed.predict(X))


def test_without_ids_all_rows_are_one_site(X):
    assert len(make().fit(X).run_.H) == 1
    assert np.array_equal(make().fit(X).components_, make().fit([X]).components_)


def test_a_nested_list_of_numbers_is_one_table(X):
    assert np.array_equal(make().fit(X.tolist()).components_, make().fit(X).components_)


def test_labels_are_in_the_order_of_X(X, ids):
    model = make(FederatedClustering, max_iter=100).fit(X, sites=ids)
    for site, own in zip(model.sites_, model.run_.H, strict=True):
        assert np.array_equal(model.labels_[ids == site], own.argmax(axis=0))
    assert accuracy(np.repeat([0, 1, 2], 20), model.labels_) > 0.95


@pytest.mark.parametrize(
    ("data", "sites", "text"),
    [
        (np.ones((4, 2)), [1, 2], "sites must hold a site id for each row of X, 4 in all; got 2"),
        (np.ones((4, 2)), "abcd", "sites must hold a site id for each row of X, got 'abcd'"),
        (np.ones((4, 2)), 3, "sites must hold a site id for each row of X, got 3"),
        (np.ones((4, 2)), [1, 2, None, 1], "sites: row 2 has no site id"),
        (np.ones((4, 2)), [[1], [2], [1], [1]], "sites: an id must be hashable"),
        (np.ones((4, 2)), np.ones((4, 1)), r"sites must have one dimension.* got shape \(4, 1\)$"),
        (np.ones((4, 2)), pd.DataFrame([1] * 4), r"sites must have one dim.* got shape \(4, 1\)$"),
        ([np.ones((4, 2))], [1] * 4, "sites must be None where X is a list with a table for each"),
        ([np.ones((4, 2)), np.ones((4, 3))], None, "site 1: X has 3 features, but Federated"),
        ([np.ones((4, 2)), np.full((1, 2), np.nan)], None, r"site 1: Input X contains NaN\.$"),
        (np.array([[1.0, np.inf]]), None, "Input X contains infinity"),
        (sparse.csr_array([[1.0, np.nan]]), None, "Input X contains NaN"),
        (np.ones((0, 2)), None, r"^Found array with 0 sample.s"),
        (np.ones((2, 0)), None, r"^Found array with 0 feature.s"),
        ([np.ones((4, 2)), np.ones((0, 2))], None, r"^site 1: Found array with 0 sample.s"),
        (np.ones((40, 3)) * 1j, None, "^Complex data not supported$"),
        (np.full((2, 2), "a", dtype=object), None, "could not convert string to float"),
        (np.ones(3), None, "^Expected 2D array, got 1D array instead: Reshape your data"),
        (np.ones((2, 2, 2)), None, "Found array with dim 3"),
        (np.ma.masked_less(np.ones((4, 2)), 0), None, "a masked array has missing entries"),
        ([["a", "b"]], None, "could not convert string to float"),
    ],
)
def test_errors_about_data(data, sites, text):
    with pytest.raises(fedmf.FedMFError, match=text) as caught:
        make().fit(data, sites=sites)
    assert isinstance(caught.value, ValueError | TypeError)
    assert "\n" not in str(caught.value)


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


@BOTH
@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        read_only,
        lambda X: X.astype(int),
        lambda X: X.astype(np.uint8),
        lambda X: X.astype(object),
        lambda X: X.astype(np.float16),
        lambda X: X.astype(str),
        sparse.coo_array,
    ],
)
def test_any_type_and_layout_of_the_same_numbers_gives_the_same_run(kind, convert, X, ids):
    whole = (100 * X).round()
    model = make(kind).fit(convert(whole), sites=ids)
    wanted = make(kind).fit(whole, sites=ids)
    np.testing.assert_allclose(model.components_, wanted.components_, rtol=1e-9)


@BOTH
@pytest.mark.filterwarnings("ignore:.*clusters are empty:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:(no site|the sites) could send:UserWarning")
@pytest.mark.parametrize(("samples", "features", "rank"), [(60, 2, 5), (3, 8, 3), (1, 4, 1)])
def test_more_components_than_features_and_a_single_sample(kind, samples, features, rank, X):
    model = make(kind, rank).fit(X[:samples, :features])
    assert model.components_.shape == (rank, features)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(model.transform(X[:, :features])).all()


def test_more_components_than_samples(X):
    assert make(rank=7).fit(X[:2]).transform(X).shape == (60, 7)
