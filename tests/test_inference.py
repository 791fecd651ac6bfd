"""New samples under a fixed W: against NNLS, against known optima, and sample by sample."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import nnls

from fedmf.constraints import Box, Constraint
from fedmf.inference import TOLERANCE, infer
from fedmf.problem import Known, Problem


def goal_for(X, K, **settings):
    known = Known(*X.shape, float((X**2).sum()), float(X.min()), float(X.max()), abs(X).mean())
    return Problem(K, **{"rho": 0, "nu": 0, "bounds": "free", **settings}).goal(known)


def example(seed=0, M=30, K=6, n=80, spread=1.0):
    """W whose columns differ more or less, and samples that are partly in their cone."""
    random = np.random.default_rng(seed)
    W = random.random((M, 1)) + spread * random.random((M, K))
    H = random.exponential(size=(K, n)) * (random.random((K, n)) < 0.5)
    return W, np.maximum(W @ H + random.standard_normal((M, n)), 0).T


def value(W, X, H):
    return ((X.T - W @ H) ** 2).sum(axis=0)


@pytest.mark.parametrize("spread", [1.0, 1e-1, 1e-3])
@pytest.mark.parametrize("K", [1, 2, 6, 20])
def test_without_penalties_it_is_nnls(K, spread):
    W, X = example(K=K, spread=spread)
    H = infer(goal_for(X, K), W, X, 0.0)
    expected = np.stack([nnls(W, x, maxiter=1000)[0] for x in X], axis=1)
    # Where the projected gradient r of a strongly convex quadratic is small, the solution is within
    # (1 + L) |r| / mu, in units in which A has a unit diagonal. NNLS itself has the condition of
    # W times machine precision, as a factor of what it solves for.
    A, d = W.T @ W, np.linalg.norm(W, axis=0)
    mu, *_, L = np.linalg.eigvalsh(A / np.outer(d, d)) if K > 1 else (1.0, 1.0)
    size = (A @ np.abs(H) + W.T @ X.T).max(axis=0) * np.sqrt(K) / d.min() ** 2
    rounding = 100 * np.finfo(float).eps / mu
    allowed = (TOLERANCE + rounding) * (1 + L) / mu * size
    assert (np.abs(H - expected).max(axis=0) <= allowed).all()
    # F itself, which no condition number comes into:
    assert (value(W, X, H) <= value(W, X, expected) + 1e-11 * (X**2).sum(axis=1)).all()


def test_columns_that_depend_on_each_other_still_give_the_best_fit():
    W, X = example(M=4, K=9)
    H = infer(goal_for(X, 9), W, X, 0.0)
    expected = np.stack([nnls(W, x, maxiter=1000)[0] for x in X], axis=1)
    assert (value(W, X, H) <= value(W, X, expected) + 1e-11 * (X**2).sum(axis=1)).all()


def test_a_column_of_zeros_has_no_part():
    W, X = example()
    W[:, 2] = 0
    H = infer(goal_for(X, 6, nu=1e-10), W, X, 1e-9)
    assert (H[2] == 0).all()
    rest = [0, 1, 3, 4, 5]
    assert np.allclose(H[rest], infer(goal_for(X, 5, nu=1e-10), W[:, rest], X, 1e-9), atol=1e-10)


def test_known_optimum_with_penalties():
    """W = I, x > 0 and a small rho: A h = b has a positive solution, which is the optimum."""
    X = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    goal, rho = goal_for(X, 3, nu=0.3, weights="absolute"), 0.1
    A = np.eye(3) + len(X) / 2 * (rho * (np.ones((3, 3)) - np.eye(3)) + 0.3 * np.eye(3))
    assert infer(goal, np.eye(3), X, rho) == pytest.approx(np.linalg.solve(A, X.T), abs=1e-12)


def test_a_large_rho_leaves_the_best_single_entry():
    """Then h has one entry k, the one with the largest (w_k'x)^2 / ||w_k||^2."""
    W, X = example(K=4)
    H = infer(goal_for(X, 4), W, X, 1e6)
    gains = (X @ W) ** 2 / (W**2).sum(axis=0)
    assert ((H > 0).sum(axis=0) == 1).all()
    assert (H.argmax(axis=0) == gains.argmax(axis=1)).all()
    best = gains.argmax(axis=1)
    weights = (X @ W)[np.arange(len(X)), best] / (W**2).sum(axis=0)[best]
    assert pytest.approx(weights) == H.max(axis=0)


@pytest.mark.parametrize("rho", [1e-4, 1e-2, 1.0])
def test_a_minimum_at_any_rho(rho):
    """No entry alone can lower F, and neither the relaxed nor any single-entry start is lower."""
    W, X = example(K=5)
    goal = goal_for(X, 5)
    A = W.T @ W + len(X) / 2 * goal.penalty(rho)
    H, B = infer(goal, W, X, rho), W.T @ X.T
    gradient = A @ H - B
    scale = np.abs(A) @ H + np.abs(B)
    assert (gradient >= -1e-10 * scale).all()
    assert (np.abs(gradient * (H > 0)) <= 1e-10 * scale).all()
    singles = -((np.maximum(B, 0) / np.sqrt(np.diag(A))[:, None]) ** 2) / 2
    reached = np.sum(H * (A @ H / 2 - B), axis=0)
    assert (reached <= singles.min(axis=0) * (1 - 1e-12)).all()


@pytest.mark.parametrize("rho", [0.0, 0.05])
def test_a_sample_does_not_depend_on_the_others(rho, monkeypatch):
    W, X = example(n=50)
    goal = goal_for(X, 6)
    H = infer(goal, W, X, rho)
    alone = np.concatenate([infer(goal, W, X[j : j + 1], rho) for j in range(50)], axis=1)
    assert np.allclose(H, alone, rtol=0, atol=1e-11)
    monkeypatch.setattr("fedmf.inference.BLOCK_ENTRIES", 7 * 36)
    assert np.allclose(H, infer(goal, W, X, rho), rtol=0, atol=1e-11)
    assert np.array_equal(infer(goal, W, X, rho), infer(goal, W, X, rho))


def test_sparse_is_dense():
    W, X = example()
    X[X < 1] = 0
    goal = goal_for(X, 6)
    for kind in (sparse.csr_array, sparse.csr_matrix):
        assert np.allclose(infer(goal, W, kind(X), 1e-3), infer(goal, W, X, 1e-3), atol=1e-11)


def test_single_precision_is_kept():
    W, X = example()
    goal = goal_for(X, 6)
    H = infer(goal, W.astype(np.float32), X.astype(np.float32), 0.0)
    assert H.dtype == np.float32
    assert np.allclose(H, infer(goal, W, X, 0.0), atol=1e-3)
    assert infer(goal, W, X[:0], 0.0).shape == (6, 0)


def test_other_intervals():
    W, X = example()
    free = infer(goal_for(X, 6, h_bounds="free"), W, X, 0.0)
    assert np.allclose(free, np.linalg.lstsq(W, X.T, rcond=None)[0], atol=1e-10)
    boxed = infer(goal_for(X, 6, h_bounds=Box(0.1, 0.7)), W, X, 0.0)
    gradient = W.T @ (W @ boxed - X.T)
    assert (np.minimum(boxed - 0.1, 0.7 - boxed) >= 0).all()
    assert (gradient[boxed == 0.1] >= -1e-9).all()
    assert (gradient[boxed == 0.7] <= 1e-9).all()
    assert np.abs(gradient[(boxed > 0.1) & (boxed < 0.7)]).max() <= 1e-9


class Unnamed(Constraint):
    """The nonnegative numbers, without saying that they are an interval."""

    def project(self, A):
        return np.maximum(A, 0)


def test_other_sets_are_reached_by_the_steps_of_training():
    W, X = example(K=3)
    slow = infer(goal_for(X, 3, h_bounds=Unnamed()), W, X, 1e-5)
    assert np.allclose(slow, infer(goal_for(X, 3), W, X, 1e-5), atol=1e-8)
