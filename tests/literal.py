"""The two algorithms of "Federated Matrix Factorization", written down line by line.

This is the test suite's authority: Algorithm 1 (FedMAvg), Algorithm 2 (FedMGS) and Remark 1
(FedPALM) of the paper, with what the paper leaves open settled as in the project's design notes
("notes" below). It loops over sites and over every single step, and is slow on purpose.

Rule: this file must NEVER import fedmf, nor share a helper with it.

Symbols and layout are the paper's: site p holds X_p (M, N_p), a sample a COLUMN, and H_p (K, N_p);
W is (M, K); X, H are lists over the sites; N = sum_p N_p; omega_p = N_p / N. All weights (rho, nu,
mu) are ABSOLUTE. Every gradient and step divisor c_p, d_p of a site is in the scale of F_p, thus
has its 1/omega_p. A site without samples has no F_p and is not allowed.

    F(W, H) = sum_p omega_p F_p(W, H_p)
    F_p(W, H_p) = (Phi_p(X_p, W H_p) + R_H(H_p)) / omega_p + R_W(W)
    Phi_p = (1/N) ||X_p - W H_p||_F^2
    R_H(H_p) = (rho/2) sum_j ((1'h_j)^2 - ||h_j||^2) + (nu/2) ||H_p||_F^2
    R_W(W) = (mu/2) ||W||_F^2
"""

from typing import NamedTuple

import numpy as np

INF = np.inf


class Figures(NamedTuple):
    """The global figures that the sites tell before round 1."""

    N: int
    norm2: float
    min: float
    max: float
    mean_abs: float


def figures(X):
    """N, ||X||_F^2, min X, max X and the mean of |X|, over all sites."""
    N, entries, norm2, total_abs, low, high = 0, 0, 0.0, 0.0, INF, -INF
    for X_p in _arrays(X):
        N += X_p.shape[1]
        entries += X_p.size
        norm2 += float(np.sum(X_p**2))
        total_abs += float(np.sum(np.abs(X_p)))
        low, high = min(low, float(X_p.min())), max(high, float(X_p.max()))
    return Figures(N, norm2, low, high, total_abs / entries)


def _arrays(blocks):
    """Copies in float64, so that nothing of the caller's is changed."""
    return [np.array(block, dtype=float) for block in blocks]


def _samples(X):
    """N."""
    return sum(X_p.shape[1] for X_p in X)


def _lambda_max(A):
    """The largest eigenvalue of a symmetric matrix."""
    return float(np.linalg.eigvalsh(A)[-1])


def _move(A, gradient, divisor):
    """A - gradient / divisor. No curvature at all is a step of nothing, if the gradient is nil."""
    if divisor == 0.0:
        if np.any(gradient):
            raise ZeroDivisionError("a step divisor is 0 and the gradient is not")
        return A.copy()
    return A - gradient / divisor


# ------------------------------------------------------------------ the model: F_p, F, gradients


def local_objective(X_p, W, H_p, N, rho, nu, mu=0.0):
    """F_p(W, H_p)."""
    omega_p = X_p.shape[1] / N
    Phi_p = np.sum((X_p - W @ H_p) ** 2) / N
    R_H = nu / 2 * np.sum(H_p**2)
    for j in range(H_p.shape[1]):
        h_j = H_p[:, j]
        R_H += rho / 2 * (np.sum(h_j) ** 2 - np.sum(h_j**2))
    R_W = mu / 2 * np.sum(W**2)
    return float(Phi_p / omega_p + R_H / omega_p + R_W)


def objective(X, W, H, rho, nu, mu=0.0):
    """F(W, H) = sum_p omega_p F_p(W, H_p)."""
    N = _samples(X)
    F = 0.0
    for X_p, H_p in zip(X, H, strict=True):
        F += X_p.shape[1] / N * local_objective(X_p, W, H_p, N, rho, nu, mu)
    return F


def gradient_H(X_p, W, H_p, N, rho, nu):
    """The gradient of F_p in H_p."""
    omega_p = X_p.shape[1] / N
    of_Phi = 2 / N * W.T @ (W @ H_p - X_p)
    ones = np.ones((W.shape[1], 1))
    of_R_H = rho * (ones @ (ones.T @ H_p) - H_p) + nu * H_p
    return (of_Phi + of_R_H) / omega_p


