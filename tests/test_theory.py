"""fedmf.theory against literal.py and by hand; the theorems on runs that keep their conditions, and
on runs that do not.

Where sites are drawn, a theorem is about an expectation. It is taken exactly: all draws that a few
rounds can have are played, each with its chance.
"""

from itertools import combinations, combinations_with_replacement, product
from math import factorial, prod

import numpy as np
import pytest

import fedmf
import literal
from fedmf import theory
from fedmf.theory import Plan, Turn, follow
from fedmf.theory.runs import C1, C2, C3, gamma, price

RANK, FEATURES = 2, 6
PROBLEM = fedmf.Problem(rank=RANK, bounds=(0, 1), rho=1e-3, nu=2e-3, mu=1e-3)


def federation(sizes, seed=0):
    """Sites of these sizes, near X = W H, and a start."""
    random = np.random.default_rng(seed)
    W, W0 = random.random((2, FEATURES, RANK))
    sites = [
        np.maximum(0, random.random((n, RANK)) @ W.T + random.normal(0, 0.1, (n, FEATURES)))
        for n in sizes
    ]
    return sites, (W0, [random.random((RANK, n)) for n in sizes])


def alike(copies, seed=0):
    """Sites that hold the same few samples, some of them several times, almost exactly."""
    random = np.random.default_rng(seed)
    (samples,), (W0, (H0,)) = federation([4], seed)
    noise = [random.normal(0, 1e-3, (4 * k, FEATURES)) for k in copies]
    pairs = zip(copies, noise, strict=True)
    sites = [np.maximum(0, np.tile(samples, (k, 1)) + own) for k, own in pairs]
    return sites, (W0, [np.tile(H0, (1, k)) for k in copies])


def absolute(sites):
    """The absolute rho, nu and mu of PROBLEM on these sites."""
    scale = sum(np.sum(X**2) for X in sites) / sum(len(X) for X in sites)
    return PROBLEM.rho * scale, PROBLEM.nu * scale, PROBLEM.mu * scale


def sharing(sites, draws, q1, q2, of_c, of_d, full=False):
    """A plan of FedMGS with c = of_c L_H and d = of_d L_W; draws holds each round's sites."""
    turns = [Turn(np.array(drawn), q2, absolute(sites)[0]) for drawn in draws]
    return Plan(True, full, q1, turns, lambda L: of_c * L, lambda k: of_d * k.common)


def averaging(sites, draws, q1, q2, c, of_d, full=False):
    """A plan of FedMAvg with d = of_d L_W; q2 holds each round's steps."""
    pairs = zip(draws, q2, strict=True)
    turns = [Turn(np.array(drawn), steps, absolute(sites)[0]) for drawn, steps in pairs]
    return Plan(False, full, q1, turns, c, lambda k: of_d * k.mean)


def all_subsets(P, m, rounds):
    """All that drawing m of P sites without replacement can lead to; all are equally likely."""
    return list(product(combinations(range(P), m), repeat=rounds))


def all_draws(sites, m, rounds):
    """All that drawing m sites with replacement by their sizes can lead to, with the chances."""
    omega = np.array([len(X) for X in sites]) / sum(len(X) for X in sites)
    one_round = []
    for drawn in combinations_with_replacement(range(len(sites)), m):
        times = np.bincount(drawn, minlength=len(sites))
        ways = factorial(m) / prod(factorial(int(k)) for k in times)
        one_round.append((drawn, ways * float(np.prod(omega**times))))
    every = list(product(one_round, repeat=rounds))
    return [[d for d, _ in one] for one in every], [prod(p for _, p in one) for one in every]


# ------------------------------------------------------------------ G_H, G_W and what is in them


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


# ------------------------------------------------------------------ the bounds' formulas


