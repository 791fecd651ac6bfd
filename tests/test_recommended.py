"""What is recommended for clusters: one place, and everybody who clusters asks there."""

import tomllib

import numpy as np
import pytest
from click.testing import CliRunner

import fedmf
from fedmf import recommended
from fedmf.cli import main
from fedmf.config import penalty_table, wanted_penalty
from fedmf.recommended import Recommended

SITES = list(np.random.default_rng(0).random((3, 12, 5)))


def play(penalty, **settings):
    algorithm = settings.pop("algorithm", fedmf.FedMGS())
    return fedmf.fit(SITES, fedmf.Problem(3), algorithm, rounds=2, penalty=penalty, **settings)


@pytest.mark.parametrize(
    ("init", "rho"), [("linkage", 1e-4), (None, 1e-8), ("random", 1e-8), ("run", 1e-4)]
)
def test_the_penalty_begins_by_the_start(init, rho):
    if init == "run":
        init = play(None)
    run = play(Recommended(), init=init)
    assert run.penalty == fedmf.SNCP(start=rho)
    assert run.history.rho[0] == rho


def test_a_start_that_fell_back_to_random_counts_as_random():
    few = [own[:2] for own in SITES]
    with pytest.warns(UserWarning, match="no site could send a group"):
        run = fedmf.fit(few, fedmf.Problem(2), fedmf.FedMGS(), 1, init="linkage",
                        penalty=Recommended())  # fmt: skip
    assert run.penalty.start == 1e-8


def test_what_is_said_wins():
    assert play(Recommended({"start": 1e-3}), init="linkage").penalty == fedmf.SNCP(start=1e-3)
    assert play(Recommended({"patience": 7}), init="linkage").penalty.patience == 7
    assert play(Recommended({"cap": 1e-6}), init="linkage").penalty.start == 1e-6
    with pytest.raises(fedmf.FedMFError, match="penalty 'sncp' has no setting 'begin'; it has sta"):
        Recommended({"begin": 1})
    with pytest.raises(fedmf.FedMFError, match="patience must be an integer of at least 1, got 0"):
        Recommended({"patience": 0})


def test_as_a_table_and_back():
    assert wanted_penalty({}) == Recommended()
    assert wanted_penalty({"name": "sncp", "patience": 3}) == Recommended({"patience": 3})
    assert wanted_penalty({"start": 1e-3}) == fedmf.SNCP(start=1e-3)
    assert wanted_penalty(penalty_table(Recommended({"patience": 3}))) == Recommended(
        {"patience": 3}
    )
    with pytest.raises(fedmf.FedMFError, match="penalty must be one of 'sncp'; got 'other'"):
        wanted_penalty({"name": "other"})


def test_it_is_no_schedule_by_itself():
    with pytest.raises(fedmf.FedMFError, match="for fit, which knows how the run begins"):
        Recommended()([])


def test_clusters_are_no_more_than_samples():
    with pytest.raises(fedmf.FedMFError, match="rank must be at most the number of samples, 4, w"):
        fedmf.fit([np.eye(4)], fedmf.Problem(5), fedmf.FedMGS(), 1, penalty=fedmf.SNCP())
    assert fedmf.fit([np.eye(4)], fedmf.Problem(5), fedmf.FedMGS(), 1).W.shape == (4, 5)


def test_estimator_command_and_job_have_the_same_defaults(tmp_path):
    from fedmf.network.jobs import Job

    wanted = {"init": recommended.INIT, "rounds": recommended.ROUNDS, "tol": recommended.TOL}
    model = fedmf.FederatedClustering(3)
    assert {"init": model.init, "rounds": model.max_iter, "tol": model.tol} == wanted
    data = tmp_path / "x.npy"
    np.save(data, np.concatenate(SITES))
    line = ["fit", str(data), "--rank", "3", "--cluster", "--out", str(tmp_path / "run")]
    assert CliRunner().invoke(main, line, catch_exceptions=False).exit_code == 0
    config = tomllib.loads((tmp_path / "run" / "config.toml").read_text())
    assert {name: config["run"][name] for name in wanted} == wanted
    assert config["penalty"]["start"] == recommended.RHO
    job = Job.of({"problem": {"rank": 3}, "run": {"cluster": True}})
    assert {name: job.run[name] for name in wanted} == wanted
    assert job.the_penalty == Recommended()
    alike = model.set_params(random_state=0).fit(np.concatenate(SITES))
    np.testing.assert_array_equal(fedmf.load(tmp_path / "run").W, alike.run_.W)


def test_without_clusters_a_command_begins_at_random(tmp_path):
    from fedmf.cli._settings import Settings

    plain, asked = Settings(), Settings(run={"cluster": True, "init": "random", "rounds": 7})
    assert (plain.run["init"], plain.run["rounds"], plain.make_penalty()) == (None, 500, None)
    assert (asked.run["init"], asked.run["rounds"]) == ("random", 7)
    begun = Settings(run={"cluster": True}, problem={"rank": 3, "rho": 1e-6})
    assert begun.make_penalty() == fedmf.SNCP(start=1e-6)