def gradient_W(X_p, W, H_p, N, mu=0.0):
    """The gradient of F_p in W."""
    omega_p = X_p.shape[1] / N
    return 2 / N * (W @ H_p - X_p) @ H_p.T / omega_p + mu * W


# ------------------------------------------------------------------ step sizes (notes)


def curvature_H(W, N_p, N, rho, nu):
    """lambda_max of the Hessian of F_p in one column of H_p."""
    K = W.shape[1]
    hessian = 2 / N * W.T @ W + rho * np.ones((K, K)) + (nu - rho) * np.eye(K)
    return _lambda_max(hessian) / (N_p / N)


def curvature_W(H_p, mu=0.0):
    """lambda_max of the Hessian of a site's own F_p in one row of W: (2/N_p) H_p H_p' + mu I."""
    K, N_p = H_p.shape
    return _lambda_max(2 / N_p * H_p @ H_p.T + mu * np.eye(K))


def common_d(H, divisor, mu=0.0):
    """d of FedMAvg and FedPALM: divisor * (lambda_max((2/N) sum_p H_p H_p') + mu)."""
    N = _samples(H)
    G1 = sum(2 / N * H_p @ H_p.T for H_p in H)
    return divisor * (_lambda_max(G1) + mu)


# ------------------------------------------------------------------ Algorithm 2


def fedmgs(
    X,
    W0,
    H0,
    draws,
    q1,
    q2,
    rho,
    nu,
    mu=0.0,
    lower=-INF,
    upper=INF,
    h_lower=0.0,
    gamma_h=1.02,
    gamma_w=1.002,
):
    """Algorithm 2. draws: each round's sites A^s, without repeats. W0 is used as it is given."""
    X, H, W = _arrays(X), _arrays(H0), np.array(W0, dtype=float)
    N = _samples(X)
    K = W.shape[1]
    # Input: one upload by every site gives U_p^0, V_p^0 and by them G_1^0, G_2^0
    U = [H_p @ H_p.T for H_p in H]
    V = [X_p @ H_p.T for X_p, H_p in zip(X, H, strict=True)]
    G1 = sum(2 / N * U_p for U_p in U)
    G2 = sum(2 / N * V_p for V_p in V)
    rounds = []
    for A in draws:
        if len(set(A)) != len(A):
            raise ValueError("FedMGS draws without replacement")
        # Client side: H steps with W^s, at p in A^s; the others do nothing
        for p in A:
            c_p = gamma_h / 2 * curvature_H(W, X[p].shape[1], N, rho, nu)
            for _ in range(q1):
                step = _move(H[p], gradient_H(X[p], W, H[p], N, rho, nu), c_p)
                H[p] = np.maximum(step, h_lower)
        # Server side: G_1^s, G_2^s by the changes since each site's last upload
        for p in A:
            U_p, V_p = H[p] @ H[p].T, X[p] @ H[p].T
            G1 = G1 + 2 / N * (U_p - U[p])
            G2 = G2 + 2 / N * (V_p - V[p])
            U[p], V[p] = U_p, V_p
        # Theorem 2: d^s = gamma/2 L_W, L_W the largest eigenvalue of the Hessian G_1 + mu I
        d = gamma_w / 2 * _lambda_max(G1 + mu * np.eye(K))
        for _ in range(q2):
            W = np.clip(_move(W, W @ G1 - G2 + mu * W, d), lower, upper)
        rounds.append(_record(X, W, H, rho, nu, mu))
    return rounds


def _record(X, W, H, rho, nu, mu):
    """One round, as it ended."""
    H = [H_p.copy() for H_p in H]
    return {"W": W.copy(), "H": H, "objective": objective(X, W, H, rho, nu, mu)}


# ------------------------------------------------------------------ Algorithm 1