def test_the_paper_s_constants_by_hand():
    assert [C1(q) for q in (1, 2, 3)] == [0, 6, 30]
    assert [C2(q, 4) for q in (1, 2, 3)] == [0, 6 * (3 + 4 + 8) * 6, 6 * (9 + 4 + 8) * 30]
    assert [C3(q) for q in (1, 2, 3)] == [0, 6 * (3 + 2) * 6, 6 * (9 + 2) * 30]
    L = np.array([1.0, 4.0])
    # One c for all, (gamma/2) max L: 3^2 4 / (2 2), and with c of each site's own L the same.
    assert price(np.full(2, 6.0), L) == price(1.5 * L, L) == price(L, L, claimed=3) == 9
    assert gamma(np.full(2, 6.0), L) == gamma(1.5 * L, L) == 3
    assert price(np.array([2.0, 2.0]), L) == price(L, L, claimed=1) == np.inf


def test_the_right_hand_sides_term_by_term():
    sites, start = federation([3, 3])
    q2, m, S, T = [3, 2], 1, 2, 2 * 4 + 5
    plan = averaging(sites, [(0,), (1,)], 4, q2, lambda L: L, 90.0)
    walk = follow(sites, PROBLEM, plan, start)
    rounds, F = walk.rounds, walk.objective
    assert pytest.approx(literal.objective([x.T for x in sites], *start, *absolute(sites))) == F
    L_H = max(max(each.lipschitz_H) for each in rounds)
    high = max(max(each.curvature.own) for each in rounds)
    low = min(min(each.curvature.own) for each in rounds)
    zeta, phi = max(each.zeta2 for each in rounds), max(each.phi2 for each in rounds)
    g, sum_C1, mixed = 90, 30 + 6, 11 / 3 * zeta + phi
    D = 2**2 * L_H / (2 * 1) + 6 * (g**2 + 1) * high**2 / ((g - 1) * low)
    found = theory.theorem1(walk)
    assert (found.constants["gamma_1"], found.constants["gamma_2"]) == pytest.approx((2, 90))
    assert found.bound == pytest.approx(
        D / T * F
        + 8 * D * zeta / (m * g * low)
        + 96 * zeta / m
        + 2 * D * (1 + 8 / m) * mixed * sum_C1 / (T * g**3 * low)
        + mixed * (6 * (9 + 4 + 32) * 30 + 6 * (3 + 4 + 32) * 6) / (T * g**2)
        + 3 * (zeta + phi) * sum_C1 / (2 * T)
    )
    assert found.constants["gamma_2 needed"] == pytest.approx(
        3 * np.sqrt(2 * (7 + 4 * (high / low) ** 2))
    )
    sum_C3 = 6 * (9 + 2) * 30 + 6 * (3 + 2) * 6
    assert theory.corollary1(walk).bound == pytest.approx(
        D / T * F
        + (1.5 * (zeta + phi) * sum_C1 + mixed / g**2 * (D * sum_C1 / (g * low) + sum_C3)) / T
    )
    walk = follow(sites, PROBLEM, sharing(sites, [(0,), (1,)], 4, 3, 1.5, 1.0), start)
    L_H = max(max(each.lipschitz_H) for each in walk.rounds)
    L_W = max(each.curvature.common for each in walk.rounds)
    T, P, lower = S * 7, 2, F / 3
    of_H, of_W = P / m * 3**2 * L_H / (2 * 2), 2**2 * L_W / (2 * 1)
    found = theory.theorem2(walk, lower=lower).bound
    assert found == pytest.approx((of_H + of_W) / T * (F - lower))
    promised = (P / m * L_H + L_W) * 5**2 / (2 * 4) / T * F
    assert theory.theorem2(walk, gamma=5).bound == pytest.approx(promised)


# ------------------------------------------------------------------ Theorem 2


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("factor", [1.02, 2, 5])
def test_theorem_2_over_all_draws(m, factor):
    sites, start = federation([1, 4, 9])
    of = factor / 2
    walks = [
        follow(sites, PROBLEM, sharing(sites, draws, 2, 2, of, of, full=m == 3), start)
        for draws in all_subsets(3, m, rounds=3)
    ]
    found = theory.theorem2(walks)
    assert found.broken == ()
    assert found.constants["gamma of H"] == pytest.approx(factor)
    assert 0.005 * found.bound < found.measured < found.bound


