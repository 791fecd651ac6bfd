"""float32 data: the type is kept everywhere, and one round is float64's within a derived bound.

The bound. Start, data and N are exact in both types, and so is what FedMGS takes in double: the
eigenvalues, H H', the sums over sites. u = eps32 / 2; a float32 product over n terms is off by at
most g(n) |A| |B|, g(n) = n u / (1 - n u) (Higham, Accuracy and Stability, 3.5); d(.) is an error
bound entry by entry, |.| the entries' sizes. One round of one step on each side, from (W, H):

    C = W'X                    d(C) = g(M) |W|'|X|
    A = (2/N) W'W + penalty    d(A) = (2/N) g(M) |W|'|W|
    c = (gamma/2) lambda(A)    d(c)/c = ||d(A)||_F / lambda(A)    (Weyl)
    T = I - A/c                d(T) = d(A)/c + |A|/c d(c)/c + u |T|
    D = (2/N) C / c            d(D) = (2/N) d(C)/c + |D| (d(c)/c + 4u)   (2/N, its product, c, D)
    H+ = P(T H + D)            d(H+) = d(T)|H| + g(K) |T||H| + d(D) + u |T H + D|   (P adds none)

and then, U = H+ H+' in double, V = V0 + X (H+ - H)' with V0 = X H', both products in float32:

    d(V) = g(N) |X||H|' + g(N) |X||H+ - H|' + |X| (u |H+ - H| + d(H+))'
    d(G1) = (2/N) (d(H+)|H+|' + |H+| d(H+)'),   d(G2) = (2/N) d(V) + u |G2|

and W by the same four lines as H. Second-order terms (d times d, below 1e-4 of the rest here) and
all double roundings (5e-9 of the rest) are covered by a factor 1.01.
"""

import numpy as np
import pytest
from scipy import sparse

import cases
import fedmf
from fedmf.problem import Goal
from fedmf.runtimes.local import LocalRuntime

U = np.finfo(np.float32).eps / 2


def g(n):
    return n * U / (1 - n * U)


def step_error(A, dA, B, dB, Z, dZ, gamma):
    """Return the error of P(Z - (A Z - B) / c), where dZ is the error that Z comes with."""
    largest = np.linalg.eigvalsh(A)[-1]
    c, dc = gamma / 2 * largest, np.linalg.norm(dA) / largest
    T, D = np.eye(len(A)) - A / c, B / c
    dT = dA / c + abs(A) / c * dc + U * abs(T)
    dD = dB / c + abs(D) * (dc + 4 * U)
    product = g(len(A)) * abs(T) @ abs(Z) + U * abs(T @ Z + D)
    return dT @ abs(Z) + abs(T) @ dZ + product + dD


def round_error(X, W, H, wanted, penalty):
    """Return the bounds of the errors of W and H after one round; `wanted` is the exact H+."""
    (M, N), move = X.shape, abs(wanted - H)
    A, dA = 2 / N * W.T @ W + penalty, 2 / N * g(M) * abs(W).T @ abs(W)
    B, dB = 2 / N * W.T @ X, 2 / N * g(M) * abs(W).T @ abs(X)
    dH = step_error(A, dA, B, dB, H, 0 * H, 1.02)
    dV = g(N) * abs(X) @ (abs(H) + move).T + abs(X) @ (U * move + dH).T
    G1, G2 = 2 / N * wanted @ wanted.T, 2 / N * X @ wanted.T
    dG1 = 2 / N * (dH @ abs(wanted).T + abs(wanted) @ dH.T)
    dG2 = 2 / N * dV + U * abs(G2)
    dW = step_error(G1, dG1, G2.T, dG2.T, W.T, 0 * W.T, 1.002).T
    return 1.01 * dW, 1.01 * dH


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("seed", range(5))
def test_one_round_is_within_the_derived_bound_of_float64(seed):
    sites, (W, H) = cases.federation(seed)
    sites, W, H = [own.astype("f4") for own in sites], W.astype("f4"), [h.astype("f4") for h in H]
    problem = fedmf.Problem(3, rho=1e-2, nu=1e-3)
    algorithm = fedmf.FedMGS(q1=1, q2=1)
    single = cases.play(sites, algorithm, 1, problem, init=(W, H))
    wide = [own.astype(float) for own in sites]
    double = cases.play(wide, algorithm, 1, problem, init=(W, H))
    penalty = double.goal.penalty(double.goal.rho)
    X, exact = np.vstack(wide).T, np.hstack(double.H)
    dW, dH = round_error(X, W.astype(float), np.hstack(H).astype(float), exact, penalty)
    assert max(dW.max(), dH.max()) < 2e-4
    assert (abs(single.W - double.W) <= dW).all()
    assert (abs(np.hstack(single.H) - exact) <= dH).all()
    assert abs(single.W - double.W).max() > 0


def test_the_objective_is_of_the_float32_point_in_double():
    """FedMGS knows F by G1, in double, and by G2, off by d(V) above with d(H+) = 0."""
    sites, init = cases.federation()
    sites = [own.astype("f4") for own in sites]
    run = cases.play(sites, fedmf.FedMGS(q1=2, q2=3), 1, init=init)
    X, W, H = np.vstack(sites).astype(float).T, run.W.astype(float), np.hstack(run.H).astype(float)
    N, goal = X.shape[1], run.goal
    overlap = np.sum(H.sum(axis=0) ** 2) - np.sum(H**2)
    F = np.sum((X - W @ H) ** 2) / N + goal.mu / 2 * np.sum(W**2)
    F += goal.rho / 2 * overlap + goal.nu / 2 * np.sum(H**2)
    H0 = np.hstack(init[1])
    reach = abs(X) @ (abs(H0) + abs(H - H0)).T
    bound = 2 / N * np.sum(abs(W) * reach) * (g(N) + U) * 1.01
    assert abs(run.history["objective"][0] - F) <= bound < 1e-5


class Watching(LocalRuntime):
    """Notes the types of all arrays with two dimensions that travel."""

    seen = None

    def ask(self, method, goal, request):
        answer = super().ask(method, goal, request)
        for message in (request.payload, *answer.each):
            pairs = zip(message._fields, message, strict=True)
            big = ((name, np.asarray(value)) for name, value in pairs)
            self.seen.update((name, value.dtype.str) for name, value in big if value.ndim == 2)
        return answer


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("kind", ["dense", pytest.param("sparse", marks=pytest.mark.processor)])
@pytest.mark.parametrize("algorithm", cases.RUNS.values(), ids=cases.RUNS)
def test_float32_is_kept(algorithm, kind, monkeypatch):
    monkeypatch.setattr("fedmf.fitting.LocalRuntime", Watching)
    Watching.seen = set()
    sites = [own.astype("f4") for own in cases.federation()[0]]
    sites = [sparse.csr_array(own) for own in sites] if kind == "sparse" else sites
    run = cases.play(sites, algorithm, 3)
    assert run.W.dtype == np.float32
    assert {own.dtype for own in run.H} == {np.dtype(np.float32)}
    assert {type_ for name, type_ in Watching.seen if name in ("W", "V")} == {"<f4"}
    assert run.position.server.W.dtype == run.private.H.dtype == np.float32
    assert isinstance(run.goal, Goal)


def test_one_float64_site_makes_all_float64(sites):
    mixed = [sites[0].astype("f4"), *sites[1:]]
    assert cases.play(mixed, fedmf.FedMGS(), 1).W.dtype == np.float64
