"""A run is stopped anywhere and gone on with, as if it had never stopped."""

from pkgutil import resolve_name

import numpy as np
import pytest
from scipy import sparse

import cases
import fedmf
from fedmf.errors import ParameterError
from fedmf.hosts import Host

LAST = 5


def go_on(folder, sites, rounds=LAST, penalty=None):
    return fedmf.resume(fedmf.load(folder), sites, rounds=rounds, tol=0, penalty=penalty)


every_kind = pytest.mark.parametrize(("name", "penalty"), cases.STATES.items(), ids=cases.STATES)


@every_kind
@pytest.mark.usefixtures("layout")
def test_stopped_at_any_round_and_gone_on_with(name, penalty, folder, sites):
    whole = cases.play(sites, cases.RUNS[name], LAST, penalty=penalty)
    for s in range(1, LAST):
        cases.play(sites, cases.RUNS[name], s, penalty=penalty).save(folder)
        cases.same(go_on(folder, sites, penalty=penalty), whole)


@every_kind
def test_interrupted_after_any_round_and_gone_on_with(name, penalty, folder, sites):
    whole = cases.play(sites, cases.RUNS[name], LAST, penalty=penalty)
    for s in range(1, LAST + 1):

        def interrupt(position, s=s):
            if position.round == s:
                raise KeyboardInterrupt

        run = cases.play(sites, cases.RUNS[name], LAST, penalty=penalty, callback=interrupt)
        assert run.position.round == len(run.rows) == s
        assert run.status == f"stopped by the user after round {s}; resume goes on"
        run.save(folder)
        cases.same(go_on(folder, sites, penalty=penalty), whole)


@pytest.fixture
def answers(monkeypatch):
    """Count the answers of hosts; once `stop_at` is reached, interrupt before or after it."""
    real = Host.answer

    class Answers:
        count = 0
        stop_at = None
        after = False

    def answer(self, *args):
        Answers.count += 1
        due = Answers.count == Answers.stop_at
        if due and not Answers.after:
            raise KeyboardInterrupt
        done = real(self, *args)
        if due:
            raise KeyboardInterrupt
        return done

    monkeypatch.setattr(Host, "answer", answer)
    return Answers


@every_kind
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_interrupted_in_the_middle_of_any_task_and_gone_on_with(
    name, penalty, after, folder, sites, answers, monkeypatch
):
    """Some sites have done their part of the round by then, others have not."""
    monkeypatch.setattr("fedmf.runtimes.local.COHORT_BYTES", 0)
    rounds = 3
    options = {"penalty": penalty, "threads": 1}
    at_the_start = []
    whole = cases.play(
        sites,
        cases.RUNS[name],
        rounds,
        callback=lambda _: at_the_start.append(answers.count),
        **options,
    )
    total = answers.count
    begun = total - (at_the_start[-1] - at_the_start[0]) * rounds // (rounds - 1)
    seen = set()
    for place in range(max(begun, 1), total + 1):
        answers.count, answers.stop_at, answers.after = 0, place, after
        try:
            run = cases.play(sites, cases.RUNS[name], rounds, **options)
        except KeyboardInterrupt:  # still in the set-up: there is no run yet
            continue
        answers.stop_at = None
        assert run.position.round == len(run.rows) < rounds
        if run.position.round not in seen:
            run.save(folder)
            run = fedmf.load(folder)
        seen.add(run.position.round)
        cases.same(fedmf.resume(run, sites, rounds=rounds, tol=0, penalty=penalty), whole)
    assert seen == {0, 1, 2}