@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize(
    ("of_H", "of_W", "q1", "q2", "kept"),
    [
        (1, 1, 200, 2, True),
        (1, 1, 2, 200, True),
        (0.45, 1, 200, 2, False),
        (1, 0.45, 2, 200, False),
    ],
)
def test_theorem_2_fails_where_its_steps_are_too_long(m, of_H, of_W, q1, q2, kept):
    """Divisors of (gamma/2) L with gamma = 2 keep the promise of gamma = 2, of 0.9 do not."""
    sites, start = federation([1, 4, 9])
    walks = [
        follow(sites, PROBLEM, sharing(sites, draws, q1, q2, of_H, of_W, full=m == 3), start)
        for draws in all_subsets(3, m, rounds=2)
    ]
    found = theory.theorem2(walks, gamma=2)
    assert (found.broken == ()) == kept
    assert found.kept == kept
    assert kept or found.measured > 2 * found.bound


def test_theorem_2_on_runs_of_the_package():
    sites, start = federation([1, 4, 9])
    algorithm = fedmf.FedMGS(q1=3, q2=3, participants=2)
    runs = [fedmf.fit(sites, PROBLEM, algorithm, 40, tol=0, seed=s, init=start) for s in range(5)]
    found = theory.theorem2([theory.trace(sites, run, init=start) for run in runs])
    assert found.broken == ()
    assert found.constants["gamma of H"] == pytest.approx(1.02)
    assert found.constants["gamma of W"] == pytest.approx(1.002)
    assert found.kept
    assert "every condition is met" in str(found)


def test_theorem_2_takes_the_largest_l_h_of_sites_of_different_sizes():
    """Its proof has L_H1 = ... = L_HP. Here they differ, and no other but the largest will do."""
    # All of F is at the site with one of ten samples, and one step there ends it. W is so large
    # that nearly all of the bound is that for H: with gamma = 2 it holds with equality.
    sites = [np.array([[1.0, 0.0]]), np.zeros((9, 2))]
    start = (np.array([[10.0], [0.0]]), [np.zeros((1, 1)), np.zeros((1, 9))])
    problem = fedmf.Problem(rank=1, rho=0, nu=0, bounds="free")
    algorithm = fedmf.FedMGS(q1=1, q2=1, gamma_h=2, gamma_w=2)
    run = fedmf.fit(sites, problem, algorithm, rounds=1, init=start)
    walk = theory.trace(sites, run, init=start)
    found = theory.theorem2(walk)
    assert found.measured == pytest.approx(found.terms["H"], rel=1e-12)
    assert found.broken == ()
    small, large = walk.rounds[0].lipschitz_H
    assert small == pytest.approx(9 * large)
    with_another = found.bound - found.terms["H"] * (1 - large / small)
    assert found.measured > 8 * with_another


# ------------------------------------------------------------------ Theorem 1


@pytest.mark.parametrize("make", [federation, alike])
@pytest.mark.parametrize(("m", "q2"), [(1, [1] * 4), (1, [3, 2, 1]), (2, [1, 1]), (2, [3, 2])])
@pytest.mark.parametrize("one_c", [True, False])
def test_theorem_1_over_all_draws(make, m, q2, one_c):
    """With one c for all sites and rounds, as the theorem has it, and with c of each L_H."""
    sites, start = make([1, 2, 3])
    draws, chances = all_draws(sites, m, rounds=len(q2))
    c = (lambda L: np.full_like(L, 40.0)) if one_c else (lambda L: L)
    plans = [averaging(sites, each, 2, q2, c, 120.0) for each in draws]
    walks = [follow(sites, PROBLEM, plan, start) for plan in plans]
    found = theory.theorem1(walks, chances)
    assert found.broken == ()
    assert found.constants["gamma_1"] > 1
    assert found.measured < found.bound


