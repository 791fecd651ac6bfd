"""New samples under a fixed W: each sample's own best column of H.

For one sample x the H-objective, times N/2, is a quadratic in its column h,

    (1/2) h'A h - b'h,   A = W'W + (N/2) (rho (11' - I) + nu I),   b = W'x,   h in the set for H,

with the N, rho and nu of training. It is solved to the end. A few sweeps of exact coordinate steps
settle which entries lie on a bound; a Newton step on the others then lands on the solution. Both
only go downhill. A sample is done when its own projected gradient is, entry by entry, below
TOLERANCE times |A||h| + |b|; what else is in the batch has no part in it.

With a large rho, A is indefinite and a sample may have several minima. Two starts are then followed
down, the solution without the penalty and the best single entry, and the lower end is taken.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedmf.arrays import Array, IntArray, Rows
from fedmf.parallel import each
from fedmf.problem import Goal
from fedmf.sites import Cohort

Mask: TypeAlias = NDArray[np.bool_]

TOLERANCE = 1e-12
RIDGE = 1e-12  # of the largest eigenvalue
TIE = 1e-10  # two minima this close in value are one: rounding must not choose
SWEEPS, TURNS = 5, 400  # coordinate sweeps before each Newton step; how many times at most
BLOCK_ENTRIES = 2**19  # of the K x K systems that are solved side by side
STEPS, MOST_STEPS = 100, 20_000  # for other losses and sets


class _Quadratics(NamedTuple):
    """(1/2) h'A h - b'h between two bounds, one for each column of B."""

    A: Array  # (K, K)
    B: Array  # (K, n)
    lower: float
    upper: float

    def of(self, samples: IntArray) -> _Quadratics:
        """Return the problems of some samples."""
        return self._replace(B=self.B[:, samples])

    def value(self, H: Array) -> Array:
        """Return each sample's value, (n,)."""
        return np.sum(H * (self.A @ H / 2 - self.B), axis=0)  # type: ignore[no-any-return]


