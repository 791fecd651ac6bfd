"""A run's folder: nothing in it is code, nothing of it is lost, and a run goes on from it."""

import json
import pickle
import tomllib
from pathlib import Path
from pkgutil import resolve_name

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from safetensors import safe_open
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as tensors

import cases
import fedmf
from fedmf.errors import FileFormatError, MissingDataError, ParameterError
from fedmf.hosts import Host
from losses_for_tests import SquaredAnyhow

FILES = {
    "config.toml",
    "resolved.toml",
    "history.parquet",
    "ledger.parquet",
    "model.safetensors",
}
LAST = 5
# Every kind of run whose state differs, alone and with a penalty that grows.
KINDS = [
    ("fedmgs m=2", None),
    ("fedmgs all", cases.growing),
    ("fedmavg pcc exact", None),
    ("fedmavg pcc lagged diminishing", None),
    ("fedmavg pcp exact", cases.growing),
    ("fedmavg pcp lagged", None),
    ("fedpalm m=3", cases.growing),
]
every_kind = pytest.mark.parametrize(("name", "penalty"), KINDS, ids=[name for name, _ in KINDS])


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "run"


def go_on(folder, sites, rounds=LAST, penalty=None):
    return fedmf.resume(fedmf.load(folder), sites, rounds=rounds, tol=0, penalty=penalty)


# ------------------------------------------------------------------ what is in the folder


def test_a_folder_holds_these_files_and_no_other(folder, sites):
    run = cases.play(sites, fedmf.FedMAvg(participants=2), 3)
    run.save(folder)
    assert {path.name for path in folder.iterdir()} == FILES
    for name in ("config.toml", "resolved.toml"):
        assert tomllib.loads((folder / name).read_text())["algorithm"]["name"] == "fedmavg"
    for name in ("history.parquet", "ledger.parquet"):
        assert pq.read_table(folder / name).num_rows > 0
    stored = load_tensors((folder / "model.safetensors").read_bytes())
    np.testing.assert_array_equal(stored["server.W"], run.W)
    np.testing.assert_array_equal(stored["private.H"], np.hstack(run.H))


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
    assert [own.tolist() for own in again.labels] == [own.tolist() for own in run.labels]


def test_feature_names_and_given_numpy_numbers_come_back(folder):
    frame = pd.DataFrame(np.random.default_rng(0).random((5, 3)), columns=["a", "ä\n", ""])
    problem = fedmf.Problem(np.int64(2), rho=np.float32(0.5), bounds=[0, 1])
    options = {"rounds": np.int64(2), "tol": np.float32(0), "seed": np.int64(3)}
    run = fedmf.fit([frame, frame], problem, fedmf.FedMGS(participants=np.int64(1)), **options)
    run.save(folder)
    assert fedmf.load(folder).features == ("a", "ä\n", "")
    assert go_on(folder, [frame, frame], 3).position.round == 3


@pytest.mark.parametrize("answer", [np.float32(0.5), np.int64(2), np.float64(0.25)])
def test_a_penalty_of_any_number_can_be_saved(answer, folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 2, penalty=lambda _: answer)
    run.save(folder)
    assert fedmf.load(folder).position.rho == float(answer)


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


# ------------------------------------------------------------------ stopped anywhere, gone on with


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
    "part", ["fedmf.fitting.row", "fedmf.runtimes.local.LocalRuntime.privates"]
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


def test_a_finished_run_has_nothing_to_go_on_with(folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 3)
    run.save(folder)
    cases.same(go_on(folder, sites, 3), run)
    cases.same(go_on(folder, sites, 2), run)


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


def test_sites_of_another_precision_are_refused(sites):
    single = [own.astype("f4") for own in sites]
    run = cases.play(single, fedmf.FedMGS(), 2)
    with pytest.raises(ParameterError, match=r"^the run is in float32, the sites are in float64$"):
        fedmf.resume(run, [own.astype("f8") for own in single], rounds=3)


# ------------------------------------------------------------------ killed while saving


class Killed(BaseException):
    """The power went off."""


