"""Runs worked out by hand: K = 1, M = 2, three samples at two sites, samples in rows.

With gamma 2 a divisor is the curvature itself, so one step on H is the exact h = W'x / W'W (rho and
nu are 0), and one step of FedMGS on W the exact W = G2 / G1.
"""

import numpy as np
import pytest

import cases
import fedmf

PROBLEM = fedmf.Problem(1, rho=0, nu=0, bounds="free", weights="absolute")
W0 = np.array([[1.0], [1.0]])
# The chains worked out here are of well under 64 roundings of numbers near 1.
ROUNDING = 64 * np.finfo(float).eps

pytestmark = pytest.mark.usefixtures("layout")


def positions(sites, H0, algorithm, rounds, problem=PROBLEM):
    seen = []
    start = (W0, [np.array([own], dtype=float) for own in H0])
    run = cases.play(sites, algorithm, rounds, problem, init=start, callback=seen.append)
    return run, [position.server.W.ravel() for position in seen]


def near(got, wanted):
    np.testing.assert_allclose(got, wanted, rtol=ROUNDING, atol=ROUNDING)


# ------------------------------------------------------------------ FedMGS

MGS_SITES = [np.array([[9.0, 3.0], [2.0, 4.0]]), np.array([[3.0, 1.0]])]
EXACT = fedmf.FedMGS(q1=1, q2=1, participants=1, gamma_h=2, gamma_w=2)


def test_fedmgs_one_site_a_round(draws):
    # Round 1, site 1: h = (3 + 1)/2 = 2, U = 4, V = (6, 2). Site 0 is as uploaded at the start:
    # H = (1, 0), U = 1, V = (9, 3). G1 = 2/3 5, G2 = 2/3 (15, 5): W = (3, 1).
    # Residuals (6, 2), (2, 4) | (-3, -1): F = 70/3.
    # Round 2, site 0: W'W = 10, W'X = (30, 10): H = (3, 1), U = 10, V = (29, 13).
    # G1 = 2/3 14, G2 = 2/3 (35, 15): W = (5/2, 15/14); F = 115/21.
    draws([1], [0])
    run, W = positions(MGS_SITES, [[1, 0], [7]], EXACT, 2)
    near(W[0], [3, 1])
    near(W[1], [5 / 2, 15 / 14])
    near(run.H[0], [[3, 1]])
    near(run.H[1], [[2]])
    near(run.history["objective"], [70 / 3, 115 / 21])
    # The start: G1 = 2/3 50, G2 = 2/3 (30, 10), F = 120/3 + 1/3 50 2 - 2/3 40 = 140/3
    near(run.initial_objective, 140 / 3)
    near(run.history["change"], [(140 / 3 - 70 / 3) / (140 / 3), (70 / 3 - 115 / 21) / (70 / 3)])


@pytest.mark.parametrize(
    ("settings", "wanted"),
    [
        ({"bounds": (1.5, 2)}, (2, 1.5)),
        # d = 10/3 + 5/3 = 5, gradient 5 (1, 1) - (10, 10/3)
        ({"mu": 5 / 3}, (2, 2 / 3)),
    ],
)
def test_fedmgs_box_and_mu(draws, settings, wanted):
    draws([1])
    problem = fedmf.Problem(**{**vars(PROBLEM), **settings})
    _, W = positions(MGS_SITES, [[1, 0], [7]], EXACT, 1, problem)
    near(W[0], wanted)


def test_fedmgs_two_steps_of_each_kind():
    # gamma 4 goes half of the way. x = (1, 1): h stays 1. x = (-3, 1), minimiser -1:
    # 1 -> 0 -> -1/2, projected 0. x = (3, 1): h stays 2. G1 = 2/3 5, G2 = 2/3 (7, 3), minimiser
    # (7/5, 3/5): (1, 1) -> (6/5, 4/5) -> (13/10, 7/10).
    sites = [np.array([[1.0, 1.0], [-3.0, 1.0]]), np.array([[3.0, 1.0]])]
    algorithm = fedmf.FedMGS(q1=2, q2=2, gamma_h=4, gamma_w=4)
    run, W = positions(sites, [[1, 1], [2]], algorithm, 1)
    near(run.H[0], [[1, 0]])
    near(run.H[1], [[2]])
    near(W[0], [1.3, 0.7])