@every_kind
@pytest.mark.parametrize(
    "part", ["fedmf.keeping.row", "fedmf.runtimes.local.LocalRuntime.privates"]
)
def test_interrupted_between_a_round_and_its_record(name, penalty, part, sites, monkeypatch):
    """Ctrl-C while the round that just ended is taken over: it counts as a whole or not at all."""
    whole = cases.play(sites, cases.RUNS[name], 4, penalty=penalty)
    for call in range(1, 5):
        with monkeypatch.context() as patch:
            interrupt_once(patch, part, call)
            try:
                run = cases.play(sites, cases.RUNS[name], 4, penalty=penalty)
            except KeyboardInterrupt:  # before there was a run
                continue
        assert run.position.round == len(run.rows) < 4
        cases.same(fedmf.resume(run, sites, rounds=4, tol=0, penalty=penalty), whole)


def interrupt_once(patch, target, call):
    """Let the target's `call`-th call raise KeyboardInterrupt once it is done."""
    real, calls = resolve_name(target.replace(".LocalRuntime", ":LocalRuntime")), iter(range(call))

    def interrupted(*args):
        done = real(*args)
        if next(calls, call) == call - 1:
            raise KeyboardInterrupt
        return done

    patch.setattr(target, interrupted)


def test_interrupted_in_a_worker_leaves_nothing_running(sites, answers, monkeypatch):
    monkeypatch.setattr("fedmf.runtimes.local.COHORT_BYTES", 0)
    whole = cases.play(sites, fedmf.FedMGS(), 4)
    answers.count, answers.stop_at = 0, answers.count - 2
    run = cases.play(sites, fedmf.FedMGS(), 4, threads=3)
    done = answers.count
    answers.stop_at = None
    assert run.position.round == 3
    assert answers.count == done
    cases.same(fedmf.resume(run, sites, rounds=4, tol=0), whole)


def test_a_run_in_memory_is_gone_on_with_and_left_as_it_was(sites):
    run = cases.play(sites, fedmf.FedMGS(participants=2), 2)
    W, rows, entries = run.W.copy(), len(run.rows), len(run.ledger.entries)
    longer = fedmf.resume(run, sites, rounds=5, tol=0)
    cases.same(longer, cases.play(sites, fedmf.FedMGS(participants=2), 5))
    np.testing.assert_array_equal(run.W, W)
    assert (len(run.rows), len(run.ledger.entries)) == (rows, entries)


@pytest.mark.parametrize("threads", [1, 4])
def test_a_run_is_gone_on_with_on_any_number_of_threads(threads, folder, sites):
    algorithm = fedmf.FedMAvg(participants=3)
    cases.play(sites, algorithm, 2, threads=3).save(folder)
    again = fedmf.resume(fedmf.load(folder), sites, rounds=4, tol=0, threads=threads)
    cases.same(again, cases.play(sites, algorithm, 4))


@pytest.mark.parametrize("algorithm", [fedmf.FedMGS(participants=2), fedmf.FedMAvg()])
def test_a_run_under_sncp_knows_its_penalty(algorithm, folder, sites):
    """From memory and from its folder, at any round, with no word of the penalty."""
    penalty = fedmf.SNCP(start=1e-3, factor=2, patience=2)
    whole = cases.play(sites, algorithm, LAST, penalty=penalty)
    assert whole.history["rho"].nunique() == 3
    for s in range(1, LAST):
        run = cases.play(sites, algorithm, s, penalty=penalty)
        run.save(folder)
        cases.same(go_on(folder, sites), whole)
        cases.same(fedmf.resume(run, sites, rounds=LAST, tol=0), whole)


def test_another_penalty_may_follow(folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 2, penalty=fedmf.SNCP(start=1e-3))
    again = fedmf.resume(run, sites, rounds=4, tol=0, penalty=lambda _: 0.5)
    assert again.history["rho"].tolist() == [1e-3, 1e-3, 0.5, 0.5]


def test_a_finished_run_has_nothing_to_go_on_with(folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 3)
    run.save(folder)
    cases.same(go_on(folder, sites, 3), run)
    with pytest.raises(ParameterError, match=r"^the run has 3 rounds already: .* that, got 2$"):
        go_on(folder, sites, 2)