@pytest.mark.parametrize("name", ["fedmgs m=2", "fedmavg pcc exact", "fedpalm m=3"])
@pytest.mark.parametrize("moment", ["fedmf.files.os.fsync", "fedmf.files.Path.replace"])
@pytest.mark.parametrize("place", range(5))
def test_killed_at_any_file_over_an_older_save(place, moment, name, folder, sites, monkeypatch):
    """Each file is complete under a temporary name, and then the power goes."""
    algorithm = cases.RUNS[name]
    whole = cases.play(sites, algorithm, LAST)
    cases.play(sites, algorithm, 2).save(folder)
    left, real = iter(range(place, -1, -1)), resolve_name(moment)

    def die(*args):
        if next(left) == 0:
            raise Killed
        return real(*args)

    monkeypatch.setattr(moment, die)
    newer = cases.play(sites, algorithm, 4)
    with pytest.raises(Killed):
        newer.save(folder)
    monkeypatch.undo()
    found = fedmf.load(folder)
    kept = 2 if place == 0 else 4  # the model is the first file, and the whole run
    assert found.position.round == len(found.rows) == kept
    assert found.ledger.frame()["round"].max() == kept
    cases.same(fedmf.resume(found, sites, rounds=LAST, tol=0), whole)


@pytest.mark.parametrize("place", range(5))
def test_killed_while_another_run_is_saved_over_one(place, folder, sites, monkeypatch):
    """A new run into an old run's folder: what loads is one of the two, never half of each."""
    old = cases.play(sites, fedmf.FedMGS(q1=2), 4)
    old.save(folder)
    left, real = iter(range(place, -1, -1)), resolve_name("fedmf.files.os.fsync")

    def die(*args):
        if next(left) == 0:
            raise Killed
        return real(*args)

    monkeypatch.setattr("fedmf.files.os.fsync", die)
    new = cases.play(sites, fedmf.FedMGS(q1=3), 3)
    with pytest.raises(Killed):
        new.save(folder)
    monkeypatch.undo()
    found, wanted = fedmf.load(folder), old if place == 0 else new
    assert found.algorithm == wanted.algorithm
    cases.same(found, wanted)


def test_half_a_temporary_file_does_no_harm(folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 2)
    run.save(folder)
    half = (folder / "model.safetensors").read_bytes()[:100]
    (folder / ".123-456-model.safetensors").write_bytes(half)
    cases.same(fedmf.load(folder), run)


def test_killed_at_the_first_save_there_is_no_run(folder, sites, monkeypatch):
    def fsync(number):
        raise Killed

    monkeypatch.setattr("fedmf.files.os.fsync", fsync)
    with pytest.raises(Killed):
        cases.play(sites, fedmf.FedMGS(), 2).save(folder)
    assert not list(folder.iterdir())
    with pytest.raises(MissingDataError, match=r"is missing: is .* the folder of a run"):
        fedmf.load(folder)


def test_an_error_in_the_middle_of_a_run_leaves_its_checkpoint(folder, sites):
    def fail(position):
        if position.round == 3:
            raise ZeroDivisionError

    options = {"checkpoint": folder, "checkpoint_seconds": 0.0}
    with pytest.raises(ZeroDivisionError):
        cases.play(sites, fedmf.FedMGS(participants=2), LAST, callback=fail, **options)
    found = fedmf.load(folder)
    assert found.position.round == 3
    assert found.status == "saved in round 3 while it was running; resume goes on"
    whole = cases.play(sites, fedmf.FedMGS(participants=2), LAST)
    cases.same(fedmf.resume(found, sites, rounds=LAST, tol=0), whole)


def test_a_checkpoint_is_written_at_the_end(folder, sites):
    run = cases.play(sites, fedmf.FedMGS(), 2, checkpoint=folder)
    cases.same(fedmf.load(folder), run)
    assert fedmf.load(folder).status == run.status == "stopped at the limit of 2 rounds"


# ------------------------------------------------------------------ folders that are no runs


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "run"
    cases.play(cases.federation()[0], fedmf.FedMGS(participants=2), 2).save(folder)
    return folder


@pytest.fixture
def broken(saved, folder):
    """Return a function that loads the run with one file's content replaced; None: without it."""

    def attempt(name, content):
        folder.mkdir()
        for path in saved.iterdir():
            (folder / path.name).write_bytes(path.read_bytes())
        if content is None:
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(content)
        return fedmf.load(folder)

    return attempt


