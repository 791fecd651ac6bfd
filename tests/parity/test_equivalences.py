"""The special cases that must coincide, each with its other side written out here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import fedmf
from losses.squared_anyhow import SquaredAnyhow

WEIGHTS = {"rho": 1e-2, "nu": 1e-3, "mu": 1e-3}
PROBLEM = fedmf.Problem(3, **WEIGHTS)


class Pooled:
    """The data of all sites in one place, and the steps on F there."""

    def __init__(self, sites, init, problem=PROBLEM):
        self.X = np.vstack(sites).T
        self.N = self.X.shape[1]
        self.W, self.H = init[0], np.hstack(init[1])
        scale = np.sum(self.X**2) / self.N
        self.rho, self.nu, self.mu = (getattr(problem, name) * scale for name in WEIGHTS)
        self.low, self.high = self.X.min(), self.X.max()
        if problem.bounds == "free":
            self.low, self.high = -np.inf, np.inf
        self.ones, self.unit = np.ones((3, 3)), np.eye(3)
        self.rounds = []

    def curvature_H(self):
        hessian = 2 / self.N * self.W.T @ self.W + self.rho * self.ones
        return np.linalg.eigvalsh(hessian + (self.nu - self.rho) * self.unit)[-1]

    def curvature_W(self):
        return np.linalg.eigvalsh(2 / self.N * self.H @ self.H.T + self.mu * self.unit)[-1]

    def gradient_H(self):
        own = self.rho * (self.ones @ self.H - self.H) + self.nu * self.H
        return 2 / self.N * self.W.T @ (self.W @ self.H - self.X) + own

    def gradient_W(self):
        return 2 / self.N * (self.W @ self.H - self.X) @ self.H.T + self.mu * self.W

    def improve_H(self, steps=1):
        divisor = 1.02 / 2 * self.curvature_H()
        for _ in range(steps):
            self.H = np.maximum(self.H - self.gradient_H() / divisor, 0)

    def improve_W(self, divisor, steps=1, project=True):
        for _ in range(steps):
            self.W = self.W - self.gradient_W() / divisor
            if project:
                self.project()

    def project(self):
        self.W = np.clip(self.W, self.low, self.high)

    def record(self):
        overlap = np.sum(self.H.sum(axis=0) ** 2) - np.sum(self.H**2)
        F = np.sum((self.X - self.W @ self.H) ** 2) / self.N + self.rho / 2 * overlap
        F += self.nu / 2 * np.sum(self.H**2) + self.mu / 2 * np.sum(self.W**2)
        self.rounds.append({"W": self.W, "H": [self.H], "objective": F})

    def matches(self, run):
        merged = np.hstack(run.H)
        cases.near(run.W, self.rounds[-1]["W"])
        cases.near(merged, self.H)
        objective = [each["objective"] for each in self.rounds]
        np.testing.assert_allclose(run.history["objective"], objective, rtol=1e-10)


@pytest.mark.parametrize("sizes", [[16], [1, 4, 9, 2], [1] * 16, [8, 8], [13, 1, 2]])
@pytest.mark.parametrize("cohort_bytes", [0, 300, 2**40])
def test_fedmgs_with_all_sites_is_the_pooled_method_for_any_partition(
    sizes, cohort_bytes, monkeypatch
):
    monkeypatch.setattr("fedmf.runtimes.local.COHORT_BYTES", cohort_bytes)
    whole, (W, H) = cases.federation(sizes=[16])
    edges = np.cumsum(sizes)[:-1]
    sites, init = np.split(whole[0], edges), (W, np.split(H[0], edges, axis=1))
    run = cases.play(sites, fedmf.FedMGS(q1=3, q2=7), 5, PROBLEM, init=init)
    pooled = Pooled(sites, init)
    for _ in range(5):
        pooled.improve_H(3)
        pooled.improve_W(1.002 / 2 * pooled.curvature_W(), 7)
        pooled.record()
    pooled.matches(run)


@given(cuts=st.sets(st.integers(1, 15)), seed=st.integers(0, 99))
def test_fedmgs_gives_the_same_run_for_any_partition(cuts, seed):
    whole, (W, H) = cases.federation(seed, sizes=[16])
    edges = sorted(cuts)
    algorithm = fedmf.FedMGS(q1=2, q2=5)
    one = cases.play(whole, algorithm, 3, init=(W, H))
    init = (W, np.split(H[0], edges, axis=1))
    other = cases.play(np.split(whole[0], edges), algorithm, 3, init=init)
    cases.near(other.W, one.W)
    cases.near(np.hstack(other.H), one.H[0])


def test_fedmgs_with_single_steps_is_gradient_sharing(sites, init):
    """Each site takes one step and sends the gradient in W of its own; the server takes one."""
    run = cases.play(sites, fedmf.FedMGS(q1=1, q2=1), 6, PROBLEM, init=init)
    pooled = Pooled(sites, init)
    own = [Pooled([X], (init[0], [H])) for X, H in zip(sites, init[1], strict=True)]
    for _ in range(6):
        pooled.improve_H()
        pieces = np.split(pooled.H, np.cumsum(cases.SIZES)[:-1], axis=1)
        gradient = np.zeros_like(pooled.W)
        for site, H in zip(own, pieces, strict=True):
            residual = pooled.W @ H - site.X
            gradient += site.N / pooled.N * (2 / site.N * residual @ H.T + pooled.mu * pooled.W)
        pooled.W = pooled.W - gradient / (1.002 / 2 * pooled.curvature_W())
        pooled.project()
        pooled.record()
    pooled.matches(run)


@pytest.mark.parametrize("participation", ["pcc", "pcp"])
def test_fedmavg_with_one_site_is_the_centralised_method(participation):
    """Its Q2 local steps on W are not projected; their result is."""
    sites, init = cases.federation(sizes=[16])
    init = (np.clip(init[0], sites[0].min(), sites[0].max()), init[1])
    algorithm = fedmf.FedMAvg(q1=3, q2=4, participation=participation)
    run = cases.play(sites, algorithm, 6, PROBLEM, init=init)
    pooled = Pooled(sites, init)
    for _ in range(6):
        pooled.improve_H(3)
        pooled.improve_W(_five_times(pooled), 4, project=False)
        pooled.project()
        pooled.record()
    pooled.matches(run)


def _five_times(pooled):
    return 5 * (np.linalg.eigvalsh(2 / pooled.N * pooled.H @ pooled.H.T)[-1] + pooled.mu)


@pytest.mark.parametrize(
    ("algorithm", "lagged"),
    [
        (fedmf.FedMAvg(q1=1, q2=1), False),
        (fedmf.FedMAvg(q1=1, q2=1, common_step="lagged"), True),
        (fedmf.FedPALM(steps=1), True),
    ],
    ids=["fedmavg exact", "fedmavg lagged", "fedpalm"],
)
def test_single_steps_at_all_sites_are_a_step_on_F(algorithm, lagged, sites, init):
    """The omega-weighted average of single steps is the step on F: Q = 2 is not too greedy."""
    problem = fedmf.Problem(3, bounds="free", **WEIGHTS)
    run = cases.play(sites, algorithm, 6, problem, init=init)
    pooled = Pooled(sites, init, problem)
    for _ in range(6):
        before = _five_times(pooled)
        pooled.improve_H()
        pooled.improve_W(before if lagged else _five_times(pooled))
        pooled.record()
    pooled.matches(run)
    assert run.history["objective"].is_monotonic_decreasing


def test_fedpalm_with_more_steps_is_not(sites, init):
    problem = fedmf.Problem(3, bounds="free", **WEIGHTS)
    two = cases.play(sites, fedmf.FedPALM(steps=1), 2, problem, init=init)
    four = cases.play(sites, fedmf.FedPALM(steps=2), 1, problem, init=init)
    assert abs(two.W - four.W).max() > 1e-3


@pytest.mark.processor
@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("name", [name for name in cases.RUNS if name.startswith("fedmavg")])
def test_a_loss_that_is_squared_but_does_not_say_so_gives_the_same_run(name, sites, init):
    """With rho = 0, where the largest curvatures of Phi and of R_H add up exactly."""
    algorithm, settings = cases.RUNS[name], {"rho": 0, "nu": 1e-3, "mu": 1e-3}
    one, other = (
        cases.play(sites, algorithm, 5, fedmf.Problem(3, loss=loss, **settings), init=init)
        for loss in ("squared", SquaredAnyhow())
    )
    cases.alike(one, other)
    assert one.ledger.frame().equals(other.ledger.frame())
