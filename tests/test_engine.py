"""The round loop: stopping, Ctrl-C, penalties, numbers that run away, and the history."""

from itertools import pairwise

import numpy as np
import pytest

import cases
import fedmf
from fedmf.algorithms import Algorithm
from fedmf.engine import begin, relative_change, rounds, set_up
from fedmf.errors import NonFiniteError, ParameterError
from fedmf.rng import stream
from fedmf.runtimes.local import LocalRuntime

MGS = fedmf.FedMGS(q1=3, q2=5)

# ------------------------------------------------------------------ stopping


def test_it_stops_where_the_change_falls_below_tol(sites):
    long = cases.play(sites, MGS, 40)
    tol = float(long.history["change"].min()) * 1.5
    wanted = int(long.history["round"][long.history["change"] < tol].iloc[0])
    run = cases.play(sites, MGS, 40, tol=tol)
    assert run.converged
    assert run.position.round == wanted
    change = run.position.change
    assert run.status == f"converged in round {wanted}: relative change {change:.2e} < {tol:g}"
    np.testing.assert_array_equal(run.history["objective"], long.history["objective"][:wanted])


def test_it_stops_at_the_limit_of_rounds(sites):
    run = cases.play(sites, MGS, 3)
    assert not run.converged
    assert run.status == "stopped at the limit of 3 rounds"
    assert run.history["round"].tolist() == [1, 2, 3]


def test_it_stops_after_the_first_round_that_is_too_late(sites):
    run = cases.play(sites, MGS, 30, max_seconds=0)
    assert not run.converged
    assert run.status == "stopped in round 1, after 0 seconds"
    assert run.history["round"].tolist() == [1]


def test_it_goes_on_while_there_is_time(sites):
    assert cases.play(sites, MGS, 3, max_seconds=1e9).position.round == 3


def test_the_smallest_tol_is_never_reached(sites):
    """With tol 0 not even a change of 0 ends a run: it is not below 0."""
    zero = [0 * own for own in sites]
    assert cases.play(zero, MGS, 4, tol=0).position.round == 4
    assert cases.play(zero, MGS, 4, tol=1e-300).status.startswith("converged in round 1")


def test_a_converged_run_gone_on_with_stops_where_it_is(sites):
    run = cases.play(sites, MGS, 200, tol=1e-3)
    assert run.converged
    again = fedmf.resume(run, sites, rounds=200, tol=1e-3)
    cases.same(again, run)
    assert again.converged
    assert fedmf.resume(run, sites, rounds=200, tol=1e-4).position.round > run.position.round


@pytest.mark.parametrize(
    ("now", "before", "change"),
    [
        (1.0, 2.0, 0.5),
        (3.0, 2.0, 0.5),
        (2.0, 2.0, 0.0),
        (0.0, 0.0, 0.0),
        (1.0, 0.0, np.inf),
        (-1.0, -2.0, 0.5),
        (5e-324, 5e-324, 0.0),
    ],
)
def test_relative_change(now, before, change):
    assert relative_change(now, before) == change


# ------------------------------------------------------------------ Ctrl-C and the callback


def test_the_callback_sees_each_round_once_it_is_done(sites):
    seen = []
    run = cases.play(sites, MGS, 4, callback=seen.append)
    assert [position.round for position in seen] == [1, 2, 3, 4]
    assert [position.objective for position in seen] == run.history["objective"].tolist()
    np.testing.assert_array_equal(seen[-1].server.W, run.W)