def fedmavg(
    X,
    W0,
    H0,
    draws,
    q1,
    q2,
    rho,
    nu,
    mu=0.0,
    lower=-INF,
    upper=INF,
    h_lower=0.0,
    participation="pcc",
    full=False,
    gamma_h=1.02,
    divisor=5.0,
    common_step="exact",
    guard=True,
):
    """Algorithm 1. draws: each round's sites, with repeats; q2: each round's count of W steps.

    A round here ends with the average and projection that open the paper's next one. With full,
    every site takes part, the average is omega-weighted, and draws only counts the rounds.
    """
    X, H = _arrays(X), _arrays(H0)
    N = _samples(X)
    W = np.clip(np.array(W0, dtype=float), lower, upper)  # P_W of the average of equal W_p^0
    rounds = []
    for A, q2_s in zip(draws, q2, strict=True):
        # PCC: all sites update H and W; PCP: those not drawn do nothing at all
        everyone = range(len(X))
        active = everyone if full else {"pcc": everyone, "pcp": sorted(set(A))}[participation]
        H_before = list(H)
        for p in active:
            c_p = gamma_h / 2 * curvature_H(W, X[p].shape[1], N, rho, nu)
            for _ in range(q1):
                step = _move(H[p], gradient_H(X[p], W, H[p], N, rho, nu), c_p)
                H[p] = np.maximum(step, h_lower)
        d = common_d({"exact": H, "lagged": H_before}[common_step], divisor, mu)
        W_local = {}
        for p in active:
            d_p = d
            if guard and q2_s > 1:
                d_p = max(d, gamma_h / 2 * curvature_W(H[p], mu))
            W_local[p] = W.copy()
            for _ in range(q2_s):  # GD, no projection
                W_local[p] = _move(W_local[p], gradient_W(X[p], W_local[p], H[p], N, mu), d_p)
        W = np.clip(_average(X, W_local, A, full), lower, upper)
        rounds.append(_record(X, W, H, rho, nu, mu))
    return rounds


def _average(X, W_local, A, full):
    """sum_p omega_p W_p (Corollary 1), or (1/m) sum over A^s, a site as often as it was drawn."""
    if full:
        N = _samples(X)
        return sum(X[p].shape[1] / N * W_local[p] for p in range(len(X)))
    return sum(W_local[p] for p in A) / len(A)


# ------------------------------------------------------------------ Remark 1


def fedpalm(
    X,
    W0,
    H0,
    draws,
    steps,
    rho,
    nu,
    mu=0.0,
    lower=-INF,
    upper=INF,
    h_lower=0.0,
    gamma_h=1.02,
    divisor=5.0,
    guard=True,
    full=False,
):
    """Remark 1, under PCC: `steps` (= Q/2) times an H step and a projected W step at every site.

    c_p follows the current W_p; the common d is of H as it was when the round began.
    """
    X, H = _arrays(X), _arrays(H0)
    N = _samples(X)
    W = np.clip(np.array(W0, dtype=float), lower, upper)
    rounds = []
    for A in draws:
        d = common_d(H, divisor, mu)
        W_local = {}
        for p in range(len(X)):
            W_p = W.copy()
            for _ in range(steps):
                c_p = gamma_h / 2 * curvature_H(W_p, X[p].shape[1], N, rho, nu)
                step = _move(H[p], gradient_H(X[p], W_p, H[p], N, rho, nu), c_p)
                H[p] = np.maximum(step, h_lower)
                d_p = d
                if guard and steps > 1:
                    d_p = max(d, gamma_h / 2 * curvature_W(H[p], mu))
                W_p = np.clip(_move(W_p, gradient_W(X[p], W_p, H[p], N, mu), d_p), lower, upper)
            W_local[p] = W_p
        W = np.clip(_average(X, W_local, A, full), lower, upper)
        rounds.append(_record(X, W, H, rho, nu, mu))
    return rounds


# ------------------------------------------------------------------ the optimality gap


def stationarity_H(X, W, H, c, rho, nu, h_lower=0.0):
    """G_H = sum_p omega_p c_p^2 ||H_p - P_H(H_p - grad_H F_p / c_p)||_F^2."""
    N = _samples(X)
    G_H = 0.0
    for X_p, H_p, c_p in zip(X, H, c, strict=True):
        moved = np.maximum(H_p - gradient_H(X_p, W, H_p, N, rho, nu) / c_p, h_lower)
        G_H += X_p.shape[1] / N * c_p**2 * np.sum((H_p - moved) ** 2)
    return float(G_H)


def stationarity_W(X, W, H, d, mu=0.0, lower=-INF, upper=INF):
    """G_W = d^2 ||W - P_W(W - grad_W F / d)||_F^2, grad_W F = sum_p omega_p grad_W F_p."""
    N = _samples(X)
    gradient = np.zeros_like(W, dtype=float)
    for X_p, H_p in zip(X, H, strict=True):
        gradient += X_p.shape[1] / N * gradient_W(X_p, W, H_p, N, mu)
    moved = np.clip(W - gradient / d, lower, upper)
    return float(d**2 * np.sum((W - moved) ** 2))
