"""The hot loops: projected and unprojected gradient steps on a quadratic, sums over many columns.

Both blocks of the squared loss are the same problem seen from two sides: for Z of shape (K, n),

    q(Z) = (1/2) <Z, A Z> - <B, Z>,        gradient A Z - B,        A symmetric, K x K.

Z = H with A from W'W and B from W'X, or Z = W' with A from H H' and B from (X H')'. The columns
of Z are independent of each other, so they are worked through in blocks that stay in the cache; on
a device (see `fedmf.devices`), where blocks would be slow, all at once.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from fedmf import native
from fedmf.arrays import Array, beside, double, here, space
from fedmf.parallel import each

COLUMNS_PER_BLOCK = 512  # at the least; where there are very many, eight times as many
COLUMNS_PER_SUM = 4096


def projected_steps(
    A: Array, B: Array, Z: Array, steps: int, divisor: float, interval: tuple[float, float]
) -> Array:
    """Take `steps` steps Z <- clip(Z - (A Z - B) / divisor) and return the new (K, n) Z.

    Each step is written Z <- clip(T Z + D), T = I - A / divisor, D = B / divisor.
    """
    T = beside(np.eye(A.shape[0]) - A.astype(np.float64) / divisor, Z)
    if not isinstance(Z, np.ndarray):
        return _steps_at_once(Z.T, T, B.T / divisor, steps, interval).T
    # Rows are columns of Z: contiguous where Z is stored the way sites store it.
    rows = np.empty((Z.shape[1], Z.shape[0]), Z.dtype)
    dtype = rows.dtype
    lower, upper = dtype.type(interval[0]), dtype.type(interval[1])
    count = min(max(rows.shape[0] // 64, COLUMNS_PER_BLOCK), 8 * COLUMNS_PER_BLOCK)

    def work(first: int) -> None:
        part = slice(first, first + count)
        rows[part] = Z.T[part]
        drift = np.divide(B.T[part], dtype.type(divisor), dtype=dtype, order="C")
        if not native.steps(rows[part], drift, T, steps, lower, upper):
            _clipped_steps(rows[part], T, drift, steps, lower, upper)

    each(work, range(0, rows.shape[0], count))
    return rows.T


def _steps_at_once(rows: Any, T: Any, drift: Any, steps: int, interval: tuple[float, float]) -> Any:
    """Take the steps on all rows, wherever they are."""
    clipped = space(rows).clip
    for _ in range(steps):
        rows = clipped(rows @ T + drift, *interval)
    return rows


def _clipped_steps(
    block: Array, T: Array, drift: Array, steps: int, lower: np.generic, upper: np.generic
) -> None:
    """Take the steps on one block of rows, in place."""
    product = np.empty_like(block)
    # numpy compares two arrays three times faster than an array and a number.
    low, high = (np.full_like(block, bound) for bound in (lower, upper))
    for _ in range(steps):
        np.matmul(block, T, out=product)
        product += drift
        clip(product, low, high, out=block)


def clip(A: Array, lower: Array, upper: Array, out: Array) -> None:
    """Do what np.clip does, without its overhead; bounds that are all infinite cost nothing."""
    source = A
    if lower.flat[0] != -np.inf:
        source = np.maximum(source, lower, out=out)
    if upper.flat[0] != np.inf or source is A:
        np.minimum(source, upper, out=out)


def outer(H: Any) -> Array:
    """Return H H' (K, K), in double precision; blocks of columns are added in their order."""
    if not isinstance(H, np.ndarray):
        wide = double(H)
        return here(wide @ wide.T)

    def work(first: int) -> Array:
        part: Array = double(H[:, first : first + COLUMNS_PER_SUM])
        return part @ part.T

    total: Array = reduce(np.add, each(work, range(0, H.shape[1], COLUMNS_PER_SUM)))
    return total


def inner(A: Any, B: Any) -> float:
    """Return <A, B>, in double precision, in the same way."""
    if not isinstance(A, np.ndarray):
        return float(space(A).sum(double(A) * double(B)))

    def work(first: int) -> float:
        part = slice(first, first + COLUMNS_PER_SUM)
        return float(np.einsum("kn,kn->", A[:, part], B[:, part], dtype=np.float64))

    return sum(each(work, range(0, A.shape[1], COLUMNS_PER_SUM)))


def affine_powers(values: Array, Q: Array, divisor: Array, steps: int) -> tuple[Array, Array]:
    """Return (P, S) with which `steps` unprojected steps on W are W P + B S, exactly.

    A = Q diag(values) Q', one symmetric K x K matrix for each of b sites: values (b, K), Q
    (b, K, K), divisor (b,). With T = I - A / divisor: P = T^steps and S = (1/divisor) (I + T +
    ... + T^(steps-1)), both (b, K, K); the sum is (1 - (1-x)^steps) / x, x = value / divisor.
    """
    x = values / divisor[:, None]
    power = (1.0 - x) ** steps
    series = _geometric(x, steps) / divisor[:, None]
    return (Q * power[:, None, :]) @ Q.mT, (Q * series[:, None, :]) @ Q.mT


def _geometric(x: Array, steps: int) -> Array:
    """Return 1 + (1-x) + ... + (1-x)^(steps-1), without cancellation where x is small."""
    small = np.abs(x) < 0.5
    nonzero = np.where(x == 0, 1.0, x)
    safe = np.where(small, x, 0.0)
    near = -np.expm1(steps * np.log1p(-safe)) / nonzero
    large = np.where(small, 0.5, x)
    far = (1.0 - (1.0 - large) ** steps) / large
    return np.where(x == 0, float(steps), np.where(small, near, far))
