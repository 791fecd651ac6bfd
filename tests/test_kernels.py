"""The hot loops against loops written out here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fedmf.kernels import COLUMNS_PER_BLOCK, affine_powers, projected_steps

INTERVALS = [(-np.inf, np.inf), (0.0, np.inf), (-np.inf, 0.5), (0.1, 0.6)]


def quadratic(K, n, kind=float):
    random = np.random.default_rng(K)
    root = random.normal(size=(K, K))
    A, B, Z = root @ root.T, random.normal(size=(K, n)), random.normal(size=(K, n))
    return A, B.astype(kind), np.asfortranarray(Z, dtype=kind)


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize(
    "n", [1, COLUMNS_PER_BLOCK - 1, COLUMNS_PER_BLOCK, 2 * COLUMNS_PER_BLOCK + 1]
)
def test_projected_steps_are_the_loop(n, interval):
    A, B, Z = quadratic(3, n)
    before, divisor = Z.copy(), np.linalg.eigvalsh(A)[-1]
    wanted = Z
    for _ in range(5):
        wanted = np.clip(wanted - (A @ wanted - B) / divisor, *interval)
    np.testing.assert_allclose(projected_steps(A, B, Z, 5, divisor, interval), wanted, atol=1e-13)
    np.testing.assert_array_equal(Z, before)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_projected_steps_keep_type_and_put_each_sample_in_one_piece(kind, order):
    A, B, Z = quadratic(4, 9, kind)
    new = projected_steps(A, np.array(B, order=order), np.array(Z, order=order), 2, 9.0, (0, 1))
    assert new.dtype == kind
    assert new.T.flags.c_contiguous


def test_no_step_changes_nothing():
    A, B, Z = quadratic(2, 3)
    np.testing.assert_array_equal(projected_steps(A, B, Z, 0, 1.0, (0, 1)), Z)


# x = eigenvalue / divisor: none, tiny, small, about the switch at 1/2, one step to the minimum,
# negative 1 - x, at the edge of growing, growing.
POINTS = [0.0, 1e-300, 1e-17, 1e-12, 1e-6, 0.1, 0.499999, 0.5, 0.7, 1.0, 1.3, 1.96, 2.0, 2.5]
# 1 - x, its power and the eigenvectors round: 8 roundings a step are many more than there are.
ROUNDINGS = 8 * np.finfo(float).eps


def powers(x, steps):
    """Return (1-x)^steps and 1 + (1-x) + ... by the loop, for eigenvalues x and divisor 1."""
    P, S = affine_powers(np.array([x]), np.eye(len(x))[None], np.array([1.0]), steps)
    return np.diag(P[0]), np.diag(S[0])


@pytest.mark.parametrize("steps", [1, 2, 3, 10, 100, 1000])
def test_affine_powers_are_the_loop_wherever_x_lies(steps):
    x = np.array(POINTS)
    power, series = np.ones_like(x), np.zeros_like(x)
    for _ in range(steps):
        series = series * (1 - x) + 1
        power = power * (1 - x)
    got_power, got_series = powers(x, steps)
    np.testing.assert_allclose(got_power, power, rtol=ROUNDINGS * steps, atol=1e-300)
    np.testing.assert_allclose(got_series, series, rtol=ROUNDINGS * steps)


@given(x=st.floats(0, 2), steps=st.integers(1, 300))
def test_the_series_lies_between_its_bounds(x, steps):
    """It is at most `steps`; for x up to 1 at least 1 and at most 1/x."""
    _, (series,) = powers(np.array([x]), steps)
    slack = 1 + ROUNDINGS * steps
    assert series <= steps * slack
    assert series * x <= 2 * slack
    if x <= 1:
        assert series * slack >= 1
        assert series * x <= slack


def test_affine_powers_take_many_sites_each_with_its_own_divisor():
    random = np.random.default_rng(0)
    root = random.normal(size=(5, 3, 3))
    A, divisor = root @ root.mT, 1 + 9 * random.random(5)
    W, B = random.normal(size=(4, 3)), random.normal(size=(5, 4, 3))
    P, S = affine_powers(*np.linalg.eigh(A), divisor, 6)
    for own_A, d, own_B, own_P, own_S in zip(A, divisor, B, P, S, strict=True):
        wanted = W
        for _ in range(6):
            wanted = wanted - (wanted @ own_A - own_B) / d
        np.testing.assert_allclose(W @ own_P + own_B @ own_S, wanted, rtol=1e-11, atol=1e-11)
