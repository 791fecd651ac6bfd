"""The bounds' formulas by hand, and the conditions and errors about them."""

import numpy as np
import pytest

import fedmf
import literal
from fedmf import theory
from fedmf.theory import follow
from fedmf.theory.runs import C1, C2, C3, gamma, price
from theory.plans import PROBLEM, absolute, averaging, federation, sharing


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