@pytest.mark.parametrize(("of_c", "kept"), [(1, True), (0.45, False), (0.35, False)])
def test_theorem_1_fails_where_steps_on_h_are_too_long(of_c, kept):
    sites, start = alike([1, 2, 3])
    draws, chances = all_draws(sites, 1, rounds=2)
    plans = [averaging(sites, each, 1200, [1, 1], lambda L: of_c * L, 20.0) for each in draws]
    walks = [follow(sites, PROBLEM, plan, start) for plan in plans]
    found = theory.theorem1(walks, chances, gamma_1=2)
    assert (found.broken == ()) == kept
    assert found.kept == kept


def test_the_chances_of_all_draws():
    sites, _ = federation([1, 3])
    draws, chances = all_draws(sites, 2, rounds=1)
    assert draws == [[(0, 0)], [(0, 1)], [(1, 1)]]
    assert chances == pytest.approx([1 / 16, 6 / 16, 9 / 16])


def test_an_expectation_has_the_chances_and_the_worst_constants():
    sites, start = federation([1, 3])
    plans = [averaging(sites, [one, one], 1, [1, 1], lambda L: L, 9.0) for one in [(0,), (1,)]]
    one, other = (follow(sites, PROBLEM, plan, start) for plan in plans)
    found = theory.theorem1([one, other], [0.25, 0.75])
    assert found.measured == pytest.approx(one.average / 4 + 3 * other.average / 4)
    apart = [theory.theorem1(walk).constants for walk in (one, other)]
    for name, worst in {"L_H": max, "lowest L_W": min, "highest L_W": max, "zeta^2": max}.items():
        assert found.constants[name] == worst(constants[name] for constants in apart)


# ------------------------------------------------------------------ Corollary 1


@pytest.mark.parametrize("q2", [1, fedmf.Diminishing(2)])
def test_corollary_1_on_runs_of_the_package(q2):
    sites, start = federation([1, 4, 9])
    algorithm = fedmf.FedMAvg(q1=2, q2=q2, gamma_h=2, divisor=100)
    run = fedmf.fit(sites, PROBLEM, algorithm, rounds=300, tol=0, init=start)
    found = theory.corollary1(theory.trace(sites, run, init=start))
    assert found.broken == ()
    assert 0.001 * found.bound < found.measured < found.bound


@pytest.mark.parametrize(
    ("of_c", "of_d", "q1", "rounds", "kept"),
    [
        (1, 8, 2000, 2, True),
        (0.45, 8, 2000, 2, False),
        (1, 8, 1, 1700, True),
        (1, 0.3, 1, 1700, False),
    ],
)
def test_corollary_1_fails_where_steps_are_too_long(of_c, of_d, q1, rounds, kept):
    sites, start = alike([1, 2, 3])
    draws, q2 = [(0, 1, 2)] * rounds, [1] * rounds
    plan = averaging(sites, draws, q1, q2, lambda L: of_c * L, of_d, full=True)
    found = theory.corollary1(follow(sites, PROBLEM, plan, start), gamma_1=2, gamma_2=8)
    assert (found.broken == ()) == kept
    assert found.kept == kept


def test_no_bound_is_promised_where_a_formula_has_none():
    sites, start = federation([2, 3])
    short = averaging(sites, [(0, 1)], 1, [1], lambda L: 0.5 * L, 9.0, full=True)
    assert theory.corollary1(follow(sites, PROBLEM, short, start)).bound == np.inf
    short = averaging(sites, [(0,)], 1, [1], lambda L: L, 1.0)
    assert theory.theorem1(follow(sites, PROBLEM, short, start)).bound == np.inf
    short = sharing(sites, [(0,)], 1, 1, 1, 0.5)
    assert theory.theorem2(follow(sites, PROBLEM, short, start)).bound == np.inf


# ------------------------------------------------------------------ conditions and errors


def told(sites, algorithm, theorem, problem=PROBLEM, **more):
    run = fedmf.fit(sites, problem, algorithm, rounds=3, tol=0, **more)
    return " | ".join(theorem(theory.trace(sites, run, more.get("init"))).broken)


