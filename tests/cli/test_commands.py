"""Each command as a user calls it: what it prints, which files it leaves, its exit status."""

import subprocess
import sys
import tomllib

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import fedmf
from fedmf.cli import main
from fedmf.fitting import fit as real_fit

SMALL = "synthetic:M=12,N=60,K=3"


def call(*args, status=0):
    result = CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result


@pytest.fixture
def csv(tmp_path):
    """Thirty samples at three sites, with classes."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(random.uniform(size=(30, 5)), columns=list("abcde"))
    frame["hospital"] = np.repeat(["north", "east", "south"], [14, 15, 1])
    frame["kind"] = np.arange(30) % 3
    path = tmp_path / "samples.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture(autouse=True)
def no_pages(request, monkeypatch):
    """Leave out the pages, which take most of the time, unless the test is about them."""
    if "pages" not in request.fixturenames:
        monkeypatch.setattr("fedmf.report.write_page", lambda _, target: target)


@pytest.fixture
def pages():
    """Ask for the pages."""


def fit_csv(csv, out, *more):
    base = ("fit", csv, "--sites", "hospital", "--labels", "kind", "--rank", 3, "--rounds", 6)
    return call(*base, "--out", out, *more)


def test_fit_saves_the_run_of_the_library(csv, tmp_path):
    fit_csv(csv, tmp_path / "run")
    run = fedmf.load(tmp_path / "run")
    frame = pd.read_csv(csv)
    X = frame[list("abcde")].to_numpy()
    # Sites are in the sorted order of their names.
    sites = [X[frame["hospital"] == name] for name in ("east", "north", "south")]
    same = fedmf.fit(sites, fedmf.Problem(rank=3), fedmf.FedMGS(), rounds=6)
    np.testing.assert_allclose(run.W, same.W, rtol=1e-9)
    assert run.sizes.tolist() == [15, 14, 1]


def test_fit_writes_a_report_and_says_where_things_are(csv, tmp_path, pages):
    output = fit_csv(csv, tmp_path / "run").stdout
    assert (tmp_path / "run" / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert "30 samples at 3 sites, 5 features, rank 3" in output
    assert str(tmp_path / "run" / "report.html") in output


def test_clusters_are_written_in_the_order_of_the_data(csv, tmp_path):
    output = fit_csv(csv, tmp_path / "run", "--cluster").stdout
    table = pd.read_csv(tmp_path / "run" / "clusters.csv")
    assert table["site"].tolist() == pd.read_csv(csv)["hospital"].tolist()
    run = fedmf.load(tmp_path / "run")
    north = table.loc[table["site"] == "north", "cluster"].tolist()
    assert north == run.labels[1].tolist()
    assert "against the labels" in output


def test_the_options_reach_the_problem_and_the_algorithm(csv, tmp_path):
    options = "--algorithm fedmavg --q1 3 --q2 diminishing:4 --participants 2 --participation pcp"
    steps = "--common-step lagged --gamma-h 1.5 --divisor 3"
    more = "--rho 1e-3 --nu 1e-4 --mu 0.5 --bounds 0:2 --seed 7"
    fit_csv(csv, tmp_path / "run", *f"{options} {steps} {more}".split())
    run = fedmf.load(tmp_path / "run")
    assert run.algorithm == fedmf.FedMAvg(
        q1=3,
        q2=fedmf.Diminishing(4),
        participants=2,
        participation="pcp",
        common_step="lagged",
        gamma_h=1.5,
        divisor=3.0,
    )
    assert run.problem == fedmf.Problem(rank=3, rho=1e-3, nu=1e-4, mu=0.5, bounds=(0.0, 2.0))
    assert run.seed == 7


@pytest.mark.parametrize("algorithm", ["fedmgs", "fedmavg"])
def test_a_runs_config_repeats_it_bit_for_bit(csv, tmp_path, algorithm):
    fit_csv(csv, tmp_path / "run", "--algorithm", algorithm, "--participants", 2, "--cluster")
    call("fit", "--config", tmp_path / "run" / "config.toml", "--out", tmp_path / "again")
    first, second = fedmf.load(tmp_path / "run"), fedmf.load(tmp_path / "again")
    np.testing.assert_array_equal(first.W, second.W)
    np.testing.assert_array_equal(np.hstack(first.H), np.hstack(second.H))
    configs = [tomllib.loads((tmp_path / n / "config.toml").read_text()) for n in ("run", "again")]
    assert configs[0] == configs[1]
    assert set(configs[0]) == {"problem", "algorithm", "run", "data", "penalty"}


def test_options_win_over_the_file(csv, tmp_path):
    config = tmp_path / "settings.toml"
    config.write_text('[problem]\nrank = 4\n[algorithm]\nname = "fedmgs"\nq2 = 7\n[run]\nrounds=9')
    call("fit", csv, "--sites", "hospital", "--labels", "kind", "--config", config, "--rank", 2,
         "--out", tmp_path / "run")  # fmt: skip
    run = fedmf.load(tmp_path / "run")
    assert (run.goal.rank, run.algorithm.q2, run.position.round) == (2, 7, 9)


def test_another_algorithm_than_the_files_has_its_own_defaults(csv, tmp_path):
    config = tmp_path / "settings.toml"
    config.write_text('[algorithm]\nname = "fedmgs"\nq2 = 7\ngamma_w = 1.5')
    fit_csv(csv, tmp_path / "run", "--config", config, "--algorithm", "fedmavg")
    assert fedmf.load(tmp_path / "run").algorithm == fedmf.FedMAvg()


def test_resume_gives_the_rounds_of_an_uninterrupted_run(csv, tmp_path):
    fit_csv(csv, tmp_path / "run", "--participants", 2, "--cluster")
    fit_csv(csv, tmp_path / "whole", "--participants", 2, "--cluster", "--rounds", 13)
    call("fit", "--resume", tmp_path / "run", "--rounds", 13)
    resumed, whole = fedmf.load(tmp_path / "run"), fedmf.load(tmp_path / "whole")
    np.testing.assert_array_equal(resumed.W, whole.W)
    assert resumed.history.drop(columns="seconds").equals(whole.history.drop(columns="seconds"))
    config = tomllib.loads((tmp_path / "run" / "config.toml").read_text())
    assert config["run"]["rounds"] == 13


def test_a_penalty_of_the_config_is_used_kept_and_gone_on_with(csv, tmp_path):
    """A table alone means clusters; --no-cluster overrules it."""
    config = tmp_path / "settings.toml"
    config.write_text("[penalty]\nstart = 1e-3\npatience = 2")
    fit_csv(csv, tmp_path / "run", "--config", config)
    assert fedmf.load(tmp_path / "run").penalty == fedmf.SNCP(start=1e-3, patience=2)
    assert (tmp_path / "run" / "clusters.csv").exists()
    call("fit", "--resume", tmp_path / "run", "--rounds", 9)
    fit_csv(csv, tmp_path / "whole", "--config", config, "--rounds", 9)
    resumed, whole = fedmf.load(tmp_path / "run"), fedmf.load(tmp_path / "whole")
    assert resumed.history["rho"].nunique() == 5
    np.testing.assert_array_equal(resumed.W, whole.W)
    fit_csv(csv, tmp_path / "plain", "--config", config, "--no-cluster")
    assert fedmf.load(tmp_path / "plain").penalty is None


def test_a_run_of_python_is_gone_on_with_under_its_penalty(csv, tmp_path):
    X = pd.read_csv(csv)[list("abcde")].to_numpy()
    settings = {"problem": fedmf.Problem(rank=3), "algorithm": fedmf.FedMGS(), "tol": 0}
    penalty = fedmf.SNCP(start=1e-3, patience=2)
    fedmf.fit([X], **settings, rounds=3, penalty=penalty).save(tmp_path / "run")
    data = tmp_path / "x.npy"
    np.save(data, X)
    call("fit", data, "--resume", tmp_path / "run", "--rounds", 6, "--tol", 0)
    whole = fedmf.fit([X], **settings, rounds=6, penalty=penalty)
    np.testing.assert_array_equal(fedmf.load(tmp_path / "run").W, whole.W)
    assert (tmp_path / "run" / "clusters.csv").exists()


def test_ctrl_c_saves_the_run_and_says_how_to_go_on(csv, tmp_path, monkeypatch):
    def interrupted(*args, callback, **how):
        def stop_in_round_4(position):
            callback(position)
            if position.round == 4:
                raise KeyboardInterrupt

        return real_fit(*args, callback=stop_in_round_4, **how)

    run = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("fedmf.fitting.fit", interrupted)
        result = call("fit", csv, "--sites", "hospital", "--labels", "kind", "--rank", 3,
                      "--out", run, status=130)  # fmt: skip
    assert f"stopped by the user after round 4; go on with: fedmf fit --resume {run}" in (
        result.stderr
    )
    call("fit", "--resume", run, "--rounds", 6)
    fit_csv(csv, tmp_path / "whole")
    np.testing.assert_array_equal(fedmf.load(run).W, fedmf.load(tmp_path / "whole").W)


def test_overwrite_replaces_a_run(csv, tmp_path):
    fit_csv(csv, tmp_path / "run", "--cluster")
    fit_csv(csv, tmp_path / "run", "--overwrite", "--seed", 5)
    assert fedmf.load(tmp_path / "run").seed == 5
    assert not (tmp_path / "run" / "clusters.csv").exists()


def test_without_sites_all_samples_are_one_site(tmp_path):
    result = call("fit", SMALL, "--rank", 3, "--rounds", 3, "--out", tmp_path / "run")
    assert "all samples are one site" in result.stderr
    assert len(fedmf.load(tmp_path / "run").sizes) == 1


@pytest.mark.parametrize("ending", [".npy", ".npz", ".parquet"])
def test_fit_reads_the_formats(tmp_path, ending):
    X = np.random.default_rng(1).uniform(size=(20, 4))
    path = tmp_path / f"data{ending}"
    if ending == ".npy":
        np.save(path, X)
    elif ending == ".npz":
        np.savez(path, X=X)
    else:
        pd.DataFrame(X, columns=list("abcd")).to_parquet(path)
    base = ("fit", path, "--rank", 2, "--rounds", 2, "--partition", "iid", "--n-sites", 4)
    call(*base, "--out", tmp_path / "run")
    assert fedmf.load(tmp_path / "run").sizes.tolist() == [5, 5, 5, 5]


def test_the_progress_is_written_line_by_line_where_there_is_no_terminal(tmp_path, monkeypatch):
    monkeypatch.setattr("fedmf.cli._show.LINES", 0.0)
    result = call("fit", SMALL, "--rank", 3, "--rounds", 3, "--out", tmp_path / "run")
    assert "fedmgs: round 2 of 3  F " in result.stderr


def test_report_of_one_run_lies_in_it_and_of_several_where_one_says(csv, tmp_path, pages):
    for name in ("one", "two"):
        fit_csv(csv, tmp_path / name, "--algorithm", "fedmgs" if name == "one" else "fedmavg")
    (tmp_path / "one" / "report.html").unlink()
    call("report", tmp_path / "one")
    assert "FedMGS, all sites" in (tmp_path / "one" / "report.html").read_text()
    call("report", tmp_path / "one", tmp_path / "two", "--out", tmp_path / "both.html")
    page = (tmp_path / "both.html").read_text()
    assert "FedMGS, all sites" in page
    assert "FedMAvg, all sites" in page


def test_demo(tmp_path, pages):
    result = call("demo", "--rounds", 3, "--samples", 300, "--out", tmp_path)
    for name in ("FedMGS, all sites", "FedMGS, m = 10", "FedMAvg, m = 10", "k-means++"):
        assert name in result.stdout
    for name in ("progress.svg", "progress.png", "report.html", "fedmgs-10/model.safetensors"):
        assert (tmp_path / name).stat().st_size > 0


def test_demo_replaces_an_earlier_one(tmp_path):
    for rounds in (3, 2):
        call("demo", "--rounds", rounds, "--samples", 200, "--out", tmp_path)
        assert fedmf.load(tmp_path / "fedmavg-all").position.round == rounds


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["fit"],
        ["demo"],
        ["report"],
        ["data"],
        ["data", "list"],
        ["data", "describe"],
        ["data", "prepare"],
    ],
)
def test_every_command_has_help_with_an_example(words):
    output = call(*words, "--help").output
    assert "fedmf " + " ".join(words) in output
    assert "xample" in output or not words


def test_python_m_fedmf_is_fedmf():
    command = [sys.executable, "-m", "fedmf", "--help"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("Usage: fedmf ")
    for name in ("data", "demo", "fit", "report"):
        assert f"\n  {name} " in done.stdout


def test_help_imports_nothing_slow():
    code = "import sys, fedmf.cli as c; c.main(['fit', '--help'], standalone_mode=False);"
    code += "print(sorted({'numpy', 'pandas', 'rich', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
