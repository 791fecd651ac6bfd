"""Every kind of run against literal.py: W, H and F to 1e-10 of their size."""

import numpy as np
import pytest
from scipy import sparse

import cases
import fedmf

WEIGHTS = {"rho": 1e-2, "nu": 1e-3, "mu": 1e-3}
PROBLEMS = {
    "paper": fedmf.Problem(3),
    "weights": fedmf.Problem(3, **WEIGHTS),
    "absolute": fedmf.Problem(3, rho=0.1, nu=0.02, mu=0.03, weights="absolute"),
    "free W": fedmf.Problem(3, bounds="free", **WEIGHTS),
    "nonnegative W": fedmf.Problem(3, bounds="nonnegative", **WEIGHTS),
    "box": fedmf.Problem(3, bounds=(0.1, 0.6), **WEIGHTS),
    "free H": fedmf.Problem(3, h_bounds="free", **WEIGHTS),
    "K = 1": fedmf.Problem(1, **WEIGHTS),
    "K over M and N_p": fedmf.Problem(10, **WEIGHTS),
}

every_run = pytest.mark.parametrize("algorithm", cases.RUNS.values(), ids=cases.RUNS)


@every_run
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
@pytest.mark.usefixtures("layout")
def test_dense(algorithm, problem):
    sites, init = cases.federation(rank=problem.rank)
    run = cases.play(sites, algorithm, 6, problem, init=init)
    cases.agree(run, cases.replay(run, sites, init))


@every_run
@pytest.mark.processor
@pytest.mark.usefixtures("layout")
def test_sparse(algorithm):
    sites, init = cases.federation()
    sites = [sparse.csr_matrix(np.where(own < 0.6, 0, own)) for own in sites]
    run = cases.play(sites, algorithm, 6, init=init)
    cases.agree(run, cases.replay(run, sites, init))


@every_run
def test_data_of_both_signs(algorithm):
    sites, init = cases.federation(low=-1)
    run = cases.play(sites, algorithm, 6, init=init)
    cases.agree(run, cases.replay(run, sites, init))


@every_run
def test_one_site_with_one_sample(algorithm):
    sites, init = cases.federation(sizes=[1])
    algorithm = type(algorithm)(**{**vars(algorithm), "participants": None})
    run = cases.play(sites, algorithm, 6, init=init)
    cases.agree(run, cases.replay(run, sites, init))


@every_run
def test_sites_of_some_kilobytes(algorithm):
    """Several hundred samples cross the kernels' block border."""
    sites, init = cases.federation(sizes=[1, 700, 40, 300])
    run = cases.play(sites, algorithm, 3, init=init)
    cases.agree(run, cases.replay(run, sites, init))


@pytest.mark.parametrize("name", ["fedmavg pcc exact", "fedmavg pcp exact", "fedpalm m=3"])
def test_the_draws_have_repeats(name, sites):
    run = cases.play(sites, cases.RUNS[name], 6)
    assert any(len(set(drawn)) < len(drawn) for drawn in run.history["participants"])


def test_drawing_everyone_is_full_participation(sites, init):
    for kind in (fedmf.FedMGS, fedmf.FedMAvg, fedmf.FedPALM):
        every, given = kind(), kind(participants=len(sites))
        cases.same(cases.play(sites, every, init=init), cases.play(sites, given, init=init))
