"""Runs in other tools: the figures there are those of the history, and a tool ends no run."""

import sys
import warnings

import numpy as np
import pytest
from click.testing import CliRunner

import cases
import fedmf
from fedmf import tracking
from fedmf.cli import main
from fedmf.tracking.base import Following, figures, flat
from tracking.told import Notes, near, scalars, tensorboard

__all__ = ["tensorboard"]  # a fixture

PROBLEM, MGS = fedmf.Problem(3, rho=1e-3), fedmf.FedMGS(q1=2, q2=3)
SENT = ("uplink_reals", "uplink_bytes", "downlink_bytes")


class Full(Notes):
    """A place that is full after two rounds."""

    def _log(self, number, figures):
        if number > 2:
            raise OSError(28, "No space left on device")
        super()._log(number, figures)


def fitted(tracker, rounds=5, **options):
    return fedmf.fit(cases.federation()[0], PROBLEM, MGS, rounds, 0.0, callback=tracker, **options)


def test_every_round_of_a_run_is_told():
    with Notes("").begin("first", {"problem": {"rank": 3, "rho": None}, "seed": 0}) as tracker:
        run = fitted(tracker)
    assert (tracker.name, tracker.settings) == ("first", {"problem.rank": "3", "seed": "0"})
    assert [number for number, _ in tracker.told] == [1, 2, 3, 4, 5]
    for name in ("objective", "change", "rho", "seconds", *SENT):
        assert [told[name] for _, told in tracker.told] == run.history[name].tolist()
    assert {told["participants"] for _, told in tracker.told} == {len(run.sizes)}
    assert tracker.status == ("ended", True)


def test_a_run_that_fails_is_told_as_such():
    def broken(_):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError), Notes("").begin() as tracker:
        broken(None)
    assert tracker.status == ("ended by ZeroDivisionError", False)


def test_a_place_that_is_full_ends_no_run():
    tracker = Full("")
    with pytest.warns(
        UserWarning, match="tracking with .* ended, the run goes on: .*No space left"
    ):
        run = fitted(tracker)
    assert len(run.history) == 5
    assert [number for number, _ in tracker.told] == [1, 2]
    tracker.end("too late")
    assert tracker.status is None


def test_numbers_that_are_none_and_lists():
    row = {"round": 3, "objective": 2.0, "change": np.inf, "participants": [0, 2, 2], "late": None}
    assert figures(row) == {"objective": 2.0, "participants": 3.0}
    assert flat({"a": {"b": {"c": 1}, "d": None}, "e": ""}) == {"a.b.c": 1}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("wandb:x", "track must be one of mlflow, tensorboard; got 'wandb'"),
        ("tensorboard", "track needs a place behind the colon, tensorboard:FOLDER"),
        ("mlflow:", "track needs a place behind the colon, mlflow:FOLDER"),
    ],
)
def test_a_tracker_that_there_is_not(text, said):
    with pytest.raises(fedmf.FedMFError, match=said):
        tracking.find(text)


@pytest.mark.parametrize("name", ["mlflow", "tensorboard"])
def test_a_package_that_is_not_there(name, tmp_path, monkeypatch):
    for module in ("tensorboardX", "mlflow.tracking"):
        monkeypatch.setitem(sys.modules, module, None)
    words = ["fit", "synthetic:M=8,N=40,K=3", "--rank", "3", "--out", str(tmp_path / "run")]
    found = CliRunner().invoke(main, [*words, "--track", f"{name}:{tmp_path / 'there'}"])
    assert found.exit_code == 2
    assert f'tracking with {name} needs a package: pip install "fedmf[{name}]"' in found.output
    assert list(tmp_path.iterdir()) == []


# TensorBoard


def test_tensorboard_has_the_history(tensorboard, tmp_path):
    with tracking.find(f"tensorboard:{tmp_path}").begin("first", {"rank": 3}) as tracker:
        run = fitted(tracker)
    told, texts = scalars(tmp_path / "first")
    for name in ("objective", "change", *SENT):
        near(told, run.history, name)
    assert "| rank | 3 |" in texts["settings"]


def test_the_command_tracks_a_run_and_how_it_goes_on(tensorboard, tmp_path):
    out, logs = tmp_path / "run", tmp_path / "logs"
    words = ["fit", "synthetic:M=8,N=40,K=3", "--partition", "iid", "--n-sites", "3", "--rank", "3",
             "--rounds", "4", "--tol", "0", "--out", str(out)]  # fmt: skip
    track = ["--track", f"tensorboard:{logs}"]
    for given in ([*words, *track], ["fit", "--resume", str(out), "--rounds", "7", *track]):
        found = CliRunner().invoke(main, given, catch_exceptions=False)
        assert found.exit_code == 0, found.output
    told, texts = scalars(logs / "run")
    run = fedmf.load(out)
    near(told, run.history, "objective")
    near(told, run.history, "uplink_bytes")
    assert "| run.rounds | 7 |" in texts["settings"]
    assert texts["status"] == run.status


# MLflow


@pytest.fixture
def mlflow():
    found = pytest.importorskip("mlflow.tracking", reason="needs mlflow")
    pytest.importorskip("alembic", reason="needs alembic")
    with warnings.catch_warnings():  # its own, of what it uses
        warnings.simplefilter("ignore")
        yield found


def test_mlflow_has_the_history(mlflow, tmp_path):
    runs = []
    for name in ("first", "second"):
        with tracking.find(f"mlflow:{tmp_path}").begin(name, {"rank": 3}) as tracker:
            runs.append(fitted(tracker, seed=len(runs)))
            tracker.end(runs[-1].status)
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{tmp_path}/mlflow.db")
    experiment = client.get_experiment_by_name("fedmf")
    there = {found.info.run_name: found for found in client.search_runs([experiment.experiment_id])}
    for name, run in zip(("first", "second"), runs, strict=True):
        found = there[name]
        assert found.info.status == "FINISHED"
        assert found.data.params == {"rank": "3"}
        assert found.data.tags["fedmf.status"] == run.status
        for figure in ("objective", "change", *SENT):
            told = client.get_metric_history(found.info.run_id, figure)
            assert [one.step for one in told] == run.history["round"].tolist()
            assert [one.value for one in told] == run.history[figure].tolist()


# Rows of real sites


class Told:
    """A federation whose run is at these rounds, one look after the other."""

    def __init__(self, *rounds):
        self.rounds, self.asked = list(rounds), []

    def history(self, run, start=0):
        self.asked.append(start)
        return [{"round": number} for number in range(start + 1, self.rounds.pop(0) + 1)], {}


def test_rows_of_a_federation_come_once(tmp_path):
    source, tracker = Told(2, 5, 6), Notes("")
    follow = Following(source, "run-1", tracker)
    for state, number in (("queued", 0), ("running", 2), ("running", 2), ("running", 4)):
        last = {"round": number} if number else {}
        follow({"state": state, "last": last, "status": "", "job": {"run": {"seed": 3}}})
    follow({"state": "failed", "last": {"round": 5}, "status": "site east: refused", "job": {}})
    assert (tracker.name, tracker.settings) == ("run-1", {"run.seed": "3"})
    assert [number for number, _ in tracker.told] == [1, 2, 3, 4, 5, 6]
    assert source.asked == [0, 2, 5]
    assert tracker.status == ("site east: refused", False)
