"""A run's folder: nothing in it is code, and nothing of the run is lost."""

import pickle
import tomllib

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from safetensors.numpy import load as load_tensors

import cases
import fedmf
from fedmf.errors import ParameterError
from losses.squared_anyhow import SquaredAnyhow

every_kind = pytest.mark.parametrize(("name", "penalty"), cases.STATES.items(), ids=cases.STATES)


def test_a_folder_holds_these_files_and_no_other(folder, sites):
    run = cases.play(sites, fedmf.FedMAvg(participants=2), 3)
    run.save(folder)
    assert {path.name for path in folder.iterdir()} == {
        *("config.toml", "resolved.toml"),
        *("history.parquet", "ledger.parquet", "model.safetensors"),
    }
    for name in ("config.toml", "resolved.toml"):
        assert tomllib.loads((folder / name).read_text())["algorithm"]["name"] == "fedmavg"
    for name in ("history.parquet", "ledger.parquet"):
        assert pq.read_table(folder / name).num_rows > 0
    stored = load_tensors((folder / "model.safetensors").read_bytes())
    np.testing.assert_array_equal(stored["server.W"], run.W)
    np.testing.assert_array_equal(stored["private.H"], np.hstack(run.H))


def test_a_run_is_shown_in_a_line_and_no_sample_with_it(sites):
    run = cases.play(sites, fedmf.FedMGS(participants=2), 3)
    shown = repr(run)
    assert shown.startswith("<Run: fedmgs, N = ")
    assert shown.endswith(f"after round 3; {run.status}>")
    assert "array" not in shown
    assert "\n" not in shown


def test_loading_unpickles_nothing(folder, sites, monkeypatch):
    run = cases.play(sites, fedmf.FedMGS(participants=2), 3)
    run.save(folder)

    def refuse(*args, **kwargs):
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler", "_Unpickler", "_load", "_loads"):
        monkeypatch.setattr(pickle, name, refuse)
    monkeypatch.setattr(np, "load", refuse)
    monkeypatch.setattr(pd, "read_pickle", refuse)
    cases.same(fedmf.load(folder), run)


def test_the_history_is_a_table_that_others_can_read(folder, sites):
    run = cases.play(sites, fedmf.FedMAvg(participants=3), 3)
    run.save(folder)
    history = pd.read_parquet(folder / "history.parquet")
    assert list(history) == list(run.history)
    assert [each.tolist() for each in history["participants"]] == list(run.history["participants"])


def test_the_resolved_configuration_says_what_was_filled_in(folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 2, seed=None)
    run.save(folder)
    resolved = tomllib.loads((folder / "resolved.toml").read_text())
    assert resolved["seed"] == run.seed
    assert resolved["absolute_weights"]["rho"] == run.goal.rho
    assert resolved["data"]["samples"] == 16
    assert {"fedmf", "numpy", "python"} <= set(resolved["versions"])
    assert resolved["outcome"] == {
        "status": run.status,
        "round": 2,
        "objective": run.position.objective,
    }


# ------------------------------------------------------------------ there and back


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@every_kind
def test_a_loaded_run_is_the_one_that_was_saved(name, penalty, kind, folder, sites):
    sites = [own.astype(kind) for own in sites]
    run = cases.play(sites, cases.RUNS[name], 3, penalty=penalty)
    run.save(folder)
    again = fedmf.load(folder)
    cases.same(again, run)
    assert again.history.equals(run.history)
    assert (again.problem, again.algorithm) == (run.problem, run.algorithm)
    assert (again.goal.known, again.goal.rho) == (run.goal.known, run.goal.rho)
    assert (again.seed, again.status, again.converged) == (run.seed, run.status, run.converged)
    assert (again.settings, again.initial_objective) == (run.settings, run.initial_objective)
    np.testing.assert_array_equal(again.fingerprints, run.fingerprints)
    assert [own.tolist() for own in again.labels] == [own.tolist() for own in run.labels]


def test_a_run_that_converged_still_has_when_it_is_loaded(folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 200, tol=1e-3)
    assert run.converged
    run.save(folder)
    again = fedmf.load(folder)
    assert (again.converged, again.status) == (run.converged, run.status)


def test_feature_names_and_given_numpy_numbers_come_back(folder):
    frame = pd.DataFrame(np.random.default_rng(0).random((5, 3)), columns=["a", "ä\n", ""])
    problem = fedmf.Problem(np.int64(2), rho=np.float32(0.5), bounds=[0, 1])
    options = {"rounds": np.int64(2), "tol": np.float32(0), "seed": np.int64(3)}
    run = fedmf.fit([frame, frame], problem, fedmf.FedMGS(participants=np.int64(1)), **options)
    run.save(folder)
    assert fedmf.load(folder).features == ("a", "ä\n", "")
    again = fedmf.resume(fedmf.load(folder), [frame, frame], rounds=3, tol=0)
    assert again.position.round == 3


@pytest.mark.parametrize("answer", [np.float32(0.5), np.int64(2), np.float64(0.25)])
def test_a_penalty_of_any_number_can_be_saved(answer, folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 2, penalty=lambda _: answer)
    run.save(folder)
    assert fedmf.load(folder).position.rho == float(answer)


def test_a_growing_penalty_is_a_table_of_the_settings(folder, sites):
    penalty = fedmf.SNCP(start=np.float32(0.5), patience=np.int64(7))
    cases.play(sites, fedmf.FedMGS(), 2, penalty=penalty).save(folder)
    wanted = {"name": "sncp", "start": 0.5, "factor": 1.5, "patience": 7, "cap": 1.0}
    for name in ("config.toml", "resolved.toml"):
        assert tomllib.loads((folder / name).read_text())["penalty"] == wanted
    assert fedmf.load(folder).penalty == penalty


def test_without_a_penalty_there_is_no_table(folder, sites):
    cases.play(sites, fedmf.FedMGS(), 2).save(folder)
    assert "penalty" not in tomllib.loads((folder / "config.toml").read_text())
    assert fedmf.load(folder).penalty is None


def test_a_penalty_of_the_users_own_is_named_and_passed_again(folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 2, penalty=cases.growing)
    for _ in range(2):  # the text is kept where a loaded run is saved
        run.save(folder)
        run = fedmf.load(folder)
        assert tomllib.loads((folder / "config.toml").read_text())["penalty"] == {
            "name": "own:growing"
        }
    with pytest.raises(
        ParameterError,
        match=r"^the run was made with a schedule of your own .own:growing.: pass penalty again",
    ):
        fedmf.resume(run, sites, rounds=4)
    whole = cases.play(sites, fedmf.FedMGS(), 4, penalty=cases.growing)
    cases.same(fedmf.resume(run, sites, rounds=4, tol=0, penalty=cases.growing), whole)


def test_what_no_file_can_hold_is_passed_again(folder, sites):
    problem = fedmf.Problem(3, loss=SquaredAnyhow())
    algorithm = fedmf.FedMAvg(q2=lambda number: number)
    run = cases.play(sites, algorithm, 2, problem)
    run.save(folder)
    with pytest.raises(ParameterError, match=r"loss must be one of|schedule of your own"):
        fedmf.load(folder)
    again = fedmf.load(folder, problem=problem, algorithm=algorithm)
    whole = cases.play(sites, algorithm, 4, problem)
    cases.same(fedmf.resume(again, sites, rounds=4, tol=0), whole)
