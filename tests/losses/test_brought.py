"""Losses that are not quadratic, brought as one file each: FedMAvg works with them as they are."""

from pathlib import Path

import numpy as np
import pytest

import cases
import fedmf
import fedmf.losses
from fedmf.sites import Cohort

BROUGHT = Path(__file__).parent / "brought"
NAMES = sorted(path.stem for path in BROUGHT.glob("*.py"))
every_loss = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(autouse=True)
def brought(monkeypatch):
    """Put the files beside those of the package, which is all that a user does."""
    monkeypatch.setattr(fedmf.losses, "__path__", [*fedmf.losses.__path__, str(BROUGHT)])


@pytest.fixture
def counts():
    """Four unbalanced sites of counts with a common W, and a start."""
    _, (W, H) = cases.federation(3)
    random = np.random.default_rng(4)
    means = [own.T @ (6 * W).T for own in H]
    start = cases.federation(5)[1]
    return [random.poisson(own).astype(float) for own in means], start


def test_there_are_two():
    assert NAMES == ["poisson", "pseudo_huber"]
    assert {type(fedmf.losses.find(name)).__module__ for name in NAMES} == {
        f"fedmf.losses.{name}" for name in NAMES
    }


def directions(shape, seed):
    return np.random.default_rng(seed).standard_normal((5, *shape))


@every_loss
def test_gradients_by_finite_differences(name, counts):
    """A central difference of step t is off by t^2 |f'''| / 6 and by about eps |f| / t.

    With t = 1e-5, f below 1e3 and its derivatives in a direction from 1 to 1e3: below 1e-7 of the
    gradient both.
    """
    loss, (sites, (W, all_H)) = fedmf.losses.find(name), counts
    data, H, t = Cohort.of(sites[2]), all_H[2], 1e-5
    for E in directions(W.shape, 0):
        wanted = (loss.value(data, W + t * E, H) - loss.value(data, W - t * E, H)) / (2 * t)
        assert np.sum(loss.gradient_W(data, W, H) * E) == pytest.approx(wanted, rel=1e-6)
    for E in directions(H.shape, 1):
        wanted = (loss.value(data, W, H + t * E) - loss.value(data, W, H - t * E)) / (2 * t)
        assert np.sum(loss.gradient_H(data, W, H) * E) == pytest.approx(wanted, rel=1e-6)


@every_loss
def test_curvatures_bound_how_fast_the_gradients_change(name, counts):
    loss, (sites, (W, all_H)) = fedmf.losses.find(name), counts
    data, H = Cohort.of(sites[2]), all_H[2]
    for E in abs(directions(W.shape, 2)):
        moved = loss.gradient_W(data, W + E, H) - loss.gradient_W(data, W, H)
        largest = np.linalg.eigvalsh(loss.curvature_W(data, W, H))[-1]
        assert 0 < np.linalg.norm(moved) <= largest * np.linalg.norm(E)
    for E in abs(directions(H.shape, 3)):
        moved = loss.gradient_H(data, W, H + E) - loss.gradient_H(data, W, H)
        assert 0 < np.linalg.norm(moved) <= loss.curvature_H(data, W, H) * np.linalg.norm(E)


SMALL = {
    "one step": {"q2": 1},
    "one step, lagged": {"q2": 1, "common_step": "lagged"},
    "small steps": {"q2": 3, "divisor": 40},
    "fewer and fewer": {"q2": fedmf.Diminishing(4), "divisor": 40},
}


@every_loss
@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("settings", SMALL.values(), ids=SMALL)
def test_fedmavg_with_all_sites_and_small_steps_goes_down(name, settings, counts):
    sites, init = counts
    problem = fedmf.Problem(3, rho=1e-2, nu=1e-3, bounds="nonnegative", loss=name)
    run = cases.play(sites, fedmf.FedMAvg(q1=3, **settings), 60, problem, init=init)
    F = np.array([run.initial_objective, *run.history["objective"]])
    assert (np.diff(F) < 0).all()


@every_loss
def test_the_objective_is_that_of_the_loss(name, counts):
    sites, init = counts
    settings = {"rho": 0.02, "nu": 0.03, "mu": 0.05, "weights": "absolute"}
    problem = fedmf.Problem(3, bounds="nonnegative", loss=name, **settings)
    run = cases.play(sites, fedmf.FedMAvg(q1=2, q2=2, divisor=40), 4, problem, init=init)
    H, X = np.hstack(run.H), np.vstack(sites)
    F = fedmf.losses.find(name).value(Cohort.of(X), run.W, H) / len(X)
    F += 0.01 * (np.sum(H.sum(axis=0) ** 2) - np.sum(H**2)) + 0.015 * np.sum(H**2)
    F += 0.025 * np.sum(run.W**2)
    assert run.position.objective == pytest.approx(F, rel=1e-12)


@every_loss
def test_a_saved_run_finds_its_loss_by_name(name, counts, tmp_path):
    """Half of it with sites drawn, saved, loaded and gone on with: the same bits."""
    sites, init = counts
    problem = fedmf.Problem(3, bounds="nonnegative", loss=name)
    algorithm = fedmf.FedMAvg(q1=2, q2=2, divisor=40, participants=2)
    whole = cases.play(sites, algorithm, 6, problem, init=init)
    cases.play(sites, algorithm, 3, problem, init=init).save(tmp_path)
    cases.same(fedmf.resume(fedmf.load(tmp_path), sites, rounds=6, tol=0), whole)


@every_loss
def test_fedmgs_says_that_it_needs_the_squared_loss(name, counts):
    sites, init = counts
    problem = fedmf.Problem(3, bounds="nonnegative", loss=name)
    with pytest.raises(fedmf.FedMFError, match=f"^FedMGS needs the squared loss, got '{name}'"):
        cases.play(sites, fedmf.FedMGS(), 1, problem, init=init)


def test_the_command_line_finds_it_too(counts, tmp_path):
    from click.testing import CliRunner

    from fedmf.cli import main

    np.save(tmp_path / "x.npy", np.vstack(counts[0]))
    line = f"fit {tmp_path}/x.npy --rank 2 --algorithm fedmavg --loss poisson --rounds 2"
    result = CliRunner().invoke(main, [*line.split(), "--out", str(tmp_path / "run")])
    assert result.exit_code == 0, result.output
    assert fedmf.load(tmp_path / "run").problem.loss == "poisson"