# ------------------------------------------------------------------ FedMAvg and FedPALM

# h = (3 + 1)/2 = 2, (2 + 0)/2 = 1 | (5 + 3)/2 = 4.
# Own gradients of W: site 0 (2/2)(5 W - (8, 2)) = (-3, 3), site 1 (2/1)(16 W - (20, 12)) = (-8, 8).
# Exact d, divisor 1: 2/3 (4 + 1 + 16) = 14. Own curvatures: 5 and 32. Lagged d: 2/3 3 = 2.
AVG_SITES = [np.array([[3.0, 1.0], [2.0, 0.0]]), np.array([[5.0, 3.0]])]
AVG_H = [[1, 1], [1]]


def average(algorithm=fedmf.FedMAvg, **settings):
    """Return (H of each site, W) after one round of an averaging algorithm."""
    algorithm = algorithm(**{"gamma_h": 2, "divisor": 1, **settings})
    run, W = positions(AVG_SITES, AVG_H, algorithm, 1)
    return [own.ravel() for own in run.H], W[0]


def test_fedmavg_counts_a_site_as_often_as_it_was_drawn(draws):
    # W_0 = (17, 11)/14, W_1 = (22, 6)/14; site 1 twice: ((17 + 44)/42, (11 + 12)/42)
    draws([1, 0, 1])
    H, W = average(q1=1, q2=1, participants=1)
    near(H[0], [2, 1])
    near(H[1], [4])
    near(W, [61 / 42, 23 / 42])


def test_fedmavg_weighs_all_sites_by_size():
    # omega = 2/3, 1/3: ((34 + 22)/42, (22 + 6)/42)
    near(average(q1=1, q2=1)[1], [4 / 3, 2 / 3])


def test_fedmavg_under_pcp_lets_the_others_rest(draws):
    # d = 2/3 (1 + 1 + 16) = 12, W_1 = (1 + 8/12, 1 - 8/12)
    draws([1])
    H, W = average(q1=1, q2=1, participants=1, participation="pcp")
    near(H[0], [1, 1])
    near(W, [5 / 3, 1 / 3])


def test_fedmavg_lagged_takes_the_step_of_the_last_round(draws):
    # d = 2: W_0 = (5/2, -1/2), W_1 = (5, -3), in equal parts
    draws([0, 1])
    near(average(q1=1, q2=1, participants=1, common_step="lagged")[1], [15 / 4, -7 / 4])


def test_fedmavg_guards_a_site_with_a_large_curvature(draws):
    # Site 1, d = max(14, 32): its minimiser (5/4, 3/4) at once, and there it stays.
    draws([1])
    near(average(q1=1, q2=2, participants=1)[1], [5 / 4, 3 / 4])
    # Site 0, d = 14 > 5: (17, 11)/14, then gradient 5 (17, 11)/14 - (8, 2) = (-27, 27)/14
    draws([0])
    near(average(q1=1, q2=2, participants=1)[1], [265 / 196, 127 / 196])
    # One step has no guard.
    draws([1])
    near(average(q1=1, q2=1, participants=1)[1], [11 / 7, 3 / 7])


def test_fedpalm_two_pairs_of_steps(draws):
    # Site 0: H = (2, 1), d = max(2, 5): W = (8/5, 2/5). W'W = 68/25, W'X = (26/5, 16/5):
    # H = (65, 40)/34, d = its curvature 5825/1156 > 2: W = 34 (275, 65)/5825.
    # Site 1 reaches its exact fit at once: h = 4.
    draws([0])
    H, W = average(fedmf.FedPALM, steps=2, participants=1)
    near(H[0], [65 / 34, 20 / 17])
    near(H[1], [4])
    near(W, [374 / 233, 442 / 1165])


def test_fedpalm_under_pcp_lets_the_others_rest(draws):
    draws([0])
    H, W = average(fedmf.FedPALM, steps=2, participants=1, participation="pcp")
    near(H[1], [1])
    near(W, [374 / 233, 442 / 1165])
