"""FedMAvg: its guard, losses that are not quadratic, schedules, who works and who rests."""

import numpy as np
import pytest

import cases
import fedmf
from fedmf.algorithms.local import Steps, gradient_W, guarded, weighted_models
from fedmf.algorithms.schedules import steps_of
from fedmf.problem import Known
from fedmf.sites import Cohort
from losses.brought.pseudo_huber import PseudoHuber
from losses.squared_anyhow import SquaredAnyhow

FREE = fedmf.Problem(3, bounds="free")


def unguarded(largest, common, steps, gamma):
    return np.full(len(largest), common)


# ------------------------------------------------------------------ the guard


@pytest.fixture
def steep():
    """A site of one sample whose own curvature is some 30 times the common divisor."""
    sites, init = cases.federation(sizes=[1, 120, 80])
    sites[0] *= 30
    return sites, init


def start(steep, rounds, q2=100):
    sites, init = steep
    algorithm = fedmf.FedMAvg(q1=10, q2=q2, participants=2)
    return cases.play(sites, algorithm, rounds, FREE, init=init)


def test_a_steep_site_with_many_steps_stays_in_bounds(steep, draws):
    draws([0, 1])
    run = start(steep, 20)
    assert (run.history["objective"] < run.initial_objective).all()


@pytest.mark.filterwarnings("ignore:overflow")
def test_without_the_guard_it_does_not(steep, draws, monkeypatch):
    draws([0, 1])
    monkeypatch.setattr("fedmf.algorithms.local.guarded", unguarded)
    run = start(steep, 1)
    assert run.history["objective"][0] > 1e50 * run.initial_objective
    with pytest.raises(fedmf.FedMFError, match=r"^round \d+, (site 0|server)"):
        start(steep, 2, q2=1000)


@pytest.mark.parametrize("common", [0.1, 1.0, 10.0])
def test_the_guard_raises_divisors_and_never_lowers_one(common):
    largest = np.array([0.0, 1.0, 3.0])
    wanted = [max(common, 0.51 * own) for own in largest]
    np.testing.assert_allclose(guarded(largest, common, 2, 1.02), wanted, rtol=1e-15)
    np.testing.assert_array_equal(guarded(largest, common, 1, 1.02), [common] * 3)


@pytest.mark.parametrize("q2", [1, 3])
@pytest.mark.parametrize("common_step", ["exact", "lagged"])
def test_sites_without_any_curvature_are_left_alone(q2, common_step, sites, init):
    """H = 0 at the start: the lagged divisor is 0; all data zero: so is every other."""
    algorithm = fedmf.FedMAvg(q1=2, q2=q2, common_step=common_step)
    run = cases.play(sites, algorithm, 3, init=(init[0], [0 * own for own in init[1]]))
    assert np.isfinite(run.W).all()
    zero = cases.play([0 * own for own in sites], algorithm, 3)
    assert not zero.W.any()
    assert not zero.history["objective"].any()


# ------------------------------------------------------------------ the affine map


def local_case(problem, sites, seed=3):
    random = np.random.default_rng(seed)
    rows = np.vstack(sites)
    edges = np.concatenate([[0], np.cumsum([len(own) for own in sites])])
    data = Cohort((rows,), np.arange(len(sites)), edges)
    known = Known(len(rows), rows.shape[1], float(np.sum(rows**2)), 0.0, 1.0, rows.mean())
    W, H = random.random((rows.shape[1], 3)), random.random((3, len(rows)))
    return problem.goal(known), data, W, np.asfortranarray(H)


@pytest.mark.parametrize("gamma", [0.0, 1.02], ids=["unguarded", "guarded"])
@pytest.mark.parametrize("common", [0.9, 3.0, 100.0])
@pytest.mark.parametrize("steps", [1, 2, 7, 100])
def test_the_affine_map_is_the_loop_over_steps(steps, common, gamma, sites):
    """From a common divisor far below the sites' curvatures, where the steps grow, to far above."""
    random = np.random.default_rng(7)
    weight = random.random(len(sites))
    mean = []
    for loss in ("squared", SquaredAnyhow()):
        goal, data, W, H = local_case(fedmf.Problem(3, mu=0.1, loss=loss), sites)
        way = Steps(common, steps, gamma)
        mean.append(weighted_models(goal, data, W, H, way, weight))
    cases.near(mean[0], mean[1])


def test_the_gradient_is_of_the_sites_own_objective(sites):
    goal, data, W, H = local_case(fedmf.Problem(3, mu=0.1), [sites[2]])
    residual = W @ H - sites[2].T
    cases.near(gradient_W(goal, data, W, H), 2 / 9 * residual @ H.T + goal.mu * W)


# ------------------------------------------------------------------ another loss