def infer(goal: Goal, W: Array, rows: Rows, rho: float) -> Array:
    """Return the H, (K, n), that minimises F for these rows (n, M) at fixed W.

    Rows are dense or CSR; the result has their dtype, computed in double precision. For a loss
    that is not squared, or a set for H that is no interval, the steps of training are taken until
    they come to rest. Inside `fedmf.parallel.threads` the blocks of rows are shared out.
    """
    if rows.shape[0] == 0:
        return np.empty((goal.rank, 0), dtype=rows.dtype)
    interval = goal.h_set.interval
    if not goal.squared or interval is None:
        return _by_steps(goal, W, Cohort.of(rows), rho)
    wide = W.astype(np.float64, copy=False)
    gram, H = wide.T @ wide, np.empty((rows.shape[0], goal.rank), dtype=rows.dtype)
    A = gram + goal.known.samples / 2 * goal.penalty(rho)
    alone = gram + goal.known.samples / 2 * goal.penalty(0.0)
    block = max(1, BLOCK_ENTRIES // goal.rank**2)

    def solve(first: int) -> None:
        B = (rows[first : first + block] @ W).T.astype(np.float64)
        H[first : first + block] = _best(_Quadratics(A, B, *interval), alone).T

    each(solve, range(0, rows.shape[0], block))
    return H.T


def _best(q: _Quadratics, alone: Array) -> Array:
    """Return each sample's solution; `alone` is A without the overlap penalty."""
    nothing = np.clip(np.zeros_like(q.B), q.lower, q.upper)
    if _is_convex(q.A):
        return _descend(q, nothing)
    relaxed = _descend(q, _descend(q._replace(A=alone), nothing))
    single = _descend(q, _single(q, nothing))
    values = q.value(relaxed)
    lower = q.value(single) < values - TIE * np.abs(values)
    return np.where(lower, single, relaxed)


def _single(q: _Quadratics, H: Array) -> Array:
    """Return H with the one entry moved, in each column, that lowers the value most."""
    diagonal = np.diag(q.A)[:, None]
    gradient = q.A @ H - q.B
    moves = np.clip(H - _divided(gradient, diagonal), q.lower, q.upper) - H
    chosen = np.argmin(moves * gradient + diagonal / 2 * moves**2, axis=0)
    moved, samples = H.copy(), np.arange(H.shape[1])
    moved[chosen, samples] += moves[chosen, samples]
    return moved


def _descend(q: _Quadratics, H: Array) -> Array:
    """Follow every sample down from H until its projected gradient vanishes."""
    H, regular = H.copy(), _regular(q.A)
    ongoing = np.arange(H.shape[1])
    for _ in range(TURNS):
        own = q.of(ongoing)
        part = _land(own, regular, _sweeps(own, H[:, ongoing]))
        H[:, ongoing] = part
        ongoing = ongoing[_unfinished(own, part)]
        if not ongoing.size:
            break
    return H


def _sweeps(q: _Quadratics, H: Array) -> Array:
    """Minimise over one entry after the other, a few times round."""
    for _ in range(SWEEPS):
        for k in np.flatnonzero(_alive(q.A)):
            step = (q.A[k] @ H - q.B[k]) / q.A[k, k]
            H[k] = np.clip(H[k] - step, q.lower, q.upper)
    return H


def _land(q: _Quadratics, regular: Array, H: Array) -> Array:
    """Go to the minimum over the entries between the bounds, giving up those that reach one."""
    ongoing = np.arange(H.shape[1])
    while ongoing.size:
        part, arrived = _newton(q.of(ongoing), regular, H[:, ongoing])
        H[:, ongoing] = part
        ongoing = ongoing[~arrived]
    return H


def _newton(q: _Quadratics, regular: Array, H: Array) -> tuple[Array, Mask]:
    """Solve for the entries between the bounds, the others held; return which samples arrived.

    Where the solution leaves the bounds, a sample takes the better of two ways towards it: clipped,
    or straight as far as the first bound. Either ends on one bound more, so that K times will do.
    """
    gradient = q.A @ H - q.B
    free = _alive(q.A)[:, None] & (q.lower < H) & (q.upper > H)
    step = -_solved(regular, gradient.T, free.T).T
    bound = np.where(step < 0, q.lower, q.upper)
    beyond = np.abs(step) > np.abs(bound - H)
    share = np.divide(bound - H, step, out=np.ones_like(step), where=beyond)
    first = share.min(axis=0)
    straight = np.where(beyond & (share == first), bound, H + step * first)
    ends = [np.clip(H + step, q.lower, q.upper), np.clip(straight, q.lower, q.upper)]
    gains = [np.sum((end - H) * (gradient + q.A @ (end - H) / 2), axis=0) for end in ends]
    downhill = np.minimum(*gains) <= 0
    best = np.where(gains[0] <= gains[1], *ends)
    return np.where(downhill, best, H), ~downhill | ~beyond.any(axis=0)


def _solved(A: Array, right: Array, free: Mask) -> Array:
    """Return, for each row, the solution of A restricted to its free entries; zero elsewhere.

    Samples with equally many free entries are solved side by side.
    """
    solution, counts = np.zeros_like(right), free.sum(axis=1)
    order = np.argsort(~free, axis=1, kind="stable")
    for count in np.unique(counts[counts > 0]):
        who = np.flatnonzero(counts == count)[:, None]
        entries = order[who[:, 0], :count]
        systems = A[entries[:, :, None], entries[:, None, :]]
        solution[who, entries] = np.linalg.solve(systems, right[who, entries][:, :, None])[:, :, 0]
    return solution


def _unfinished(q: _Quadratics, H: Array) -> Mask:
    """Return which samples still have a projected gradient."""
    diagonal, product = np.diag(q.A)[:, None], q.A @ H
    step = _divided(product - q.B, diagonal)
    left = np.abs(H - np.clip(H - step, q.lower, q.upper)) * diagonal
    size = np.abs(q.A) @ np.abs(H) + np.abs(q.B)
    return left.max(axis=0) > TOLERANCE * size.max(axis=0)  # type: ignore[no-any-return]


def _alive(A: Array) -> Mask:
    """Return which columns of W are not zero: an entry for a zero column stays where it is."""
    diagonal = np.diag(A)
    return diagonal > 1e-14 * diagonal.max()  # type: ignore[no-any-return]


def _extremes(A: Array) -> tuple[float, float]:
    """Return the smallest and the largest eigenvalue of A where W has columns; ones if nowhere."""
    alive = _alive(A)
    values = np.linalg.eigvalsh(A[np.ix_(alive, alive)]) if alive.any() else np.ones(1)
    return float(values[0]), float(values[-1])


def _is_convex(A: Array) -> bool:
    """Return whether A is positive semidefinite, to rounding."""
    smallest, largest = _extremes(A)
    return smallest >= -1e-14 * len(A) * largest


def _regular(A: Array) -> Array:
    """Return A, with a small ridge where it may be singular: steps with it go downhill too."""
    smallest, largest = _extremes(A)
    return A if smallest > RIDGE * largest else A + RIDGE * largest * np.eye(len(A))


def _divided(gradient: Array, diagonal: Array) -> Array:
    """Return the exact step for each entry; none where there is no curvature."""
    safe = np.where(diagonal > 0, diagonal, 1.0)
    return np.where(diagonal > 0, gradient / safe, 0.0)


def _by_steps(goal: Goal, W: Array, data: Cohort, rho: float) -> Array:
    """Take the steps that a site takes in training until H is at rest."""
    start = np.sqrt(goal.known.mean_absolute / goal.rank)
    H = goal.h_set.project(np.full((goal.rank, data.rows.shape[0]), start, dtype=data.dtype))
    cross = data.cross(W)
    for _ in range(MOST_STEPS // STEPS):
        before = H
        H = goal.improve_H(data, W, cross, H, rho, STEPS, 1.02)
        if np.abs(H - before).max() <= np.finfo(H.dtype).eps * np.abs(H).max():
            break
    return H.astype(data.dtype, copy=False)
