"""What an estimator gives: factors, errors, clusters, in scikit-learn's forms."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import fedmf
from estimators.models import BOTH, accuracy, make
from fedmf import FederatedClustering, FederatedNMF
from fedmf.clustering import SNCP, orthogonality


@pytest.mark.filterwarnings("ignore:.*clusters are empty:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore:(no site|the sites) could send:UserWarning")
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


# ------------------------------------------------------------------ clusters


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
    with pytest.warns(ConvergenceWarning, match=r"\d of 3 clusters are empty: try empty_clus"):
        model = make(FederatedClustering, max_iter=200, init=None).fit(same)
    used = np.isin(range(3), model.labels_)
    np.testing.assert_array_equal(model.cluster_centers_[~used], model.components_[~used])
    assert abs(model.cluster_centers_[used] - X[0]).max() < 0.01
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