def huber_by_loops(sites, init, q1, q2, draws):
    """FedMAvg with exact steps and absolute weights of 0.02, 0.01 and 0.01, written as loops."""
    loss, (W, H) = PseudoHuber(), (init[0], [own.copy() for own in init[1]])
    data = [Cohort.of(own) for own in sites]
    N, all_, rounds = sum(map(len, sites)), range(len(sites)), []
    # R_H = (1/2) <H, penalty H>, rho (11' - I) + nu I; its largest eigenvalue 2 rho + nu
    penalty = 0.02 * (1 - np.eye(3)) + 0.01 * np.eye(3)
    for drawn in draws:
        for p in all_:
            for _ in range(q1):
                divisor = 1.02 / 2 * (loss.curvature_H(data[p], W, H[p]) / N + 0.05)
                gradient = loss.gradient_H(data[p], W, H[p]) / N + penalty @ H[p]
                H[p] = np.maximum(H[p] - gradient / divisor, 0)
        bounds = [loss.curvature_W(data[p], W, H[p])[0, 0] for p in all_]
        common, models = 5 * (sum(bounds) / N + 0.01), []
        for p in all_:
            n, W_p = len(sites[p]), W
            own = 1.02 / 2 * (bounds[p] / n + 0.01) if q2 > 1 else 0
            for _ in range(q2):
                gradient = loss.gradient_W(data[p], W_p, H[p]) / n + 0.01 * W_p
                W_p = W_p - gradient / max(common, own)
            models.append(W_p)
        if drawn is None:
            W = sum(len(sites[p]) / N * models[p] for p in all_)
        else:
            W = sum(models[p] for p in drawn) / len(drawn)
        F = sum(loss.value(data[p], W, H[p]) for p in all_) / N
        F += (sum(np.sum(own * (penalty @ own)) for own in H) + 0.01 * np.sum(W**2)) / 2
        rounds.append({"W": W, "H": [own.copy() for own in H], "objective": F})
    return rounds


HUBER = fedmf.Problem(
    3, rho=0.02, nu=0.01, mu=0.01, bounds="free", loss=PseudoHuber(), weights="absolute"
)


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize(("q2", "participants"), [(1, None), (3, None), (3, 2)])
def test_a_loss_that_is_not_quadratic_matches_its_loops(q2, participants, sites, init):
    algorithm = fedmf.FedMAvg(q1=3, q2=q2, participants=participants)
    run = cases.play(sites, algorithm, 5, HUBER, init=init)
    drawn = run.history["participants"] if participants else [None] * 5
    cases.agree(run, huber_by_loops(sites, init, 3, q2, drawn))


@pytest.mark.parametrize("common_step", ["exact", "lagged"])
def test_a_loss_that_is_not_quadratic_goes_down(common_step, sites, init):
    algorithm = fedmf.FedMAvg(q1=3, q2=1, common_step=common_step)
    run = cases.play(sites, algorithm, 30, HUBER, init=init)
    assert np.diff([run.initial_objective, *run.history["objective"]]).max() < 0


def test_fedmgs_refuses_it(sites):
    with pytest.raises(fedmf.FedMFError, match="FedMGS needs the squared loss, got 'pseudo_"):
        cases.play(sites, fedmf.FedMGS(), 1, HUBER)


def test_fedpalm_takes_it(sites, init):
    run = cases.play(sites, fedmf.FedPALM(steps=1), 10, HUBER, init=init)
    assert run.history["objective"].is_monotonic_decreasing


# ------------------------------------------------------------------ schedules and participation


def test_diminishing_is_the_papers():
    assert [fedmf.Diminishing(10)(s) for s in range(1, 13)] == [11, 6, 4, 3, 3, 2, 2, 2, 2, 2, 1, 1]
    assert steps_of(fedmf.Diminishing(0), 1) == 1


def test_a_schedule_of_the_users_own_is_asked_for_each_round(sites, init):
    asked = []

    def schedule(number):
        asked.append(number)
        return number

    run = cases.play(sites, fedmf.FedMAvg(q2=schedule), 4, init=init)
    assert asked[-4:] == [1, 2, 3, 4]
    cases.agree(run, cases.replay(run, sites, init))


def test_under_pcc_all_sites_improve_H_and_under_pcp_those_drawn(sites, init, draws):
    draws([2, 2])
    for participation, resting in (("pcc", 0), ("pcp", 3)):
        algorithm = fedmf.FedMAvg(participants=2, participation=participation)
        run = cases.play(sites, algorithm, 2, init=init)
        still = [np.array_equal(now, old) for now, old in zip(run.H, init[1], strict=True)]
        assert sum(still) == resting
        assert not still[2]


def test_sites_are_drawn_by_size():
    """10000 draws: five standard deviations of a binomial are 5 sqrt(n p (1 - p))."""
    sizes = np.array([1, 4, 9, 2])
    omega = sizes / 16
    algorithm = fedmf.FedMAvg(participants=10_000)
    counts = np.bincount(algorithm.draw(sizes, np.random.default_rng(0)))
    assert (abs(counts - 10_000 * omega) < 5 * np.sqrt(10_000 * omega * (1 - omega))).all()


def test_fedmgs_draws_uniformly_and_without_repeats():
    random, algorithm = np.random.default_rng(0), fedmf.FedMGS(participants=2)
    drawn = np.array([algorithm.draw(np.array([1, 4, 9, 2]), random) for _ in range(5000)])
    assert (drawn[:, 0] < drawn[:, 1]).all()
    assert (abs(np.bincount(drawn.ravel()) - 2500) < 5 * np.sqrt(5000 / 4)).all()