def test_conditions_that_a_run_does_not_meet_are_named():
    sites, (W, H) = federation([1, 4, 9])
    one = {"q1": 1, "q2": 1, "divisor": 200}
    assert told(sites, fedmf.FedMAvg(**one, participants=2), theory.theorem1) == ""
    resting = fedmf.FedMAvg(**one, participants=2, participation="pcp")
    assert "not drawn rest (PCP)" in told(sites, resting, theory.theorem1)
    assert "see Corollary 1" in told(sites, fedmf.FedMAvg(**one), theory.theorem1)
    drawn = fedmf.FedMAvg(**one, participants=2)
    assert "see Theorem 1" in told(sites, drawn, theory.corollary1)
    assert "this is not FedMGS" in told(sites, drawn, theory.theorem2)
    assert "this is not FedMAvg" in told(sites, fedmf.FedMGS(), theory.corollary1)
    short = fedmf.FedMAvg(q1=1, q2=5, divisor=0.1)
    assert "gamma_2 = " in told(sites, short, theory.corollary1)
    assert "a site took smaller steps on W" in told(sites, short, theory.corollary1)
    outside = (W + 2, H)
    assert "outside the sets" in told(sites, fedmf.FedMGS(), theory.theorem2, init=outside)
    growing = {"penalty": lambda rows: 1e-8 * 2 ** len(rows)}
    assert "rho changes" in told(sites, fedmf.FedMGS(), theory.theorem2, **growing)
    free = fedmf.Problem(rank=2, bounds="free", h_bounds="free")
    assert "F may be negative" in told(sites, fedmf.FedMGS(), theory.theorem2, problem=free)


def test_a_saved_run_in_single_precision_with_a_random_start_and_sparse_sites(tmp_path):
    from scipy import sparse

    sites = [sparse.csr_array(X.astype(np.float32)) for X in federation([5, 4, 9])[0]]
    algorithm = fedmf.FedMGS(q1=2, q2=2, participants=2)
    fedmf.fit(sites, PROBLEM, algorithm, rounds=5, tol=0, seed=3).save(tmp_path)
    found = theory.theorem2(theory.trace(sites, fedmf.load(tmp_path)))
    assert found.kept
    assert found.broken == ()


def test_what_is_refused():
    sites, start = federation([2, 3])
    run = fedmf.fit(sites, PROBLEM, fedmf.FedMGS(q1=1, q2=1), rounds=2, init=start)
    with pytest.raises(fedmf.FedMFError, match="pass the init that fit was given"):
        theory.trace(sites, run)
    with pytest.raises(fedmf.FedMFError, match="not the sites of the run"):
        theory.stationarity(sites[:1], run)
    with pytest.raises(fedmf.FedMFError, match="not the sites of the run"):
        theory.stationarity([2 * X for X in sites], run)
    walk = theory.trace(sites, run, init=start)
    run.algorithm = fedmf.FedMGS(q1=2, q2=1)
    with pytest.raises(fedmf.FedMFError, match="from the run's"):
        theory.trace(sites, run, init=start)
    run.rows.clear()
    with pytest.raises(fedmf.FedMFError, match="no round"):
        theory.trace(sites, run, init=start)
    other = fedmf.fit(sites, PROBLEM, fedmf.FedPALM(steps=1), rounds=1, init=start)
    with pytest.raises(fedmf.FedMFError, match="'fedpalm'"):
        theory.trace(sites, other, init=start)
    elsewhere = follow(sites, PROBLEM, walk.plan, (start[0] / 2, start[1]))
    with pytest.raises(fedmf.FedMFError, match="one start"):
        theory.theorem2([walk, elsewhere])
    with pytest.raises(fedmf.FedMFError, match="chances must be 2 numbers"):
        theory.theorem2([walk, walk], [0.5, 0.6])
    with pytest.raises(fedmf.FedMFError, match="at least one trace"):
        theory.theorem2([])
