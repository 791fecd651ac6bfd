"""literal.py against values worked out by hand, and its gradients against finite differences.

With gamma 2 a divisor is the curvature itself, so for K = 1 one H step is the exact minimiser
h = W'x / W'W (the penalties left out), and with gamma 4 a step goes half of the way there.
"""

from pathlib import Path

import numpy as np
import pytest

import literal

# The chains worked out here are of well under 64 roundings of numbers near 1.
TOL = 64 * np.finfo(float).eps


def near(got, want):
    np.testing.assert_allclose(got, np.array(want, dtype=float), rtol=TOL, atol=TOL)


def m(*rows):
    return np.array(rows, dtype=float)


# ------------------------------------------------------------------ the model, K = 2, N = 3

W_K2 = m([1, 0], [0, 2])
X_K2 = [m([3], [1]), m([1, 2], [0, 5])]
H_K2 = [m([1], [2]), m([0, 1], [3, 1])]


def test_it_never_imports_the_package():
    lines = Path(literal.__file__).read_text(encoding="utf-8").splitlines()
    imports = [line for line in lines if line.lstrip().startswith(("import ", "from "))]
    assert imports == ["from typing import NamedTuple", "import numpy as np"]


def test_figures():
    # entries 3, 1 | 1, 2, 0, 5: squares 9 + 1 + 1 + 4 + 0 + 25 = 40, mean 12 / 6
    assert literal.figures(X_K2) == (3, 40.0, 0.0, 5.0, 2.0)
    assert literal.figures([-X_K2[0], X_K2[1]]) == (3, 40.0, -3.0, 5.0, 2.0)


def test_objective_by_hand():
    # site 1: W h = (1, 4), residual (2, -3): 13.  site 2: W H = [[0, 1], [6, 2]],
    # residual [[1, 1], [-6, 3]]: 47.  Phi = 60 / 3 = 20
    # (1'h)^2 - ||h||^2: 9 - 5 = 4 | 9 - 9 = 0, 4 - 2 = 2.  rho/2 (4 + 0 + 2) = 6 for rho = 2
    # nu/2 (5 + 9 + 2) = 4 for nu = 1/2.  mu/2 (1 + 4) = 10 for mu = 4
    near(literal.objective(X_K2, W_K2, H_K2, 2, 0.5, 4), 40)
    # F_1 = 3 (13/3 + 4 + 5/4) + 10, F_2 = 3/2 (47/3 + 2 + 11/4) + 10
    near(literal.local_objective(X_K2[0], W_K2, H_K2[0], 3, 2, 0.5, 4), 38.75)
    near(literal.local_objective(X_K2[1], W_K2, H_K2[1], 3, 2, 0.5, 4), 40.625)


def test_gradients_by_hand():
    # W'(W h - x) = W'(-2, 3) = (-2, 6), by 2/3: (-4/3, 4).  rho (1'h - h) = 2 (2, 1) = (4, 2)
    # nu h = (1/2, 1).  sum (19/6, 7), by 1/omega = 3
    near(literal.gradient_H(X_K2[0], W_K2, H_K2[0], 3, 2, 0.5), [[9.5], [21]])
    # 3 (2/3) (-2, 3)'(1, 2) + 4 W = [[-4, -8], [6, 12]] + [[4, 0], [0, 8]]
    near(literal.gradient_W(X_K2[0], W_K2, H_K2[0], 3, 4), [[0, -8], [6, 20]])


