"""The commands of `fedmf data`: what they print and which files they leave."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse

from fedmf.cli import main


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


def test_data_list_says_what_is_there(tmp_path):
    for name in ("train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte"):
        (tmp_path / name).touch()
    lines = call("data", "list", "--data-dir", tmp_path).stdout.splitlines()
    state = {line.split()[0]: line for line in lines if line.strip()}
    rows = [line for line in lines if line.startswith("  mnist") and "10,000" in line]
    assert rows[0].rstrip().endswith("there")
    assert any("synthetic" in line and line.rstrip().endswith("none needed") for line in lines)
    assert any("tdt2" in line and line.rstrip().endswith("to download") for line in lines)
    assert "where" in state


def test_data_describe(csv, tmp_path):
    picture = tmp_path / "sites.svg"
    output = call("data", "describe", csv, "--sites", "hospital", "--labels", "kind",
                  "--picture", picture).stdout  # fmt: skip
    assert "3 sites, 30 samples, 5 features" in output
    assert picture.read_text().startswith("<?xml")


def test_data_prepare_equals_the_pooled_preparation(csv, tmp_path):
    out = tmp_path / "prepared.npz"
    result = call("data", "prepare", csv, "--sites", "hospital", "--labels", "kind",
                  "--steps", "log1p min-max", "--out", out)  # fmt: skip
    assert "min-max: sites sent the smallest and the largest value of each feature" in result.stderr
    frame = pd.read_csv(csv)
    logs = np.log1p(frame[list("abcde")].to_numpy())
    pooled = (logs - logs.min(axis=0)) / (logs.max(axis=0) - logs.min(axis=0))
    with np.load(out) as held:
        np.testing.assert_allclose(held["X"], pooled, rtol=1e-12, atol=1e-15)
        assert held["site"].tolist() == frame["hospital"].tolist()
        assert held["label"].tolist() == frame["kind"].tolist()
    told = result.stderr.splitlines()[-1].removeprefix("go on with: fedmf ")
    args = told.replace("--rank K", "--rank 2").split()
    call(*args, "--rounds", 2, "--out", tmp_path / "run")


def test_data_prepare_keeps_sparse_data_sparse(tmp_path):
    X = sparse.random_array((20, 6), density=0.4, format="csr", rng=np.random.default_rng(0))
    sparse.save_npz(tmp_path / "counts.npz", X)
    out = tmp_path / "weighted.npz"
    call("data", "prepare", tmp_path / "counts.npz", "--partition", "iid", "--n-sites", 3,
         "--steps", "tfidf", "--out", out)  # fmt: skip
    with np.load(out) as held:
        assert held["shape"].tolist() == [20, 6]


@pytest.fixture
def folder(tmp_path):
    """Three sites with a file each: one lacks a feature, one has them in another order."""
    found = tmp_path / "sites"
    found.mkdir()
    (found / "b.csv").write_text("id,x,y,z,kind\ns1,1,2,3,p\ns2,4,5,6,q\n")
    (found / "b-1.csv").write_text("id,z,x,y,kind\ns3,9,7,8,p\n")
    (found / "c.csv").write_text("id,y,z,w,kind\ns4,10,11,12,q\n")
    return found


def test_data_prepare_aligns_sites_by_name(folder, tmp_path):
    out = tmp_path / "aligned.npz"
    base = ("data", "prepare", folder, "--labels", "kind", "--out", out, "--steps")
    call(*base, "align")
    with np.load(out) as held:
        assert held["features"].tolist() == ["y", "z"]
        assert held["X"].tolist() == [[2, 3], [5, 6], [8, 9], [10, 11]]
        assert held["sample"].tolist() == ["s1", "s2", "s3", "s4"]
        assert held["site"].tolist() == ["b", "b", "b-1", "c"]
        assert held["label"].tolist() == ["p", "q", "p", "q"]
    call(*base, "align:how=union max-abs")
    with np.load(out) as held:
        assert held["features"].tolist() == ["x", "y", "z", "w"]
        assert held["X"][3].tolist() == [0, 1, 1, 1]


def test_data_prepare_refuses_sites_that_do_not_fit_unless_they_are_aligned_first(folder, tmp_path):
    result = call("data", "prepare", folder, "--labels", "kind", "--out", tmp_path / "x.npz",
                  "--steps", "max-abs align", status=2)  # fmt: skip
    assert "sites: feature 1 is 'z' at site 'b-1', 'x' at site 'b'" in result.stderr
    assert not (tmp_path / "x.npz").exists()


def test_data_describe_tells_of_a_folder_what_it_tells_of_one_file(folder, tmp_path):
    (folder / "c.csv").unlink()
    (folder / "b-1.csv").write_text("id,x,y,z,kind\ns3,7,8,9,p\n")
    lines = ["id,x,y,z,kind,site", "s1,1,2,3,p,b", "s2,4,5,6,q,b", "s3,7,8,9,p,b-1"]
    (tmp_path / "one.csv").write_text("\n".join(lines))
    apart = call("data", "describe", folder, "--labels", "kind").stdout
    assert apart.startswith("2 sites, 3 samples, 3 features")
    one = call("data", "describe", tmp_path / "one.csv", "--labels", "kind", "--sites", "site")
    assert apart == one.stdout


def test_data_describe_of_a_folder_of_sparse_sites(tmp_path):
    for name in "ab":
        sparse.save_npz(tmp_path / f"{name}.npz", sparse.csr_matrix(np.eye(3)))
    assert "2 sites, 6 samples, 3 features" in call("data", "describe", tmp_path).stdout


def test_columns_are_dropped(csv):
    output = call("data", "describe", csv, "--sites", "hospital", "--drop", "kind, a").stdout
    assert "3 sites, 30 samples, 4 features" in output


def test_what_cannot_be_fetched_is_to_be_put_there(tmp_path):
    result = call("data", "prepare", "tcga-mirna", "--data-dir", tmp_path, status=2)
    assert "tcga-mirna cannot be downloaded: put tcga_mirna.npz" in result.stderr
    result = call("data", "prepare", "synthetic", status=2)
    assert "there is nothing to download" in result.stderr


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ("log1p minmax", "got 'minmax'; did you mean 'min-max'?"),
        (
            "log1p min-max:range=3",
            "an option of preparation 'min-max' must be one of clip",
        ),
        ("log1p select:k=0", "k must be an integer of at least 1, got 0"),
    ],
)
def test_a_mistake_in_a_later_step_is_told_before_the_work(steps, said, csv, tmp_path, monkeypatch):
    monkeypatch.setattr("fedmf.cli._data.read", None)
    out = tmp_path / "x.npz"
    result = call("data", "prepare", csv, "--steps", steps, "--out", out, status=2)
    assert result.stderr.startswith("error: ")
    assert said in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_picture_of_another_kind_is_refused_before_the_work(csv, monkeypatch):
    monkeypatch.setattr("fedmf.cli._data.read", None)
    result = call("data", "describe", csv, "--picture", "sites.gif", status=2)
    assert "must end in .pdf, .png, .svg, got sites.gif" in result.stderr
