"""G_H, G_W and what is in them, against literal.py and by hand."""

import numpy as np
import pytest

import fedmf
import literal
from fedmf import theory
from fedmf.theory import follow
from theory.plans import PROBLEM, absolute, averaging, federation


@pytest.mark.parametrize(
    "algorithm",
    [fedmf.FedMGS(q1=2, q2=3, participants=2), fedmf.FedMAvg(q1=2, q2=3), fedmf.FedPALM(steps=2)],
    ids=lambda algorithm: algorithm.name,
)
def test_the_gaps_are_those_of_the_paper(algorithm):
    sites, start = federation([1, 4, 9])
    X, (rho, nu, mu) = [site.T for site in sites], absolute(sites)
    run = fedmf.fit(sites, PROBLEM, algorithm, rounds=3, tol=0, init=start)

    def by_the_paper(W, H):
        c = [1.02 / 2 * literal.curvature_H(W, X_p.shape[1], 14, rho, nu) for X_p in X]
        of_d = 1.002 / 2 if algorithm.name == "fedmgs" else 5
        d = literal.common_d(H, of_d, mu)
        G_H = literal.stationarity_H(X, W, H, c, rho, nu)
        return G_H, literal.stationarity_W(X, W, H, d, mu, 0, 1)

    found = theory.gaps(sites, run, init=start)
    np.testing.assert_allclose(found.start, by_the_paper(*start), rtol=1e-10)
    np.testing.assert_allclose(found.end, by_the_paper(run.W, run.H), rtol=1e-10)
    assert found.end == theory.stationarity(sites, run)
    np.testing.assert_allclose(found.relative, np.divide(found.end, found.start))


def test_the_gaps_by_hand_and_with_a_bound_in_the_way():
    # K = 1, N = 4, site 1 has x = (2, 0), site 2 three times x = (0, 0); W = (1, 1), h = 0.
    # c of F_p = 2/2 (2/4) W'W / omega_p = 1 / omega_p.
    # Site 1: gradient -(2/4) W'x 4 = -4, h would move to 4 / 4: G_H has 1/4 4^2 1^2 = 4.
    # Site 2: gradient 0. With h = 0 the gradient in W is zero, and so is d.
    sites, W = [np.array([[2.0, 0.0]]), np.zeros((3, 2))], np.ones((2, 1))
    problem = fedmf.Problem(rank=1, rho=0, nu=0)
    start = (W, [np.zeros((1, 1)), np.zeros((1, 3))])
    one = fedmf.fit(sites, problem, fedmf.FedMGS(q1=1, q2=1, gamma_h=2, gamma_w=2), 1, init=start)
    assert theory.gaps(sites, one, init=start).start == pytest.approx((4, 0))
    # h = 1 after the step: the gradient in W is (2/4)(W - x) = (-1/2, 1/2), d = 2/4, and W would
    # become (2, 0): G_W = 1/4 (1 + 1). In a box up to 3/2 it would become (3/2, 0): 1/4 (1/4 + 1).
    free = fedmf.Problem(rank=1, rho=0, nu=0, bounds="free")
    start = (W, [np.ones((1, 1)), np.zeros((1, 3))])
    boxed = fedmf.Problem(rank=1, rho=0, nu=0, bounds=(0, 1.5))
    for problem, G_W in ((free, 1 / 2), (boxed, 5 / 16)):
        algorithm = fedmf.FedMGS(q1=1, q2=1, gamma_h=2, gamma_w=2)
        run = fedmf.fit(sites, problem, algorithm, rounds=1, init=start)
        assert theory.gaps(sites, run, init=start).start == pytest.approx((0, G_W))


def test_a_long_run_is_near_stationary():
    sites, start = federation([2, 3, 7])
    run = fedmf.fit(sites, PROBLEM, fedmf.FedMGS(q1=20, q2=20), 500, tol=0, init=start)
    assert max(theory.gaps(sites, run, init=start).relative) < 1e-4


def literal_round(X, W, H, active, q1, of_c, rho, nu):
    """One round's steps on H: what they measure, and the H of the sites that are active."""
    N = sum(X_p.shape[1] for X_p in X)
    c = [of_c * literal.curvature_H(W, X_p.shape[1], N, rho, nu) for X_p in X]
    virtual, G_H = [H_p.copy() for H_p in H], []
    for _ in range(q1):
        G_H.append(literal.stationarity_H(X, W, virtual, c, rho, nu))
        gradients = [literal.gradient_H(X[p], W, virtual[p], N, rho, nu) for p in range(len(X))]
        virtual = [np.maximum(virtual[p] - gradients[p] / c[p], 0) for p in range(len(X))]
    return [virtual[p] if p in active else H[p] for p in range(len(X))], c, G_H