@pytest.mark.parametrize("block", ["W", "H"])
@pytest.mark.parametrize("seed", range(3))
def test_gradients_by_finite_differences(block, seed):
    """In one block F_p is quadratic: a central difference of step 1 is exact up to rounding.

    Let S be F_p with all its terms made positive, one step away (|X|, |W|, |H| and the step added
    up, the subtracted ||h||^2 added). Summing n terms rounds by at most n eps S: so does the
    difference of two values of F_p by 2, and the gradient itself, being below S(x + 1) - S(x).
    """
    rng = np.random.default_rng(seed)
    M, K, N_p, N, rho, nu, mu = 4, 3, 5, 12, 0.7, 0.3, 0.9
    X, at = rng.normal(size=(M, N_p)), {"W": rng.normal(size=(M, K)), "H": None}
    at["H"] = rng.normal(size=(K, N_p))

    def F_p(point):
        return literal.local_objective(X, point["W"], point["H"], N, rho, nu, mu)

    far = {name: np.abs(value) + (name == block) for name, value in at.items()}
    S = literal.local_objective(-np.abs(X), far["W"], far["H"], N, rho, nu + 2 * rho, mu)
    n = X.size + at["H"].size + at["W"].size + 2 * K + 16
    by_difference = np.zeros_like(at[block])
    for index in np.ndindex(at[block].shape):
        E = np.zeros_like(at[block])
        E[index] = 1.0
        ahead, behind = {**at, block: at[block] + E}, {**at, block: at[block] - E}
        by_difference[index] = (F_p(ahead) - F_p(behind)) / 2
    if block == "W":
        gradient = literal.gradient_W(X, at["W"], at["H"], N, mu)
    else:
        gradient = literal.gradient_H(X, at["W"], at["H"], N, rho, nu)
    tolerance = 2 * n * np.finfo(float).eps * S
    assert tolerance < 1e-9 < np.abs(gradient).max()
    np.testing.assert_allclose(by_difference, gradient, rtol=0, atol=tolerance)


# ------------------------------------------------------------------ FedMGS, K = 1, N = 3

W0 = m([1], [1])


def test_fedmgs_two_rounds_with_one_site_each():
    # Round 1, site 2: h = W'x / W'W = (3 + 1) / 2 = 2, U_2 = 4, V_2 = (6, 2).
    # Site 1 is as uploaded at the start: H = (1, 0), U_1 = 1, V_1 = (9, 3).
    # G1 = 2/3 5, G2 = 2/3 (15, 5), d = G1: W = G2 / G1 = (3, 1).
    # Residuals (6, 2), (2, 4) | (-3, -1): 40 + 20 + 10 = 70, F = 70/3.
    # Round 2, site 1: W'W = 10, W'X = (30, 10), H = (3, 1), U_1 = 10, V_1 = (29, 13).
    # G1 = 2/3 14, G2 = 2/3 (35, 15): W = (5/2, 15/14).
    # Residuals (3/2, -3/14), (-1/2, 41/14) | (-2, -8/7): squares over 196 are
    # 441 + 9 + 49 + 1681 + 784 + 256 = 3220, F = 3220 / 196 / 3 = 115/21.
    X = [m([9, 2], [3, 4]), m([3], [1])]
    H0 = [m([1, 0]), m([7])]
    one, two = literal.fedmgs(X, W0, H0, [[1], [0]], 1, 1, 0, 0, gamma_h=2, gamma_w=2)
    near(one["W"], [[3], [1]])
    near(one["H"][0], [[1, 0]])
    near(one["H"][1], [[2]])
    near(one["objective"], 70 / 3)
    near(two["W"], [[5 / 2], [15 / 14]])
    near(two["H"][0], [[3, 1]])
    near(two["H"][1], [[2]])
    near(two["objective"], 115 / 21)
    # Site 2 again instead: h = (9 + 1)/10 = 1, U = 1 + 1, V = (9, 3) + (3, 1): W = (12, 4)/2
    _, two = literal.fedmgs(X, W0, H0, [[1], [1]], 1, 1, 0, 0, gamma_h=2, gamma_w=2)
    near(two["W"], [[6], [2]])
    # the box
    (one,) = literal.fedmgs(X, W0, H0, [[1]], 1, 1, 0, 0, 0, 1.5, 2, gamma_h=2, gamma_w=2)
    near(one["W"], [[2], [1.5]])
    # mu = 5/3: d = 10/3 + 5/3 = 5, gradient 5 (1, 1) - (10, 10/3) = (-5, 5/3)
    (one,) = literal.fedmgs(X, W0, H0, [[1]], 1, 1, 0, 0, 5 / 3, gamma_h=2, gamma_w=2)
    near(one["W"], [[2], [2 / 3]])


