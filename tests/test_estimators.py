"""The estimators: scikit-learn's own checks, sites in every form, and the run behind them."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import fedmf
from fedmf import FederatedClustering, FederatedNMF
from fedmf.clustering import SNCP, orthogonality

BOTH = pytest.mark.parametrize("kind", [FederatedNMF, FederatedClustering])


@pytest.mark.filterwarnings("ignore:.*clusters are empty:sklearn.exceptions.ConvergenceWarning")
@parametrize_with_checks(
    [
        FederatedNMF(2, max_iter=30),
        FederatedNMF(2, algorithm="fedmavg", max_iter=30),
        FederatedClustering(2, max_iter=30),
        FederatedClustering(2, algorithm="fedmavg", max_iter=100),
    ]
)
def test_sklearn(estimator, check):
    check(estimator)


def make(kind=FederatedNMF, rank=3, **settings):
    return kind(rank, **{"max_iter": 15, "random_state": 0, **settings})


@pytest.fixture
def X():
    random = np.random.default_rng(5)
    W, classes = random.random((8, 3)), np.repeat([0, 1, 2], 20)
    return (W[:, classes] * random.uniform(0.5, 2, 60) + 0.1 * random.random((8, 60))).T


@pytest.fixture
def ids():
    """Four unbalanced sites, in no order."""
    return np.random.default_rng(6).choice(["b", "d", "a", "c"], 60, p=[0.1, 0.2, 0.3, 0.4])


def accuracy(classes, clusters):
    counts = confusion_matrix(classes, clusters)
    return counts[linear_sum_assignment(-counts)].sum() / counts.sum()


# Sites


@BOTH
def test_it_is_a_run_of_fit(kind, X, ids):
    """Settings and sites arrive as they are: the same run, bit for bit."""
    model = make(kind, participants=2, nu=1e-3, bounds="nonnegative").fit(X, sites=ids)
    order = list(dict.fromkeys(ids))
    algorithm = fedmf.FedMGS(participants=2)
    run = fedmf.fit(
        [X[ids == site] for site in order],
        fedmf.Problem(3, nu=1e-3, bounds="nonnegative"),
        algorithm,
        rounds=15,
        seed=0,
        penalty=SNCP().for_algorithm(algorithm) if kind is FederatedClustering else None,
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
        ([np.ones((4, 2))], [1] * 4, "sites must be None where X is a list with a table for each"),
        ([np.ones((4, 2)), np.ones((4, 3))], None, "site 1: X has 3 features, but Federated"),
        ([np.ones((4, 2)), np.full((1, 2), np.nan)], None, r"site 1: Input X contains NaN\.$"),
        (np.array([[1.0, np.inf]]), None, "Input X contains infinity"),
        (np.ones(3), None, "Expected 2D array, got 1D array instead: .*Reshape your data"),
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


# Parameters


@BOTH
@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"algorithm": "fedprox"}, "algorithm must be one of 'fedmgs', 'fedmavg'; got 'fedprox'"),
        ({"participation": "all"}, "participation must be one of 'pcc', 'pcp'; got 'all'"),
        ({"q1": 0}, "q1 must be an integer of at least 1, got 0"),
        ({"q2": 2.5}, "q2 must be an integer of at least 1, got 2.5"),
        ({"q2": fedmf.Diminishing(10)}, "q2 must be an integer of at least 1, got Diminishing"),
        ({"participants": 2}, "participants must be at most the number of sites, 1; got 2"),
        ({"rho": -1}, "rho must be a .*number .*0, got -1"),
        ({"nu": "x"}, "nu must be a .*number of at least 0, got 'x'"),
        ({"bounds": "dta"}, "bounds must be one of 'data', .*; got 'dta'"),
        ({"max_iter": 0}, "max_iter must be an integer of at least 1, got 0"),
        ({"tol": -1}, "tol must be a .*number of at least 0, got -1"),
        ({"init": 3}, "init must be None, a name, a Run, or a pair"),
        ({"random_state": -1}, "random_state must be a nonnegative integer, got -1"),
        ({"random_state": "x"}, "random_state must be None, an integer or a RandomState, got 'x'"),
        ({"warm_start": 1}, "warm_start must be True or False, got 1"),
        ({"n_jobs": 0}, "n_jobs must be None or an integer other than 0, got 0"),
    ],
)
def test_errors_about_parameters(kind, settings, text, X):
    with pytest.raises(fedmf.FedMFError, match=text):
        make(kind, **settings).fit(X)


@BOTH
def test_the_rank_is_named_as_in_the_constructor(kind, X):
    name = "n_components" if kind is FederatedNMF else "n_clusters"
    with pytest.raises(fedmf.FedMFError, match=f"{name} must be an integer of at least 1, got 0"):
        make(kind, 0).fit(X)


def test_more_clusters_than_samples(X):
    text = r"n_clusters must be at most the number of samples, n_samples=2; got 3"
    with pytest.raises(fedmf.FedMFError, match=text):
        make(FederatedClustering).fit(X[:2])
    with pytest.raises(fedmf.FedMFError, match="penalty must be one of 'sncp'; got 'sncpp'"):
        make(FederatedClustering, penalty="sncpp").fit(X)


def test_negative_data(X):
    fitted = make().fit(X)
    for refuse in (make().fit, fitted.transform):
        with pytest.raises(fedmf.FedMFError, match=r"Negative values in data passed .* -2;"):
            refuse(np.vstack([X, np.full(8, -2)]))
    model = make(FederatedClustering, 2).fit(X - 1)
    assert np.isfinite(model.transform(X - 1)).all()


@BOTH
def test_not_fitted(kind, X):
    with pytest.raises(NotFittedError, match="not fitted yet") as caught:
        make(kind).transform(X)
    assert isinstance(caught.value, fedmf.FedMFError)


@BOTH
def test_clones_and_pickles(kind, X):
    model = make(kind, q2=3, bounds=(0.0, 5.0), init=None, algorithm="fedmgs")
    assert clone(model).get_params() == model.get_params()
    assert clone(model).set_params(q2=4).q2 == 4
    again = pickle.loads(pickle.dumps(model.fit(X)))  # noqa: S301
    assert np.array_equal(again.transform(X), model.transform(X))


def test_random_state(X, ids):
    def components(random_state):
        return make(random_state=random_state).fit(X, sites=ids).components_

    assert np.array_equal(components(3), components(np.int64(3)))
    assert not np.array_equal(components(3), components(4))
    assert make(random_state=3).fit(X).run_.seed == 3
    state = np.random.RandomState(0)
    first, second = components(state), components(state)
    assert not np.array_equal(first, second)
    assert np.array_equal(first, components(np.random.RandomState(0)))
    assert not np.array_equal(components(None), components(None))


def test_threads_change_nothing(X, ids):
    one = make(n_jobs=1).fit(X, sites=ids)
    for n_jobs in (None, 2, -1):
        many = make(n_jobs=n_jobs).fit(X, sites=ids)
        assert np.array_equal(one.components_, many.components_)
        assert np.array_equal(one.transform(X), many.transform(X))


def test_fedmavg_and_instances(X, ids):
    settings = {"participants": 3, "participation": "pcp", "q1": 2}
    named = make(algorithm="fedmavg", q2=fedmf.Diminishing(4), **settings).fit(X, sites=ids)
    algorithm = fedmf.FedMAvg(q2=fedmf.Diminishing(4), **settings)
    given = make(algorithm=algorithm).fit(X, sites=ids)
    assert named.run_.algorithm == given.run_.algorithm == algorithm
    assert np.array_equal(named.components_, given.components_)
    assert make(algorithm="fedmavg").fit(X).run_.algorithm == fedmf.FedMAvg()
    assert make().fit(X).run_.algorithm == fedmf.FedMGS()


def test_a_start(X, ids):
    one = make().fit(X, sites=ids)
    again = make(init=one.run_).fit(X, sites=ids)
    same = make(init=(one.run_.W, one.run_.H)).fit(X, sites=ids)
    assert np.array_equal(again.components_, same.components_)
    assert again.run_.initial_objective == pytest.approx(one.history_.objective.iloc[-1])


def test_a_warm_start_goes_on(X, ids):
    model = make(warm_start=True).fit(X, sites=ids)
    before = model.run_
    model.fit(X, sites=ids)
    expected = make(init=before).fit(X, sites=ids)
    assert np.array_equal(model.components_, expected.components_)
    assert model.reconstruction_err_ < make().fit(X, sites=ids).reconstruction_err_


def test_a_warm_start_with_other_samples_keeps_W(X):
    model = make(warm_start=True, max_iter=300).fit(X)
    W, H = model.run_.W, model.transform(X[:25]).T
    model.set_params(max_iter=5).fit(X[:25])
    assert np.array_equal(
        model.components_, make(init=(W, [H]), max_iter=5).fit(X[:25]).components_
    )


def test_a_warm_start_of_another_shape_is_a_cold_one(X):
    model = make(warm_start=True).fit(X)
    for other in (X[:, :5], X):
        model.fit(other)
        assert np.array_equal(model.components_, make().fit(other).components_)
        model.set_params(n_components=3)
    model.set_params(n_components=4).fit(X)
    assert np.array_equal(model.components_, make(rank=4).fit(X).components_)


def test_verbose(X, capsys):
    make(verbose=1, max_iter=2).fit(X)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["round 1", "round 2"]
    make(max_iter=2).fit(X)
    assert capsys.readouterr().out == ""


# Results


def test_the_error_is_that_of_the_factors(X, ids):
    model = make().fit(X, sites=ids)
    H = np.concatenate(model.run_.H, axis=1).T
    rows = np.concatenate([X[ids == site] for site in model.sites_])
    expected = np.linalg.norm(rows - H @ model.components_)
    assert model.reconstruction_err_ == pytest.approx(expected, rel=1e-12)
    thin = make().fit(sparse.csr_array(X), sites=ids)
    assert thin.reconstruction_err_ == pytest.approx(expected, rel=1e-7)


def test_transform_is_the_training_H_where_the_run_has_converged(X, ids):
    model = make(max_iter=2000, q1=50, tol=0, rho=0, nu=0).fit(X, sites=ids)
    H = np.concatenate([own.T for own in model.run_.H])
    rows = np.concatenate([X[ids == site] for site in model.sites_])
    assert np.abs(model.transform(rows) - H).max() < 1e-3 * H.max()
    back = model.inverse_transform(model.transform(rows))
    assert np.linalg.norm(rows - back) == pytest.approx(model.reconstruction_err_, rel=1e-6)


def test_transform_is_never_worse_than_the_training_H(X):
    model = make(rho=0, nu=0).fit(X)
    rest = np.linalg.norm(X - model.inverse_transform(model.transform(X)))
    assert rest <= model.reconstruction_err_


def test_inverse_transform_checks_the_shape(X):
    with pytest.raises(fedmf.FedMFError, match=r"X must have the shape \(samples, 3\), got \(2, 4"):
        make().fit(X).inverse_transform(np.ones((2, 4)))


@BOTH
def test_sparse_is_dense(kind, X, ids):
    X = X * (np.median(X) <= X)
    dense = make(kind).fit(X, sites=ids)
    for form in (sparse.csr_array, sparse.csc_matrix):
        thin = make(kind).fit(form(X), sites=ids)
        assert np.allclose(thin.components_, dense.components_, rtol=0, atol=1e-9)
        assert np.allclose(thin.transform(form(X)), dense.transform(X), rtol=0, atol=1e-8)


@BOTH
def test_single_precision_is_kept(kind, X, ids):
    model = make(kind).fit(X.astype(np.float32), sites=ids)
    assert model.components_.dtype == np.float32
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    assert model.transform(X).dtype == np.float64
    assert np.allclose(model.components_, make(kind).fit(X, sites=ids).components_, atol=1e-3)


@BOTH
def test_pandas_in_and_out(kind, X, ids):
    frame = pd.DataFrame(X, columns=[f"gene {k}" for k in range(8)], index=range(100, 160))
    model = make(kind).set_output(transform="pandas").fit(frame, sites=pd.Series(ids))
    out = model.transform(frame)
    assert out.index.equals(frame.index)
    assert list(out.columns) == [f"{kind.__name__.lower()}{k}" for k in range(3)]
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.run_.features == tuple(frame.columns)
    listed = make(kind).fit([frame[:10], frame[10:]])
    assert list(listed.feature_names_in_) == list(frame.columns)
    with pytest.raises(fedmf.FedMFError, match="site 1: The feature names should match"):
        make(kind).fit([frame[:10], frame[10:].rename(columns={"gene 1": "gene x"})])


def test_in_a_pipeline(X, ids):
    pipeline = make_pipeline(MaxAbsScaler(), make(FederatedClustering))
    found = pipeline.fit_predict(X, federatedclustering__sites=ids)
    scaled = MaxAbsScaler().fit_transform(X)
    alone = make(FederatedClustering).fit(scaled, sites=ids)
    assert np.array_equal(found, alone.labels_)
    assert np.array_equal(pipeline.predict(X[:5]), alone.predict(scaled[:5]))
    named = make_pipeline(MaxAbsScaler(), make()).fit(X, federatednmf__sites=ids)
    assert list(named.get_feature_names_out()) == [
        "federatednmf0",
        "federatednmf1",
        "federatednmf2",
    ]


def test_in_a_grid_search(X, ids):
    def score(model, X, y=None):
        return -np.linalg.norm(X - model.inverse_transform(model.transform(X)))

    rows = np.random.default_rng(1).permutation(60)
    search = GridSearchCV(make(max_iter=100), {"n_components": [1, 3]}, scoring=score, cv=3)
    search.fit(X[rows], sites=ids[rows])
    assert search.best_params_ == {"n_components": 3}
    assert search.best_estimator_.sites_ == list(dict.fromkeys(ids[rows]))


# Clusters


def test_memberships_and_centers(X, ids):
    model = make(FederatedClustering, max_iter=500).fit(X, sites=ids)
    shares = model.transform(X)
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (shares >= 0).all()
    assert np.array_equal(shares.argmax(axis=1), model.predict(X))
    assert accuracy(model.labels_, model.predict(X)) > 0.98
    means = np.stack([X[model.labels_ == k].mean(axis=0) for k in range(3)])
    assert np.abs(model.cluster_centers_ - means).max() < 0.1 * X.max()


def test_a_sample_like_no_cluster_belongs_to_all_alike(X):
    model = make(FederatedClustering).fit(X)
    assert model.transform(np.zeros((1, 8))).tolist() == [[1 / 3] * 3]


def test_empty_clusters_are_told_of_and_harmless(X):
    same = np.repeat(X[:1], 12, axis=0)
    with pytest.warns(ConvergenceWarning, match=r"\d of 3 clusters are empty: try another"):
        model = make(FederatedClustering, max_iter=200).fit(same)
    assert np.isfinite(model.cluster_centers_).all()
    assert np.isfinite(model.transform(same)).all()


def test_penalties(X):
    def rhos(**settings):
        return make(FederatedClustering, max_iter=60, **settings).fit(X).history_.rho

    assert set(rhos(penalty=None, rho=0.5)) == {0.5}
    assert rhos(rho=1e-4)[0] == 1e-4
    assert rhos(penalty=SNCP(start=1e-3, factor=2, patience=10)).unique()[:2].tolist() == [
        1e-3,
        2e-3,
    ]
    assert rhos(penalty=lambda rows: len(rows) * 1e-3)[2] == 2e-3
    with pytest.raises(fedmf.FedMFError, match=r"rho must be a .*number above 0, got 0"):
        rhos(rho=0)


def planted(seed, snr=3.0):
    """N = 600 samples of K = 5 clusters in M = 50 features at 10 sites, noise `snr` dB below."""
    random = np.random.default_rng(seed)
    W, classes = random.random((50, 5)), random.integers(5, size=600)
    signal, noise = W[:, classes], random.standard_normal((50, 600))
    noise *= np.linalg.norm(signal) / np.linalg.norm(noise) / 10 ** (snr / 20)
    return np.maximum(signal + noise, 0).T, classes, random.integers(10, size=600)


@pytest.mark.parametrize(
    ("settings", "settled"),
    [
        ({}, True),
        ({"participants": 3}, True),
        ({"algorithm": "fedmavg"}, True),
        ({"algorithm": "fedmavg", "participants": 3, "max_iter": 500}, False),
    ],
    ids=["fedmgs", "fedmgs m=3", "fedmavg", "fedmavg m=3"],
)
def test_known_clusters_are_found_as_well_as_by_pooled_kmeans(settings, settled):
    X, classes, ids = planted(0)
    pooled = KMeans(5, n_init=10, random_state=0).fit(X)
    model = FederatedClustering(5, random_state=0, **settings).fit(X, sites=ids)
    assert accuracy(classes, model.labels_) >= accuracy(classes, pooled.labels_) - 0.02
    assert (orthogonality(model.run_.H) < 1e-6) == settled == model.run_.converged