MODEL = "model.safetensors"


@pytest.mark.parametrize("name", sorted(FILES - {MODEL}))
def test_the_other_files_are_not_needed_to_load(name, broken, saved):
    cases.same(broken(name, b"no such file"), fedmf.load(saved))


def test_a_missing_model_is_named(broken):
    with pytest.raises(MissingDataError, match=f"{MODEL} is missing: is .*run the folder of a run"):
        broken(MODEL, None)


@pytest.mark.parametrize("content", [b"", b"\xff\xfejunk" * 100, b"\x80\x04N."])
def test_a_broken_model_is_named(content, broken):
    with pytest.raises(FileFormatError, match=f"{MODEL} is damaged or not of a run") as refused:
        broken(MODEL, content)
    assert "\n" not in str(refused.value)


def test_half_a_model_is_named(broken, saved):
    content = (saved / MODEL).read_bytes()
    with pytest.raises(FileFormatError, match=f"{MODEL} is damaged or not of a run"):
        broken(MODEL, content[: len(content) // 2])


def model(metadata):
    return tensors({"a": np.zeros(3)}, metadata=metadata)


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (tensors({"a": np.zeros(3)}), "model.safetensors is damaged or not of a run"),
        (model({"other": "1"}), "model.safetensors is damaged or not of a run"),
        (model({"fedmf": "{}"}), "model.safetensors is damaged or not of a run"),
        (model({"fedmf": "[]"}), "model.safetensors is damaged or not of a run"),
        (model({"fedmf": "{"}), "model.safetensors is damaged or not of a run"),
        (model({"fedmf": '{"format": 99}'}), "has the format 99; this reads 2$"),
        (model({"fedmf": '{"format": 2}'}), "model.safetensors is damaged .*algorithm"),
    ],
)
def test_a_foreign_model_is_named(content, what, broken):
    with pytest.raises(FileFormatError, match=what):
        broken("model.safetensors", content)


@pytest.mark.parametrize(
    ("changed", "what"),
    [
        ({"problem": 3}, "model.safetensors is damaged"),
        ({"problem": {}}, "model.safetensors is damaged .*rank"),
        ({"algorithm": {"name": "fedx"}}, "^algorithm must be one of"),
        ({"problem": {"rank": "x"}}, "^rank must be an int"),
        ({"algorithm": {"name": "fedmavg"}}, "model.safetensors is damaged"),
        ({"position": {}}, "model.safetensors is damaged"),
    ],
)
def test_settings_that_do_not_fit_are_named(changed, what, broken, saved):
    with safe_open(saved / MODEL, framework="numpy") as file:
        state = json.loads(file.metadata()["fedmf"])
        held = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    content = tensors(held, metadata={"fedmf": json.dumps({**state, **changed})})
    with pytest.raises(fedmf.FedMFError, match=what) as refused:
        broken(MODEL, content)
    assert "\n" not in str(refused.value)


def test_a_table_of_something_else_is_named(broken, saved):
    with safe_open(saved / MODEL, framework="numpy") as file:
        metadata = file.metadata()
        held = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    held["table.ledger"] = np.frombuffer(pd.DataFrame({"a": [1]}).to_parquet(None), np.uint8)
    with pytest.raises(FileFormatError, match=f"{MODEL} is damaged or not of a run"):
        broken(MODEL, tensors(held, metadata=metadata))


def test_a_file_where_the_folder_should_be(tmp_path, sites):
    (tmp_path / "run").write_text("something else")
    with pytest.raises(ParameterError, match=r"run is a file: a run needs a folder$"):
        cases.play(sites, fedmf.FedMGS(), 1).save(tmp_path / "run")


def test_a_folder_that_is_not_there(tmp_path):
    for place in (tmp_path / "nothing", tmp_path, Path(__file__)):
        with pytest.raises(MissingDataError, match=r"is missing: is .* the folder of a run"):
            fedmf.load(place)


def test_the_models_metadata_is_plain_json(saved):
    with safe_open(saved / "model.safetensors", framework="numpy") as file:
        state = json.loads(file.metadata()["fedmf"])
    assert state["format"] == 2
    assert state["position"]["round"] == 2
