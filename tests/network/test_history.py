"""What the server tells of a run while it goes on and afterwards: its course, its warnings."""

import time

import pytest

import fedmf
from fedmf.network import hub, records, server
from fedmf.network.hub import Hub, Key
from fedmf.network.kits import Kit
from fedmf.network.records import Records
from fedmf.network.server import Server
from network.real import NAMES, samples
from network.rig import Rig, job

ROW = {
    *("round", "objective", "change", "rho", "participants", "missing", "late"),
    *("uplink_reals", "uplink_bytes", "downlink_bytes", "seconds"),
}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A finished run's folder at the server, and the run."""
    folder = tmp_path_factory.mktemp("runs")
    wanted = job({"name": "fedmgs", "q1": 3, "q2": 5}, rounds=5)
    record = Records(folder, NAMES).add(wanted, "coordinator")
    with Rig(folder, samples()).at_work() as rig:
        rig.folder = folder / record.name
        (rig.folder / "run").symlink_to(rig.folder)  # where the rig keeps its checkpoint
        early = record.history()
        run, _ = rig.play(wanted, show=record.show)
    return folder, record, early, run


def test_the_history_is_that_of_the_run(played):
    folder, record, early, run = played
    assert early == ([], {})
    rows, before = record.history()
    assert [row["objective"] for row in rows] == run.history["objective"].tolist()
    assert before["objective"] == run.initial_objective
    assert before["uplink_bytes"] == run.communication["uplink_bytes"].iloc[0] > 0
    again = Records(folder, NAMES).find(record.name)
    assert again.history() == (rows, before)


def test_nothing_but_these_figures_is_told(played):
    _, record, _, _ = played
    rows, before = record.history()
    assert {name for row in rows for name in row} <= ROW
    assert set(before) == {"objective", "uplink_reals", "uplink_bytes", "downlink_bytes"}


def test_rounds_that_come_are_added(played):
    _, record, _, _ = played
    rows, _ = record.history()
    record.show({**rows[-1], "round": 6})
    assert [row["round"] for row in record.history().rows] == [1, 2, 3, 4, 5, 6]
    assert len(rows) == 5


def test_warnings_are_the_last_ones_of_the_log(tmp_path):
    record = Records(tmp_path, ("north",)).add(job({"name": "fedmgs"}), "coordinator")
    assert record.warnings() == []
    record.tell("running")
    for number in range(records.MOST_WARNINGS + 5):
        record.warn(f"round {number}: went on without north")
        record.tell("x" * 100)
    texts = [text for _, text in record.warnings()]
    assert texts[-1] == f"round {records.MOST_WARNINGS + 4}: went on without north"
    assert len(texts) == records.MOST_WARNINGS
    assert record.status(full=True)["warnings"] == record.warnings()
    assert "warnings" not in record.status(full=False)


def test_a_site_is_there_at_work_or_away(monkeypatch):
    found = Hub(1)
    assert found.presence() == ["never"]
    found.fetch(0, 0.0)
    assert found.presence() == ["there"]
    found.give(0, Key("run", 2), b"task")
    assert found.presence() == ["there"]  # it has not fetched it yet
    assert found.fetch(0, 0.0) == b"task"
    assert found.presence() == ["at work"]
    found.take(0, Key("run", 2), None)
    assert found.presence() == ["there"]
    later = time.monotonic() + hub.AWAY
    monkeypatch.setattr(time, "monotonic", lambda: later)
    assert found.presence() == ["away"]


def test_a_long_history_comes_piece_by_piece(played, monkeypatch):
    folder, record, _, _ = played
    monkeypatch.setattr(server, "MOST_ROWS", 2)
    there = Server(Kit(folder.parent, "server", "server", "test", "localhost", 1, sites=NAMES))
    there.records = Records(folder, NAMES)
    client = object.__new__(fedmf.Federation)
    client._call = lambda _, frame: there._history(None, frame)
    rows, before = there.records.find(record.name).history()
    assert client.history(record.name) == (rows, before)
    assert client.history(record.name, 4) == (rows[4:], before)


@pytest.mark.xdist_group("real")
def test_the_coordinator_sees_it(federation):
    client = federation.client
    run = client.fit(fedmf.Problem(3), fedmf.FedMGS(q1=3, q2=5), rounds=6, tol=0.0)
    rows, _ = client.history(client.status()["runs"][-1]["run"])
    assert [row["objective"] for row in rows] == run.history["objective"].tolist()
    assert set(client.status()["presence"].values()) <= {"there", "at work"}