def test_fedmgs_two_steps_of_each_kind():
    # Half steps. x = (1, 1): h stays 1. x = (-3, 1), minimiser -1: 1 -> 0 -> -1/2, projected 0.
    # x = (3, 1): h stays 2. G1 = 2/3 (1 + 0 + 4), G2 = 2/3 (1 + 6, 1 + 2), minimiser (7/5, 3/5):
    # (1, 1) -> (6/5, 4/5) -> (13/10, 7/10)
    X = [m([1, -3], [1, 1]), m([3], [1])]
    H0 = [m([1, 1]), m([2])]
    (one,) = literal.fedmgs(X, W0, H0, [[1, 0]], 2, 2, 0, 0, gamma_h=4, gamma_w=4)
    near(one["H"][0], [[1, 0]])
    near(one["H"][1], [[2]])
    near(one["W"], [[1.3], [0.7]])
    # H free: 1 -> 0 -> -1/2
    (one,) = literal.fedmgs(X, W0, H0, [[1, 0]], 2, 2, 0, 0, 0, h_lower=-np.inf, gamma_h=4)
    near(one["H"][0], [[1, -0.5]])


def test_the_divisor_of_H_is_of_the_whole_objective():
    # W = I, N = 3, rho = nu = 1/3: Hessian (2/3 + 1/3) I + 1/3 [[0, 1], [1, 0]], its largest
    # eigenvalue 4/3. x = (3, 1), h = (1, 2): gradient 2/3 (-2, 1) + 1/3 (2, 1) + 1/3 (1, 2)
    # = (-1/3, 5/3): h = (1 + 1/4, 2 - 5/4). (All of it times 1/omega = 3, which cancels.)
    args = (X_K2, np.eye(2), H_K2, [[0]], 1, 0, 1 / 3, 1 / 3)
    (one,) = literal.fedmgs(*args, gamma_h=2)
    near(one["H"][0], [[5 / 4], [3 / 4]])
    near(one["H"][1], H_K2[1])
    near(one["W"], np.eye(2))
    near(literal.curvature_H(np.eye(2), 1, 3, 1 / 3, 1 / 3), 4)


def test_fedmgs_refuses_repeats_and_leaves_its_arguments_alone():
    X, H0 = [m([9, 2], [3, 4]), m([3], [1])], [m([1, 0]), m([7])]
    with pytest.raises(ValueError, match="without replacement"):
        literal.fedmgs(X, W0, H0, [[1, 1]], 1, 1, 0, 0)
    literal.fedmgs(X, W0, H0, [[0, 1]], 1, 1, 0, 0)
    assert H0[0].tolist() == [[1, 0]]
    assert W0.tolist() == [[1], [1]]


# ------------------------------------------------------------------ FedMAvg, K = 1, N = 3

# H steps, W = (1, 1): h = (3 + 1)/2 = 2, (2 + 0)/2 = 1 | (5 + 3)/2 = 4.
# Own gradients of W: site 1 (2/2)(5 W - (8, 2)) = (-3, 3), site 2 (2/1)(16 W - (20, 12)) = (-8, 8).
# Exact d, divisor 1: 2/3 (4 + 1 + 16) = 14. Own curvatures: 5 and 32. Lagged d: 2/3 3 = 2.
X_AVG = [m([3, 2], [1, 0]), m([5], [3])]
H_AVG = [m([1, 1]), m([1])]


def avg(drawn, q2=1, mu=0.0, lower=-np.inf, upper=np.inf, W=W0, **options):
    options = {"gamma_h": 2, "divisor": 1, **options}
    (one,) = literal.fedmavg(X_AVG, W, H_AVG, [drawn], 1, [q2], 0, 0, mu, lower, upper, **options)
    return one


