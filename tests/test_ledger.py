"""The ledger against the messages that really travelled."""

from collections import Counter

import numpy as np
import pytest

import cases
import fedmf
from fedmf import wire
from fedmf.algorithms.averaging import Model
from fedmf.ledger import Ledger
from fedmf.messages import Answer, Nothing, Task, ask
from fedmf.runtimes.local import LocalRuntime

M, K, P = cases.FEATURES, cases.RANK, len(cases.SIZES)


class Tapped(LocalRuntime):
    """Writes down every message, a site at a time."""

    tape = None

    def ask(self, method, goal, request):
        answer = super().ask(method, goal, request)
        down = len(wire.encode(request.payload))
        for site, weight, update in zip(request.sites, request.weight, answer.each, strict=True):
            up = len(wire.encode(update)) if weight > 0 else 0
            self.tape[request.round, request.task, int(site)] += np.array([up, down])
        return answer


@pytest.fixture
def tape(monkeypatch):
    """Every site a cohort of its own, so that its own update is there to be measured."""
    monkeypatch.setattr("fedmf.runtimes.local.COHORT_BYTES", 0)
    monkeypatch.setattr("fedmf.fitting.LocalRuntime", Tapped)
    monkeypatch.setattr(Tapped, "tape", Counter())
    return Tapped.tape


@pytest.mark.parametrize("algorithm", cases.RUNS.values(), ids=cases.RUNS)
def test_the_bytes_are_those_of_the_messages(algorithm, tape, sites):
    run = cases.play(sites, algorithm, 4)
    frame = run.ledger.frame()
    assert len(frame) == len(tape)
    for line in frame.itertuples():
        up, down = tape[line.round, line.task, line.site]
        assert (line.uplink_bytes, line.downlink_bytes) == (up, down)
    by_round = frame.groupby("round")[["uplink_bytes", "downlink_bytes"]].sum()
    history = run.history.set_index("round")
    assert history["uplink_bytes"].tolist() == by_round["uplink_bytes"][1:].tolist()
    assert history["downlink_bytes"].tolist() == by_round["downlink_bytes"][1:].tolist()


@pytest.mark.parametrize("algorithm", cases.RUNS.values(), ids=cases.RUNS)
def test_sites_in_one_cohort_send_what_they_would_send_alone(algorithm, tape, sites, monkeypatch):
    alone = cases.play(sites, algorithm, 4)
    monkeypatch.setattr("fedmf.fitting.LocalRuntime", LocalRuntime)
    monkeypatch.setattr("fedmf.runtimes.local.COHORT_BYTES", 2**40)
    assert cases.play(sites, algorithm, 4).ledger.frame().equals(alone.ledger.frame())


@pytest.mark.parametrize("name", cases.RUNS)
@pytest.mark.usefixtures("layout")
def test_reals_follow_the_papers_formula(name, sites):
    """m M K for averages, repeats included; m (M K + K^2) for gradient sharing."""
    algorithm = cases.RUNS[name]
    m = algorithm.participants or P
    each = M * K + K * K if name.startswith("fedmgs") else M * K
    run = cases.play(sites, algorithm, 6)
    assert run.history["uplink_reals"].tolist() == [m * each] * 6
    assert [len(drawn) for drawn in run.history["participants"]] == [m] * 6


def test_a_site_drawn_twice_counts_twice_but_is_sent_once(sites, draws):
    draws([2, 2, 0])
    run = cases.play(sites, fedmf.FedMAvg(participants=3), 1)
    book = run.ledger.frame().query("round == 1 and task == 'improve_W'").set_index("site")
    assert book["counted_reals"].to_dict() == {0: M * K, 2: 2 * M * K}
    assert book["uplink_bytes"].nunique() == 1


def test_a_site_that_was_not_drawn_sends_no_model(sites, draws):
    draws([2, 2, 0])
    run = cases.play(sites, fedmf.FedMAvg(participants=3, common_step="lagged"), 1)
    book = run.ledger.frame().query("round == 1 and task == 'improve'").set_index("site")
    assert book["uplink_bytes"].to_dict().keys() == {0, 1, 2, 3}
    assert (book.loc[[1, 3], ["uplink_bytes", "uplink_reals"]] == 0).all(axis=None)
    assert (book.loc[[0, 2], "uplink_bytes"] > 0).all()