def test_ctrl_c_before_there_is_a_run_goes_through(sites, monkeypatch):
    def interrupt(self, *args):
        raise KeyboardInterrupt

    monkeypatch.setattr("fedmf.hosts.Host.answer", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cases.play(sites, MGS)


def test_another_error_in_the_callback_goes_through(sites):
    def fail(position):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cases.play(sites, MGS, callback=fail)


# ------------------------------------------------------------------ the history


@pytest.mark.parametrize("algorithm", cases.RUNS.values(), ids=cases.RUNS)
def test_the_history_has_a_row_a_round(algorithm, sites):
    run = cases.play(sites, algorithm, 4)
    history = run.history
    assert list(history) == [
        *("round", "objective", "change", "rho", "participants"),
        *("uplink_reals", "uplink_bytes", "downlink_bytes", "seconds"),
    ]
    before = [run.initial_objective, *history["objective"][:-1]]
    np.testing.assert_array_equal(history["change"], abs(history["objective"] - before) / before)
    assert (history["rho"] == run.problem.rho).all()
    assert (history["seconds"] > 0).all()
    for drawn in history["participants"]:
        assert isinstance(drawn, list)
        assert set(drawn) <= {0, 1, 2, 3}


def test_the_parts_of_a_run(sites):
    run = cases.play(sites, MGS, 2)
    assert run.W.shape == (7, 3)
    assert [own.shape for own in run.H] == [(3, 1), (3, 4), (3, 9), (3, 2)]
    assert [own.tolist() for own in run.labels] == [own.argmax(axis=0).tolist() for own in run.H]
    assert run.sizes.tolist() == [1, 4, 9, 2]


# ------------------------------------------------------------------ the penalty


@pytest.mark.parametrize("name", ["fedmgs m=2", "fedmavg pcc exact", "fedmavg all lagged"])
def test_a_change_compares_two_objectives_with_the_same_penalty(name, sites):
    """F is linear in rho: F(rho') = F(rho) + (rho' - rho)/2 times the overlap."""
    seen = []
    run = cases.play(sites, cases.RUNS[name], 6, penalty=cases.growing, callback=seen.append)
    goal, history = run.goal, run.history
    assert history["rho"].nunique() > 2
    for before, now in pairwise(seen):
        parts = run.algorithm.parts(goal, before.server)
        F = before.objective + (now.rho - before.rho) * goal.scale / 2 * parts.overlap
        assert now.change == pytest.approx(abs(now.objective - F) / F, rel=1e-9)


def test_a_penalty_of_none_and_the_same_penalty_change_nothing(sites):
    plain = cases.play(sites, MGS, 4)
    cases.same(cases.play(sites, MGS, 4, penalty=lambda _: None), plain)
    cases.same(cases.play(sites, MGS, 4, penalty=lambda _: plain.problem.rho), plain)


def test_a_run_does_not_end_while_its_penalty_is_about_to_change(sites):
    """However little F changed: with so large a tol every round is the last but for the penalty."""

    def penalty(rows):
        return 0.01 * (1 + min(len(rows), 3))

    run = cases.play(sites, MGS, 9, tol=10.0, penalty=penalty)
    assert run.history["rho"].tolist() == [0.01, 0.02, 0.03, 0.04]
    assert run.converged
    assert not cases.play(sites, MGS, 3, tol=10.0, penalty=penalty).converged


def test_the_generator_takes_a_penalty_and_yields_where_it_begins(sites):
    known, federation = set_up(LocalRuntime(sites))
    goal = fedmf.Problem(3).goal(known)
    start = begin(MGS, goal, federation, 0, None, np.dtype(float))
    loop = rounds(MGS, goal, federation, start, 0)
    assert next(loop) is start
    assert loop.send(None).rho == 1e-8
    assert loop.send(2.5).rho == 2.5
    assert next(loop).rho == 2.5


# ------------------------------------------------------------------ numbers that run away


@pytest.mark.parametrize("algorithm", [MGS, fedmf.FedMAvg(), fedmf.FedPALM()])
@pytest.mark.usefixtures("layout")
def test_the_site_whose_start_is_too_large_is_named(algorithm, sites, init):
    """In a cohort of its own and among others; more than one: the first."""
    W, H = init
    for culprits in ([2], [0], [3, 1]):
        large = [1e200 * own if p in culprits else own for p, own in enumerate(H)]
        with pytest.raises(NonFiniteError, match=rf"^round 0, site {min(culprits)}: '") as refused:
            cases.play(sites, algorithm, init=(W, large))
        assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("layout")
def test_the_round_and_the_site_that_run_away_are_named(monkeypatch):
    """Without its guard a steep site overflows as soon as a round has very many steps."""
    sites, init = cases.federation(sizes=[40, 40, 1, 40])
    sites[2] *= 30

    def unguarded(largest, common, steps, gamma):
        return np.full(len(largest), common)

    monkeypatch.setattr("fedmf.algorithms.local.guarded", unguarded)
    algorithm = fedmf.FedMAvg(q2=lambda number: 1 if number < 3 else 5000)
    with pytest.raises(NonFiniteError, match=r"^round 3, site 2: 'improve_W' left the finite"):
        cases.play(sites, algorithm, 9, fedmf.Problem(3, bounds="free"), init=init)


def test_a_server_that_runs_away_is_named(sites, init):
    with pytest.raises(NonFiniteError, match=r"^round 0, server: F left the finite numbers"):
        cases.play(sites, MGS, init=(1e200 * init[0], init[1]))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_W_that_is_no_number_is_named(value, sites, monkeypatch):
    def spoil(self, goal, server):
        W = server.W.copy()
        W[2, 1] = value
        return server._replace(W=W)

    monkeypatch.setattr(fedmf.FedMGS, "_improve_W", spoil)
    with pytest.raises(NonFiniteError, match=r"^round 1, server: W left the finite numbers"):
        cases.play(sites, MGS)


def test_it_is_an_arithmetic_error_and_one_of_fedmfs():
    assert issubclass(NonFiniteError, ArithmeticError)
    assert issubclass(NonFiniteError, fedmf.FedMFError)
    assert issubclass(fedmf.FedMGS, Algorithm)


# ------------------------------------------------------------------ the start


def papers_start(sites, seed, low=0.0, high=np.inf):
    """Return W0 and every H0, uniform on [0, a), a = sqrt(mean |X| / K), each from its stream."""
    a = np.sqrt(np.mean(np.abs(np.vstack(sites))) / 3)
    W = a * stream(seed, "start W").random((7, 3))
    pairs = enumerate(sites)
    H = [a * stream(seed, "start H", site=p).random((len(own), 3)).T for p, own in pairs]
    return np.clip(W, low, high), H


@pytest.mark.usefixtures("layout")
@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("algorithm", [MGS, fedmf.FedMAvg(participants=2), fedmf.FedPALM()])
def test_the_random_start_is_the_papers(algorithm, seed, sites):
    """Each site's H has a stream of its own, of the seed; W0 is projected onto its box."""
    for low, high in ((0, 1), (0.3, 0.35)):
        problem = fedmf.Problem(3, bounds=(low, high))
        given = papers_start(sites, seed, low, high)
        run = cases.play(sites, algorithm, 3, problem, seed=seed)
        wanted = cases.play(sites, algorithm, 3, problem, seed=seed, init=given)
        assert run.initial_objective == pytest.approx(wanted.initial_objective, rel=1e-14)
        cases.alike(run, wanted)
    assert not np.array_equal(*(papers_start(sites, other)[1][0] for other in (0, 7)))


def test_a_start_by_name_is_found_across_the_sites_and_counted():
    random = np.random.default_rng(0)
    centres = random.random((3, 8))
    sites = [centres[random.integers(0, 3, 20)] + 0.01 * random.random((20, 8)) for _ in range(4)]
    run = cases.play(sites, MGS, 3, init="kmeans")
    assert run.initial_objective < cases.play(sites, MGS, 3).initial_objective
    assert {"groups", "assign"} <= set(run.ledger.frame().query("round == 0")["task"])
    cases.same(cases.play(sites, MGS, 3, init="random"), cases.play(sites, MGS, 3))
    with pytest.raises(
        ParameterError, match=r"^init must be one of kmeans, linkage, random; got 'kmens'; d"
    ):
        cases.play(sites, MGS, 3, init="kmens")