def test_fedmavg_one_round():
    # W_1 = (17, 11)/14, W_2 = (22, 6)/14; site 2 drawn twice: ((17 + 44)/42, (11 + 12)/42)
    one = avg([1, 0, 1])
    near(one["H"][0], [[2, 1]])
    near(one["H"][1], [[4]])
    near(one["W"], [[61 / 42], [23 / 42]])
    # all, with omega = 2/3, 1/3: ((34 + 22)/42, (22 + 6)/42)
    # residuals (1, -1)/3, (2, -2)/3 | (-1, 1)/3: 12/9, F = 4/9
    one = avg([], full=True)
    near(one["W"], [[4 / 3], [2 / 3]])
    near(one["objective"], 4 / 9)
    # mu = 7: d = 14 + 7, gradient of site 1 (-3 + 7, 3 + 7)
    near(avg([0], mu=7)["W"], [[17 / 21], [11 / 21]])
    # divisor 2: half of the way
    near(avg([0], divisor=2)["W"], [[31 / 28], [25 / 28]])


def test_fedmavg_pcc_and_pcp():
    # PCC: site 1 keeps its new H though only site 2 was drawn
    near(avg([1])["H"][0], [[2, 1]])
    # PCP: it does not, so d = 2/3 (1 + 1 + 16) = 12, W_2 = (1 + 8/12, 1 - 8/12)
    one = avg([1, 1], participation="pcp")
    near(one["H"][0], [[1, 1]])
    near(one["W"], [[5 / 3], [1 / 3]])


def test_fedmavg_lagged_step_and_projection_after_the_average():
    # d = 2: W_1 = (5/2, -1/2), W_2 = (5, -3), average (15/4, -7/4)
    near(avg([0, 1], common_step="lagged")["W"], [[15 / 4], [-7 / 4]])
    near(avg([0, 1], lower=0, upper=4, common_step="lagged")["W"], [[15 / 4], [0]])
    # the start is projected in FedMAvg and FedPALM, not in FedMGS
    near(avg([0], lower=0, upper=1, W=m([8], [1]))["H"][0], [[2, 1]])
    palm = literal.fedpalm(X_AVG, m([8], [1]), H_AVG, [[0]], 1, 0, 0, 0, 0, 1, gamma_h=2)
    near(palm[0]["H"][0], [[2, 1]])
    # (8, 1): W'W = 65, W'X = (25, 16)
    gs = literal.fedmgs(X_AVG, m([8], [1]), H_AVG, [[0]], 1, 1, 0, 0, 0, 0, 1, gamma_h=2)
    near(gs[0]["H"][0], [[25 / 65, 16 / 65]])


def test_fedmavg_guard():
    # site 1, d = 14 > 5: (17, 11)/14, then gradient 5 (17, 11)/14 - (8, 2) = (-27, 27)/14
    near(avg([0], q2=2)["W"], [[265 / 196], [127 / 196]])
    # site 2, d = 32: its minimiser (5/4, 3/4) at once, and there it stays
    near(avg([1], q2=2)["W"], [[5 / 4], [3 / 4]])
    # without guard (11/7, 3/7), then gradient 32 (11/7 - 5/4) = 72/7: 11/7 - 36/49
    near(avg([1], q2=2, guard=False)["W"], [[41 / 49], [57 / 49]])
    # one step has no guard
    near(avg([1])["W"], [[11 / 7], [3 / 7]])


def test_fedmavg_two_rounds_with_a_count_each():
    # full, divisor 1: round 1 ends at (4/3, 2/3); round 2 must be a fresh round 1 from there
    options = {"full": True, "gamma_h": 2, "divisor": 1}
    one, two = literal.fedmavg(X_AVG, W0, H_AVG, [[], []], 1, [1, 3], 0, 0, **options)
    (again,) = literal.fedmavg(X_AVG, one["W"], one["H"], [[]], 1, [3], 0, 0, **options)
    assert two["objective"] == again["objective"]
    # W'W = 20/9, W'X = (14/3, 8/3 | 26/3): h = (21/10, 6/5 | 39/10)
    near(two["H"][0], [[21 / 10, 6 / 5]])
    near(two["H"][1], [[39 / 10]])


# ------------------------------------------------------------------ FedPALM


