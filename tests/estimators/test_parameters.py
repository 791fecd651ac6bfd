"""Parameters: what they mean, and errors about them."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import fedmf
from estimators.models import BOTH, make
from fedmf import FederatedClustering, FederatedNMF


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