def test_a_trace_of_fedmgs_step_by_step():
    sites, (W, H) = federation([1, 4, 9])
    X, (rho, nu, mu) = [site.T for site in sites], absolute(sites)
    run = fedmf.fit(sites, PROBLEM, fedmf.FedMGS(q1=2, q2=3, participants=2), 4, tol=0, init=(W, H))
    walk = theory.trace(sites, run, init=(W, H))
    for drawn, found in zip(run.history.participants, walk.rounds, strict=True):
        H, c, G_H = literal_round(X, W, H, drawn, 2, 0.51, rho, nu)
        d, G_W = literal.common_d(H, 1.002 / 2, mu), []
        for _ in range(3):
            G_W.append(literal.stationarity_W(X, W, H, d, mu, 0, 1))
            W = np.clip(W - sum(slopes(X, W, H, mu)) / d, 0, 1)
        np.testing.assert_allclose((*found.c, found.d), (*c, d))
        np.testing.assert_allclose(found.G_H, G_H, rtol=1e-9)
        np.testing.assert_allclose(found.G_W, G_W, rtol=1e-9)
    assert walk.steps == 4 * 5
    assert walk.average == pytest.approx(walk.table().gap.mean())
    assert list(walk.table().block) == ["H", "H", "W", "W", "W"] * 4


def slopes(X, W, H, mu):
    """omega_p grad_W F_p of every site."""
    N = sum(X_p.shape[1] for X_p in X)
    pairs = zip(X, H, strict=True)
    return [X_p.shape[1] / N * literal.gradient_W(X_p, W, H_p, N, mu) for X_p, H_p in pairs]


@pytest.mark.parametrize("step", ["exact", "lagged"])
@pytest.mark.parametrize("participation", ["pcc", "pcp"])
def test_a_trace_of_fedmavg_step_by_step(participation, step):
    sites, (W, H) = federation([1, 4, 9])
    X, (rho, nu, mu) = [site.T for site in sites], absolute(sites)
    more = {"participation": participation, "common_step": step, "divisor": 0.4}
    algorithm = fedmf.FedMAvg(q1=2, q2=fedmf.Diminishing(2), participants=2, **more)
    run = fedmf.fit(sites, PROBLEM, algorithm, 4, tol=0, init=(W, H))
    walk = theory.trace(sites, run, init=(W, H))
    for drawn, q2, found in zip(run.history.participants, (3, 2, 1, 1), walk.rounds, strict=True):
        before, active = H, range(3) if participation == "pcc" else drawn
        H, c, G_H = literal_round(X, W, H, active, 2, 0.51, rho, nu)
        d = literal.common_d(H if step == "exact" else before, 0.4, mu)
        own = [max(d, 0.51 * literal.curvature_W(H_p, mu)) if q2 > 1 else d for H_p in H]
        local, zeta2, phi2, G_W = [W, W, W], [], [], []
        for _ in range(q2):
            gradient = sum(slopes(X, W, H, mu))
            each = [literal.gradient_W(X[p], W, H[p], 14, mu) for p in range(3)]
            zeta2.append(max(np.sum((one - gradient) ** 2) for one in each))
            phi2.append(np.sum(gradient**2))
            G_W.append(literal.stationarity_W(X, W, H, d, mu, 0, 1))
            parts = [literal.gradient_W(X[p], local[p], H[p], 14, mu) for p in range(3)]
            local = [local[p] - parts[p] / own[p] for p in range(3)]
            W = np.clip(sum(local[p] for p in drawn) / 2, 0, 1)
        np.testing.assert_allclose((*found.c, found.d), (*c, d))
        np.testing.assert_allclose(found.G_H, G_H, rtol=1e-9)
        np.testing.assert_allclose(found.G_W, G_W, rtol=1e-9)
        np.testing.assert_allclose((found.zeta2, found.phi2), (max(zeta2), max(phi2)))
        assert found.guarded == (max(own) > d)
        assert found.G_W.max() <= found.phi2 * (1 + 1e-12)  # W is in its box


def test_the_lipschitz_constants_are_those_of_the_gradients():
    sites, (W, H) = federation([1, 4, 9])
    X, (rho, nu, mu) = [site.T for site in sites], absolute(sites)
    every = averaging(sites, [(0, 1, 2)], 1, [1], lambda L: L, 9.0, full=True)
    (found,) = follow(sites, PROBLEM, every, (W, H)).rounds
    H1, _, _ = literal_round(X, W, H, range(3), 1, 1, rho, nu)

    def steepest(gradient, zero):
        """Largest eigenvalue of a linear gradient's matrix, from its columns."""
        units = np.eye(zero.size).reshape(-1, *zero.shape)
        columns = [(gradient(zero + unit) - gradient(zero)).ravel() for unit in units]
        return np.abs(np.linalg.eigvalsh(np.array(columns))).max()

    own_W = []
    for p in range(3):
        of_H = steepest(lambda Z, p=p: literal.gradient_H(X[p], W, Z, 14, rho, nu), H[p])
        assert found.lipschitz_H[p] == pytest.approx(of_H)
        own_W.append(steepest(lambda Z, p=p: literal.gradient_W(X[p], Z, H1[p], 14, mu), W))
        assert found.curvature.own[p] == pytest.approx(own_W[p])
    omega = np.array([1, 4, 9]) / 14
    assert found.curvature.mean == pytest.approx(np.sqrt(omega @ np.square(own_W)))
    common = steepest(lambda Z: sum(slopes(X, Z, H1, mu)), W)
    assert found.curvature.common == pytest.approx(common)
