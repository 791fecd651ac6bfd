"""A server whose disk is full, whose files are damaged, or which has a defect: no run is lost."""

import json

import pytest

from fedmf.network import server
from fedmf.network.checkpoints import Checkpoints
from fedmf.network.records import Records
from network.real import until
from network.rig import job
from network.wired import JOB, listening


@pytest.fixture
def wired(tmp_path):
    with listening(tmp_path / "kits") as found:
        yield found


def test_a_full_disk_at_the_server_is_waited_for(wired, monkeypatch, caplog):
    monkeypatch.setattr(server, "AGAIN", 0.05)
    save, full = Checkpoints.save, iter([False, True, True])

    def fail(self, run, marks):
        if next(full, False):
            raise OSError(28, "No space left on device")
        save(self, run, marks)

    monkeypatch.setattr(Checkpoints, "save", fail)
    with wired.at_work():
        found = wired.fit(run={"rounds": 4, "tol": 0.0})
    assert found["state"] == "done"
    assert [row["round"] for row in wired.client.history(found["run"])[0]] == [1, 2, 3, 4]
    assert caplog.text.count("No space left on device; trying again") == 2


def test_a_log_that_cannot_be_written_ends_no_run(tmp_path, caplog):
    record = Records(tmp_path, ("north",)).add(job({"name": "fedmgs"}), "coordinator")
    (tmp_path / record.name / "log.txt").mkdir()
    record.tell("something happened")
    assert "something happened (not in its log" in caplog.text


def test_a_defect_in_a_run_is_its_end_and_no_other_runs(wired, monkeypatch):
    real, count = server.play, iter([True])

    def fail(*given):
        if next(count, False):
            raise ZeroDivisionError
        return real(*given)

    monkeypatch.setattr(server, "play", fail)
    with wired.at_work():
        assert wired.fit()["status"] == "a defect of fedmf: see the server's log"
        assert wired.fit()["state"] == "done"


def test_a_server_that_cannot_play_any_more_ends_for_its_supervisor(wired, monkeypatch):
    ended = []
    wired.server._broken = lambda: ended.append(True)

    class DefectError(BaseException):
        pass

    def fail(*_):
        raise DefectError

    monkeypatch.setattr(server, "play", fail)
    wired.client.submit(JOB)
    until(lambda: ended)
    assert wired.server.is_broken


def test_a_run_that_cannot_be_read_is_left_out(tmp_path, caplog):
    for _ in range(3):
        Records(tmp_path, ("north",)).add(job({"name": "fedmgs"}), "coordinator")
    first, second, third = sorted(tmp_path.iterdir())
    (first / "status.json").write_text('{"state": "que')
    (second / "job.json").write_text(json.dumps({"problem": {"rank": "many"}}))
    assert [record.name for record in Records(tmp_path, ("north",)).all()] == [third.name]
    assert caplog.text.count("is left out, it cannot be read") == 2