def test_a_run_is_gone_on_with_to_its_own_limits_unless_told_others(sites):
    """A limit of 6 rounds and a tolerance that would have ended it in round 2 or 3."""

    def interrupt(position):
        if position.round == 2:
            raise KeyboardInterrupt

    whole = cases.play(sites, fedmf.FedMGS(), 6)
    stopped = cases.play(sites, fedmf.FedMGS(), 6, callback=interrupt)
    again = fedmf.resume(stopped, sites)
    cases.same(again, whole)
    assert again.status == whole.status == "stopped at the limit of 6 rounds"
    assert again.settings == whole.settings
    coarse = fedmf.resume(stopped, sites, tol=0.5)
    assert coarse.status.startswith("converged in round 2")
    assert coarse.settings["tol"] == 0.5


def other(sites, kind):
    """Return sites that are not those of the run."""
    return {
        "fewer": sites[:3],
        "another order": [sites[1], sites[0], *sites[2:]],
        "other numbers": [2 * own for own in sites],
        "other sizes": [np.vstack(sites[:2]), *np.vsplit(sites[2], [1, 4]), sites[3]],
        "one number more": [*sites[:3], np.maximum(sites[3], sites[3].mean())],
    }[kind]


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        ("fewer", r"^the run has 4 sites, these are 3$"),
        ("another order", r"^site 0 is not that of the run: its size or figures differ .*16 samp"),
        ("other numbers", r"^site 0 is not that of the run"),
        ("other sizes", r"^the run has 4 sites, these are 5$"),
        ("one number more", r"^site 3 is not that of the run"),
    ],
)
def test_other_sites_are_refused(kind, what, sites):
    run = cases.play(sites, fedmf.FedMGS(), 2)
    with pytest.raises(ParameterError, match=what):
        fedmf.resume(run, other(sites, kind), rounds=3)


def test_sites_of_one_size_in_another_order_are_refused():
    """a + b is b + a: the figures of all data do not tell two sites of one size apart."""
    sites = cases.federation(sizes=[4, 4])[0]
    run = cases.play(sites, fedmf.FedMGS(), 2)
    with pytest.raises(ParameterError, match=r"^site 0 is not that of the run"):
        fedmf.resume(run, sites[::-1], rounds=3)


def swapped(own, axis):
    """Return a site with its first two samples, or features, in each other's place."""
    order = np.arange(own.shape[axis])
    order[:2] = 1, 0
    return np.take(own, order, axis)


@pytest.mark.parametrize("axis", [0, 1], ids=["samples", "features"])
@pytest.mark.parametrize("layout", [np.array, sparse.csr_array])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_sites_with_the_same_figures_and_other_data_are_refused(axis, layout, kind, folder, sites):
    """The same entries in other places: size, norm, extremes and sums are all the same."""
    own = sites[2].astype(kind)
    others = [layout(site.astype(kind)) for site in sites]
    cases.play(others, fedmf.FedMGS(), 2).save(folder)
    others[2] = layout(swapped(own, axis))
    with pytest.raises(ParameterError, match=r"^site 2 is not .* its samples are others, or in an"):
        go_on(folder, others)


def test_the_same_data_in_another_form_are_the_same_data(sites):
    """Sparse or dense, one block or many: it is only the additions' order that differs."""
    run = cases.play(sites, fedmf.FedMGS(), 2)
    again = fedmf.resume(run, [sparse.csr_array(own) for own in sites], rounds=4, tol=0)
    cases.alike(again, cases.play(sites, fedmf.FedMGS(), 4))


def test_sites_of_another_precision_are_refused(sites):
    single = [own.astype("f4") for own in sites]
    run = cases.play(single, fedmf.FedMGS(), 2)
    with pytest.raises(ParameterError, match=r"^the run is in float32, the sites are in float64$"):
        fedmf.resume(run, [own.astype("f8") for own in single], rounds=3)
