"""The objective, its weights and its sets, against figures worked out by hand."""

import numpy as np
import pytest

import cases
import fedmf
from fedmf.constraints import Box, Free, Nonnegative
from fedmf.losses import Squared, find
from fedmf.losses.squared import Quadratic
from fedmf.problem import Known, Parts, descend, h_sums, step
from fedmf.sites import Cohort
from losses.brought.pseudo_huber import PseudoHuber

KNOWN = Known(
    samples=4, features=2, squared_norm=20.0, minimum=-1.0, maximum=3.0, mean_absolute=1.0
)


def test_relative_weights_are_times_the_mean_squared_norm_of_a_sample():
    goal = fedmf.Problem(2, rho=0.1, nu=0.2, mu=0.3).goal(KNOWN)
    np.testing.assert_allclose([goal.rho, goal.nu, goal.mu], [0.5, 1.0, 1.5], rtol=1e-15)
    assert goal.scale == 5
    goal = fedmf.Problem(2, rho=0.1, nu=0.2, mu=0.3, weights="absolute").goal(KNOWN)
    assert (goal.rho, goal.nu, goal.mu, goal.scale) == (0.1, 0.2, 0.3, 1.0)


def test_weights_of_single_precision_do_not_narrow_the_goals():
    goal = fedmf.Problem(2, rho=np.float32(0.1)).goal(KNOWN)
    assert type(goal.rho) is float
    assert goal.rho == float(np.float32(0.1)) * 5


@pytest.mark.parametrize(
    ("bounds", "wanted"),
    [
        ("data", Box(-1.0, 3.0)),
        ((0, 2), Box(0.0, 2.0)),
        ([0, 2], Box(0.0, 2.0)),
        ((-np.inf, 2), Box(-np.inf, 2.0)),
        ("nonnegative", Nonnegative()),
        ("free", Free()),
        (Box(1.0, 2.0), Box(1.0, 2.0)),
    ],
)
def test_the_set_of_W(bounds, wanted):
    positive = KNOWN._replace(minimum=-1.0 if bounds == "data" else 0.0)
    assert fedmf.Problem(2, bounds=bounds).goal(positive).w_set == wanted


def test_the_objective_by_hand():
    # F = 8/4 + rho/2 3 + nu/2 5 + mu/2 (1 + 4 + 9 + 16) with rho 2, nu 4, mu 0.2
    goal = fedmf.Problem(2, rho=0, nu=4, mu=0.2, weights="absolute").goal(KNOWN)
    W = np.array([[1.0, 2.0], [3.0, 4.0]])
    assert goal.objective(Parts(8.0, 3.0, 5.0), W, 2.0) == pytest.approx(2 + 3 + 10 + 3, rel=1e-15)


def test_the_sums_over_H_by_hand():
    # columns (1, 2) and (3, 0): 9 - 5 = 4, 9 - 9 = 0; energy 5 + 9
    H = np.array([[1.0, 3.0], [2.0, 0.0]])
    assert h_sums(H @ H.T) == (4.0, 14.0)


def test_the_matrix_of_the_penalty_is_its_hessian():
    goal = fedmf.Problem(2, rho=0, nu=3, weights="absolute").goal(KNOWN)
    np.testing.assert_array_equal(goal.penalty(5.0), [[3, 5], [5, 3]])


@pytest.mark.parametrize("loss", [Squared(), PseudoHuber()], ids=["squared", "pseudo_huber"])
def test_gradients_are_the_slopes_of_the_value(loss):
    """Central differences: their error is h^2/6 times a third derivative, below 1e3 here."""
    (rows, *_), (W, (H, *_)) = cases.federation(sizes=[4])
    data, h = Cohort.of(rows), 1e-4
    for block, gradient in ((W, loss.gradient_W(data, W, H)), (H, loss.gradient_H(data, W, H))):
        for index in np.ndindex(block.shape):
            kept = block[index]
            values = []
            for moved in (kept + h, kept - h):
                block[index] = moved
                values.append(loss.value(data, W, H))
            block[index] = kept
            assert gradient[index] == pytest.approx((values[0] - values[1]) / (2 * h), abs=1e-5)


@pytest.mark.parametrize("loss", [Squared(), PseudoHuber()], ids=["squared", "pseudo_huber"])
def test_curvatures_bound_how_fast_the_gradients_change(loss):
    (rows, *_), (W, (H, *_)) = cases.federation(sizes=[4])
    _, (other_W, (other_H, *_)) = cases.federation(1, sizes=[4])
    data = Cohort.of(rows)
    bound_W = np.linalg.eigvalsh(loss.curvature_W(data, W, H))[-1]
    change = loss.gradient_W(data, other_W, H) - loss.gradient_W(data, W, H)
    assert np.linalg.norm(change) <= bound_W * np.linalg.norm(other_W - W)
    change = loss.gradient_H(data, W, other_H) - loss.gradient_H(data, W, H)
    assert np.linalg.norm(change) <= loss.curvature_H(data, W, H) * np.linalg.norm(other_H - H)


def test_the_squared_loss_is_that_of_the_residual(sites, init):
    data = Cohort.of(sites[2])
    W, H = init[0], init[1][2]
    wanted = np.sum((sites[2].T - W @ H) ** 2)
    assert Squared().value(data, W, H) == pytest.approx(wanted, rel=1e-13)
    assert isinstance(find("squared"), Squared)


class Halved(fedmf.constraints.Constraint):
    """A set of which fedmf knows no interval."""

    def project(self, A):
        return np.minimum(A, A.dtype.type(0.5))


def test_descend_is_the_same_with_and_without_an_interval():
    A, B = np.array([[2.0, 1.0], [1.0, 3.0]]), np.array([[1.0], [4.0]])
    q, Z = Quadratic(A, B), np.array([[0.3], [0.2]])
    known = descend(q, Z, 4, 4.0, Box(-np.inf, 0.5))
    np.testing.assert_allclose(descend(q, Z, 4, 4.0, Halved()), known, rtol=1e-14)


def test_without_curvature_nothing_moves_but_onto_the_set():
    Z = np.array([[-1.0, 2.0]])
    q = Quadratic(np.zeros((1, 1)), np.zeros((1, 2)))
    np.testing.assert_array_equal(descend(q, Z, 3, 0.0, Nonnegative()), [[0, 2]])
    np.testing.assert_array_equal(step(Z, np.zeros_like(Z), 0.0, Free()), Z)


def test_a_users_own_set_is_kept_to(sites, init):
    problem = fedmf.Problem(3, bounds=Halved(), h_bounds=Box(0.1, 0.4))
    for algorithm in (fedmf.FedMGS(q1=3, q2=5), fedmf.FedMAvg(q1=3), fedmf.FedPALM(steps=2)):
        run = cases.play(sites, algorithm, 3, problem, init=init)
        assert run.W.max() <= 0.5
        assert 0.1 <= np.hstack(run.H).min() <= np.hstack(run.H).max() <= 0.4