def test_a_silent_site_is_not_counted_however_often_it_was_asked_to():
    """Weight zero: it works, but sends nothing."""
    zero, ones = np.array([0.0, 1.0]), np.array([1, 1])
    request = ask("improve", Nothing(), np.array([4, 7]), zero, ones)
    update = Model(np.zeros((M, K)))
    book = Ledger()
    book.record(Task(len, counted=True), request, Answer(update, [update], request.sites, 1.0))
    frame = book.frame().set_index("site")
    assert frame["counted_reals"].to_dict() == {4: 0, 7: M * K}
    assert frame["uplink_bytes"].to_dict() == {4: 0, 7: len(wire.encode(update))}
    assert book.totals(0)["uplink_bytes"] == len(wire.encode(update))


def test_the_first_upload_is_round_zero(sites):
    run = cases.play(sites, fedmf.FedMGS(participants=1), 2)
    start = run.ledger.frame().query("round == 0")
    assert set(start["task"]) == {"figures", "begin", "first"}
    assert start["counted_reals"].sum() == P * (M * K + K * K)
    assert (start.query("task == 'first'")["uplink_bytes"] > 8 * (M * K + K * K)).all()


@pytest.mark.parametrize("name", cases.RUNS)
def test_the_reals_that_a_site_receives(name, sites):
    """W and rho for those drawn in FedMGS; W for all, and orders for those that work, else."""
    run = cases.play(sites, cases.RUNS[name], 2)
    book = run.ledger.frame().query("round == 2")
    received = book.groupby("task")["downlink_reals"].unique().map(list).to_dict()
    sent = book.query("task in ('measure', 'receive')")["downlink_reals"]
    if name.startswith("fedmgs"):
        assert received == {"improve": [M * K + 1]}
    else:
        assert sent.tolist() == [M * K] * P
        orders = {"improve_H": [1], "improve_W": [1], "improve": [2], "alternate": [2]}
        assert received.items() <= {"measure": [M * K], "receive": [M * K], **orders}.items()


@pytest.mark.parametrize("step", ["exact", "lagged"])
def test_the_exact_common_step_costs_one_more_small_upload(step, sites):
    """K x K from each site, in bytes; the paper's formula does not count it."""
    run = cases.play(sites, fedmf.FedMAvg(common_step=step), 1)
    book = run.ledger.frame().query("round == 1")
    assert book["task"].nunique() == {"exact": 3, "lagged": 2}[step]
    extra = book.query("task in ('improve_H', 'measure')")
    assert (extra["counted_reals"] == 0).all()
    assert (extra["uplink_reals"] >= K * K).all()
    assert len(extra) == P


def test_a_single_precision_run_sends_fewer_bytes(sites):
    """FedMGS: V is float32, U stays double."""
    wide = cases.play(sites, fedmf.FedMGS(), 1)
    narrow = cases.play([own.astype("f4") for own in sites], fedmf.FedMGS(), 1)
    saved = wide.history["uplink_bytes"][0] - narrow.history["uplink_bytes"][0]
    assert 0 <= saved - P * 4 * M * K < P * 16  # a header's padding
    assert wide.history["uplink_reals"][0] == narrow.history["uplink_reals"][0]


def test_communication_adds_up_from_round_zero(sites):
    run = cases.play(sites, fedmf.FedMGS(), 3)
    total = run.communication
    assert total.index.tolist() == [0, 1, 2, 3]
    book = run.ledger.frame()
    assert total["uplink_bytes"].iloc[-1] == book["uplink_bytes"].sum()
    assert total["uplink_reals"].tolist() == [(s + 1) * P * (M * K + K * K) for s in range(4)]


def test_an_empty_ledger_has_its_columns():
    frame = Ledger().frame()
    assert len(frame) == 0
    assert {"round", "task", "site", "uplink_bytes"} <= set(frame)
