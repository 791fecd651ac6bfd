"""`fedmf compare` as a user calls it."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from fedmf.cli import main
from fedmf.report import Page
from fedmf.trials import Outcome

SHORT = ("--method", "fedmgs", "--method", "k-fed", "--seeds", 2, "--rounds", 3, "--workers", 1)


def call(*args, status=0):
    line = ["compare", *map(str, args)]
    result = CliRunner().invoke(main, line, catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result


@pytest.fixture
def csv(tmp_path):
    """Thirty samples at three sites, with classes and names."""
    frame = pd.DataFrame(np.random.default_rng(0).random((30, 5)), columns=list("abcde"))
    frame["hospital"] = np.repeat(["north", "east", "south"], [14, 15, 1])
    frame["kind"] = np.arange(30) % 3
    frame["id"] = [f"s{place}" for place in range(30)]
    path = tmp_path / "samples.csv"
    frame.to_csv(path, index=False)
    return path


def test_a_users_own_table(csv, tmp_path, monkeypatch):
    out = tmp_path / "out"
    asked = (csv, "--sites", "hospital", "--labels", "kind", "--samples", "id", "--clusters", 3)
    result = call(*asked, "--out", out, *SHORT)
    assert "30 samples at 3 sites of 1 to 15, 5 features, 3 clusters" in result.stdout
    assert "accuracy, %" in result.stdout
    assert "k-FED" in result.stdout
    clusters = pd.read_csv(out / "clusters.csv")
    assert list(clusters) == ["sample", "site", "FedMGS, all sites", "k-FED"]
    frame = pd.read_csv(csv)
    assert clusters["sample"].tolist() == frame["id"].tolist()
    assert clusters["site"].tolist() == frame["hospital"].tolist()
    assert (out / "report.html").read_text().startswith("<!DOCTYPE html>")
    assert str(tmp_path) not in (out / "report.html").read_text()
    monkeypatch.setattr("fedmf.comparison.page.page_of", lambda *_: Page("as it was", []))
    again = call(*asked, "--out", out, *SHORT)  # everything is there
    assert again.stdout == result.stdout
    assert again.stderr == ""


def test_without_labels(csv, tmp_path):
    result = call(csv, "--sites", "hospital", "--drop", "kind,id", "--clusters", 2,
                  "--out", tmp_path / "out", *SHORT)  # fmt: skip
    assert "silhouette" in result.stdout
    assert "accuracy" not in result.stdout
    assert "means of 2 seeds. stability" in result.stdout


def test_what_failed_and_what_is_left_is_said(csv, tmp_path, monkeypatch):
    def run_all(trials, store, **how):
        return Outcome(failed=[(trials[0], "Traceback\nthe worker died")], left=trials[1:])

    with monkeypatch.context() as patch:
        patch.setattr("fedmf.comparison.comparing.run_all", run_all)
        asked = (csv, "--sites", "hospital", "--labels", "kind", "--drop", "id", "--clusters", 3)
        result = call(*asked, "--out", tmp_path / "out", *SHORT, status=1)
        assert "failed: given-fedmgs-s0: the worker died" in result.stderr
        assert "3 runs are left: the same command goes on" in result.stderr

        def too_late(trials, store, **how):
            return Outcome(left=trials)

        patch.setattr("fedmf.comparison.comparing.run_all", too_late)
        call(*asked, "--out", tmp_path / "out", *SHORT, status=75)

        def interrupted(*args, **how):
            raise KeyboardInterrupt

        patch.setattr("fedmf.comparison.comparing.run_all", interrupted)
        result = call(*asked, "--out", tmp_path / "out", *SHORT, status=130)
        assert "the same command goes on" in result.stderr


@pytest.mark.parametrize(
    ("args", "text"),
    [
        ((), "how many clusters? Say --clusters K"),
        (("--clusters", 31), "n_clusters must be at most the number of samples, 30; got 31"),
        (("--clusters", 3, "--method", "bel:t=3"), "method 'bel' has no setting 't'"),
        (("--clusters", 3, "--out", "."), "holds other files"),
        (("--clusters", 3, "--out", "samples.csv"), "is a file: name another --out"),
    ],
)
def test_mistakes_are_one_line(csv, monkeypatch, args, text):
    monkeypatch.chdir(csv.parent)
    result = call(csv, "--sites", "hospital", "--drop", "kind,id", *args, status=2)
    assert text in result.stderr
    assert len(result.stderr.splitlines()) == 1