def palm(drawn, steps, lower=-np.inf, upper=np.inf, **options):
    options = {"gamma_h": 2, "divisor": 1, **options}
    (one,) = literal.fedpalm(X_AVG, W0, H_AVG, [drawn], steps, 0, 0, 0, lower, upper, **options)
    return one


def test_fedpalm_one_step_is_a_lagged_fedmavg_projected_at_the_site():
    near(palm([0, 1], 1)["W"], [[15 / 4], [-7 / 4]])
    # W_1 = (5/2, 0), W_2 = (4, 0)
    near(palm([0, 1], 1, 0, 4)["W"], [[13 / 4], [0]])
    # omega-weighted: (2 5/2 + 4)/3
    near(palm([], 1, 0, 4, full=True)["W"], [[3], [0]])


def test_fedpalm_two_steps():
    # site 1: H = (2, 1), d = max(2, 5): W = (8/5, 2/5). W'W = 68/25, W'X = (26/5, 16/5):
    # H = (65, 40)/34, d = its curvature 5825/1156 > 2: W = 34 (275, 65)/5825
    one = palm([0], 2)
    near(one["H"][0], [[65 / 34, 20 / 17]])
    near(one["W"], [[374 / 233], [442 / 1165]])
    # site 2 reaches its exact fit at once: h = 4, W = (5/4, 3/4)
    near(one["H"][1], [[4]])
    near(palm([1], 2)["W"], [[5 / 4], [3 / 4]])
    # without guard, d = 2: (1 + 4, 1 - 4) = (5, -3), W'W = 34, W'x = 16: h = 8/17
    near(palm([1], 2, guard=False)["H"][1], [[8 / 17]])


# ------------------------------------------------------------------ no curvature; the gaps


def test_no_curvature():
    # W = 0 moves no H; with H = 0, d = 0 and the gradient is nil
    zero = np.zeros((2, 1))
    (one,) = literal.fedmgs(X_AVG, zero, H_AVG, [[0, 1]], 2, 0, 0, 0)
    near(one["H"][0], [[1, 1]])
    H0 = [np.zeros((1, 2)), np.zeros((1, 1))]
    (one,) = literal.fedmgs(X_AVG, W0, H0, [[0, 1]], 0, 2, 0, 0)
    near(one["W"], W0)
    # lagged: d = 0 while this round's H is not: undefined, and said so
    with pytest.raises(ZeroDivisionError):
        literal.fedmavg(X_AVG, W0, H0, [[0]], 1, [1], 0, 0, common_step="lagged")


def test_stationarity_by_hand():
    # site 1: 3/2 2/3 (2 (1, 1) - (4, 2)) = (-2, 0), site 2: 3 2/3 (2 - 8) = -12.
    # Nothing is projected, so c cancels: 2/3 4 + 1/3 144
    near(literal.stationarity_H(X_AVG, W0, H_AVG, [2, 3], 0, 0), 152 / 3)
    # site 2 with -x: 3 2/3 (2 + 8) = 20, c = 2: 1 - 10 is projected to 0. 8/3 + 1/3 4 1
    flipped = [X_AVG[0], -X_AVG[1]]
    near(literal.stationarity_H(flipped, W0, H_AVG, [2, 2], 0, 0), 4)
    near(literal.stationarity_H(flipped, W0, H_AVG, [2, 2], 0, 0, -np.inf), 8 / 3 + 400 / 3)
    # 2/3 (3 (1, 1) - (10, 4)) = (-14/3, -2/3): 200/9
    near(literal.stationarity_W(X_AVG, W0, H_AVG, 3), 200 / 9)
    # d = 1, upper 2: moved by (1, 2/3)
    near(literal.stationarity_W(X_AVG, W0, H_AVG, 1, 0, -np.inf, 2), 13 / 9)
    # mu = 2/3: (-4, 0)
    near(literal.stationarity_W(X_AVG, W0, H_AVG, 3, 2 / 3), 16)
    # a stationary point of W: 28/21, 14/21 for H = (2, 1 | 4)
    H = [m([2, 1]), m([4])]
    near(literal.stationarity_W(X_AVG, m([4 / 3], [2 / 3]), H, 14), 0)
