"""A run over real processes is the run in one process, for every kind of run."""

import numpy as np
import pytest
from sklearn.base import clone

import fedmf
from network.real import RANK, until

pytestmark = pytest.mark.xdist_group("real")

PROBLEM = fedmf.Problem(RANK, rho=1e-3, nu=1e-4)
RUNS = {
    "fedmgs": fedmf.FedMGS(q1=3, q2=5),
    "fedmgs m=2": fedmf.FedMGS(q1=3, q2=5, participants=2),
    "fedmavg": fedmf.FedMAvg(q1=3, q2=4),
    "fedmavg m=2 diminishing": fedmf.FedMAvg(q1=3, q2=fedmf.Diminishing(5), participants=2),
    "fedmavg m=2 lagged": fedmf.FedMAvg(q1=3, q2=4, participants=2, common_step="lagged"),
    "fedmavg m=2 pcp": fedmf.FedMAvg(q1=3, q2=4, participants=2, participation="pcp"),
    "fedpalm": fedmf.FedPALM(steps=2),
}


def both(federation, algorithm, problem=PROBLEM, rounds=8, tol=0.0, **options):
    """Return the run over the federation, its sites' results, and the run in this process."""
    client = federation.client
    run = client.fit(problem, algorithm, rounds=rounds, tol=tol, seed=3, **options)
    name = client.status()["runs"][-1]["run"]
    until(lambda: all(
        (federation.kits / site / "results" / name / "factors.safetensors").exists()
        for site in federation.data
    ))  # fmt: skip
    rows = list(federation.data.values())
    there = fedmf.fit(rows, problem, algorithm, rounds=rounds, tol=tol, seed=3, **options)
    return run, federation.results(name), there


def same(found):
    """Assert that the runs are the same, bit for bit."""
    run, results, there = found
    np.testing.assert_array_equal(run.W, there.W)
    for own, H in zip(results, there.H, strict=True):
        np.testing.assert_array_equal(own["W"], there.W)
        np.testing.assert_array_equal(own["H"], H)
    columns = ["objective", "change", "rho", "uplink_reals", "uplink_bytes", "downlink_bytes"]
    for column in columns:
        np.testing.assert_array_equal(run.history[column], there.history[column])
    assert run.history["participants"].tolist() == there.history["participants"].tolist()
    assert run.ledger.frame().equals(there.ledger.frame())


@pytest.fixture
def apart(monkeypatch):
    """In this process, too, every site is by itself."""
    monkeypatch.setattr("fedmf.runtimes.local.COHORT_BYTES", 0)


@pytest.mark.parametrize("kind", RUNS)
def test_every_kind_of_run_is_the_same_bit_for_bit(kind, federation, apart):
    same(both(federation, RUNS[kind]))


def test_the_growing_penalty_and_a_start_across_sites(federation, apart):
    options = {"penalty": fedmf.SNCP(patience=2), "init": "linkage", "rounds": 12}
    same(both(federation, fedmf.FedMGS(q1=3, q2=5, participants=2), **options))


def test_sites_that_share_a_cohort_differ_by_rounding(federation):
    run, results, there = both(federation, fedmf.FedMAvg(q1=3, q2=4))
    scale = np.abs(there.W).max()
    np.testing.assert_allclose(run.W, there.W, rtol=0, atol=1e-10 * scale)
    np.testing.assert_allclose(run.history["objective"], there.history["objective"], rtol=1e-10)
    for own, H in zip(results, there.H, strict=True):
        np.testing.assert_allclose(own["H"], H, rtol=0, atol=1e-10 * np.abs(H).max())


def test_no_h_comes_with_the_run(federation, tmp_path):
    run = federation.client.fit(PROBLEM, fedmf.FedMGS(q2=5), rounds=2, tol=0.0)
    with pytest.raises(fedmf.FedMFError, match="H stays at the sites"):
        run.H  # noqa: B018
    run.save(tmp_path / "run")
    again = fedmf.load(tmp_path / "run")
    np.testing.assert_array_equal(again.W, run.W)
    assert again.history["missing"].tolist() == [[], []]


def test_fit_and_the_estimators_drive_a_federation(federation, apart):
    algorithm, client = fedmf.FedMGS(q1=3, q2=5), federation.client
    X = list(federation.data.values())
    run = fedmf.fit(None, PROBLEM, algorithm, 5, 0.0, seed=3, runtime=client)
    there = fedmf.fit(X, PROBLEM, algorithm, 5, 0.0, seed=3)
    np.testing.assert_array_equal(run.W, there.W)
    options = {"n_clusters": RANK, "q1": 3, "q2": 5, "max_iter": 5, "tol": 0.0, "random_state": 3}
    away = clone(fedmf.FederatedClustering(**options, runtime=client)).fit()
    here = fedmf.FederatedClustering(**options).fit(X)
    np.testing.assert_array_equal(away.components_, here.components_)
    np.testing.assert_array_equal(away.predict(X), here.predict(X))
    assert away.reconstruction_err_ == pytest.approx(here.reconstruction_err_, rel=1e-6)
    assert not hasattr(away, "labels_")


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"sites": [np.ones((20, 4))]}, "sites must be None with a runtime"),
        ({"init": (np.ones((4, 3)), [])}, "init must be None or a name with a runtime"),
        ({"threads": 2}, "are of runs in this process"),
    ],
)
def test_what_makes_no_sense_without_the_data_is_refused(settings, text):
    class Nowhere:
        """Not asked."""

    with pytest.raises(fedmf.FedMFError, match=text):
        fedmf.fit(**{"sites": None, **settings}, problem=PROBLEM, algorithm=fedmf.FedMGS(),
                  runtime=Nowhere())  # fmt: skip
    with pytest.raises(fedmf.FedMFError, match="X and sites must be None with a runtime"):
        fedmf.FederatedNMF(runtime=Nowhere()).fit(np.ones((4, 4)))
