"""`fedmf reproduce` as a user calls it: quick runs of a real figure, and made-up ones."""

import signal
import subprocess
import sys
import time
from shutil import copytree

import pandas as pd
import pytest
from click.testing import CliRunner

from fedmf.cli import main
from fedmf.paper import read
from fedmf.trials import Store
from paper import made

UNFINISHED, MISTAKE, INTERRUPTED = 75, 2, 130


def call(*args, status=0):
    result = CliRunner().invoke(main, ["reproduce", *map(str, args)], catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """Quick runs of a figure of the paper."""
    out = tmp_path_factory.mktemp("quick")
    result = call("fig2", "--quick", "--seeds", 1, "--workers", 2, "--out", out)
    return out, result


def test_quick_runs_of_a_figure_make_a_page(quick):
    out, result = quick
    assert "10 runs done" in result.stdout
    assert result.stdout.splitlines()[-1] == str(out / "report.html")
    assert "These are quick runs" in (out / "report.html").read_text()
    assert len(list(Store(out / "trials"))) == 10
    verdicts = pd.read_csv(out / "claims.csv")["verdict"]
    assert len(verdicts) == len(read("fig2").claims)
    assert all(verdict.endswith(", quick runs") for verdict in verdicts)
    assert (out / "figures" / "fig2.pdf").is_file()


def test_what_is_there_is_drawn_again_without_computing(quick, monkeypatch):
    out, _ = quick
    before = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    monkeypatch.setattr("fedmf.paper.running.run_all", None)  # whoever calls it fails
    call("fig2", "--quick", "--seeds", 1, "--draw-only", "--out", out)
    assert (out / "report.html").read_bytes() == before


def test_a_plan_does_nothing(exhibits, tmp_path):
    result = call("fig1", "--files", exhibits, "--plan-only", "--out", tmp_path / "out")
    assert "Two methods" in result.stdout
    assert not (tmp_path / "out").exists()


def test_runs_alone_draw_nothing(exhibits, tmp_path):
    out, kept = tmp_path / "out", tmp_path / "kept"
    asked = ("fig7", "--files", exhibits, "--quick", "--workers", 1, "--store", kept, "--out", out)
    assert "2 runs done" in call(*asked, "--runs-only").stdout
    assert not out.exists()
    assert len(list((kept / "maps").iterdir())) == 1
    call(*asked, "--draw-only", "--markdown", tmp_path / "pages")
    assert (out / "figures" / "fig7.png").is_file()
    text = (tmp_path / "pages" / "results.md").read_text()
    assert "fedmf reproduce fig7 --quick --data-dir DATA --out paper" in text


def test_pieces_of_limited_time_add_up(exhibits, tmp_path):
    asked = ("table1", "--files", exhibits, "--quick", "--workers", 1, "--out", tmp_path / "out")
    first = call(*asked, "--max-seconds", 0, status=UNFINISHED)
    assert "0 runs done" in first.stdout
    assert "6 left" in first.stdout
    assert "not done yet" in (tmp_path / "out" / "report.html").read_text()
    assert "6 runs done" in call(*asked).stdout
    assert "0 runs done" in call(*asked).stdout


def test_drawing_made_up_results(exhibits, store, tmp_path):
    result = call("all", "--files", exhibits, "--store", store.folder, "--draw-only",
                  "--out", tmp_path)  # fmt: skip
    assert "holds" in result.stdout
    assert (tmp_path / "tables" / "table1.tex").is_file()


def test_a_name_that_is_not_there_is_a_mistake(tmp_path):
    result = call("fig99", "--out", tmp_path, status=MISTAKE)
    assert "there is no 'fig99'" in result.stderr


def test_a_damaged_result_is_computed_again(exhibits, store, tmp_path):
    kept = Store(copytree(store.folder, tmp_path / "store"))
    trial = read("fig7", folder=exhibits, quick=True).trials[0]
    done = [kept.path(one) for one in read("fig7", folder=exhibits, quick=True).trials]
    asked = ("fig7", "--files", exhibits, "--quick", "--workers", 1, "--store", kept.folder,
             "--out", tmp_path / "out")  # fmt: skip
    call(*asked)
    assert all(path.is_file() for path in done)
    kept.path(trial).write_text("{")
    assert "1 runs done" in call(*asked).stdout


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM], ids=["kill", "term"])
def test_a_run_that_was_killed_goes_on(tmp_path, number):
    """Killed at the first result that is there; the same command does what is left."""
    folder = made.folder(
        tmp_path / "files", settings=made.SETTINGS.replace("rounds = 40", "rounds = 4000")
    )
    out = tmp_path / "out"
    asked = ["fig1", "--files", str(folder), "--seeds", "2", "--workers", "1", "--out", str(out)]
    process = subprocess.Popen(
        [sys.executable, "-m", "fedmf", "reproduce", *asked],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    store, count = out / "trials", 12
    while not list(store.rglob("[!.]*.json")):
        assert process.poll() is None
        time.sleep(0.02)
    process.send_signal(number)
    status = process.wait(60)
    assert status == (INTERRUPTED if number == signal.SIGTERM else -signal.SIGKILL)
    done = len(list(Store(store)))
    assert 0 < done < count
    again = call(*asked, "--runs-only").stdout
    told = int(again.split(" runs done")[0].split()[-1])
    assert told <= count - done  # fewer where a worker ended its run after its parent was killed
    assert len(list(Store(store))) == count
