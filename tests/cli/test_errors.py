"""A user's mistakes: one line that says what to do, status 2, and no traceback."""

import subprocess
import sys

import numpy as np
import pytest
from click.testing import CliRunner

import fedmf.cli._group
from fedmf.cli import main

SMALL = "synthetic:M=12,N=60,K=3"
FIT = f"fit {SMALL} --rank 3 --out {{tmp}}/run"


def complaint(line, tmp_path):
    args = [part.replace("{tmp}", str(tmp_path)) for part in line.split()]
    result = CliRunner().invoke(main, args, catch_exceptions=False)
    assert result.exit_code == 2, result.output
    lines = [text for text in result.stderr.splitlines() if not text.startswith("note: ")]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    return lines[0]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ftt", "No such command 'ftt'"),
        ("fit --rank 3 --out {tmp}/run", "name the data"),
        (f"fit {SMALL} --rank 3", "Say --out FOLDER"),
        (f"fit {SMALL} --out {{tmp}}/run", "Say --rank K"),
        (f"fit {SMALL} --rank 0 --out {{tmp}}/run", "rank must be an integer of at least 1, got 0"),
        (f"fit {SMALL} --rank x --out {{tmp}}/run", "'x' is not a valid integer"),
        ("fit no/such.csv --rank 3 --out {tmp}/run", "no/such.csv: there is no such file"),
        ("fit mnits --rank 3 --out {tmp}/run", "did you mean 'mnist'?"),
        ("fit synthetic:P=3 --rank 3 --out {tmp}/run", "has no option 'P'"),
        ("fit synthetic:P --rank 3 --out {tmp}/run", "NAME:KEY=VALUE"),
        (f"{FIT} --algorithm fedsgd", "algorithm must be one of"),
        (f"{FIT} --algorithm fedavg", "got 'fedavg'; did you mean 'fedmavg'?"),
        (f"{FIT} --q1 0", "q1 must be an integer of at least 1"),
        (f"{FIT} --q2 many", "'many' is neither a number of steps nor diminishing:QHAT"),
        (f"{FIT} --bounds 0:x", "'0:x' is not two numbers LOWER:UPPER"),
        (f"{FIT} --bounds 2:1", "lower <= upper"),
        (f"{FIT} --participation pcc", "algorithm 'fedmgs' has no setting 'participation'"),
        (f"{FIT} --participants 5", "participants must be at most the number of sites, 1"),
        (f"{FIT} --partition kmean", "did you mean 'kmeans'?"),
        (f"{FIT} --partition iid --n-sites 61", "n_sites must be an integer from 1 to"),
        (f"{FIT} --rounds 0", "rounds must be an integer of at least 1"),
        (f"{FIT} --threads 0", "threads must be an integer of at least 1"),
        (f"{FIT} --config {{tmp}}/no.toml", "no.toml: there is no such file"),
        ("fit --resume {tmp} --rank 3", "leave out --rank"),
        ("fit --resume {tmp} --algorithm fedmavg", "leave out --algorithm"),
        ("fit --resume {tmp} --out {tmp}/x", "leave out --out"),
        ("fit --resume {tmp}", "model.safetensors is missing: is "),
        ("report {tmp}/no", "is missing"),
        ("report", "Missing argument 'RUN...'"),
        ("data describe nosuch", "got 'nosuch'"),
        (f"data describe {SMALL} --picture {{tmp}}/x.jpg", "must end in .pdf, .png, .svg"),
        (f"data prepare {SMALL}", "say --steps and --out"),
        (f"data prepare {SMALL} --steps log1p", "Say --out FILE.npz"),
        (f"data prepare {SMALL} --steps log1p --out {{tmp}}/x.csv", "must end in .npz"),
        (f"data prepare {SMALL} --steps lg1p --out {{tmp}}/x.npz", "did you mean 'log1p'?"),
        ("demo --rounds 0", "0 is not in the range"),
    ],
)
def test_mistakes(line, said, tmp_path, monkeypatch):
    monkeypatch.delenv("FEDMF_DATA", raising=False)
    assert said in complaint(line, tmp_path)


def test_a_config_with_an_unknown_table_or_entry(tmp_path):
    config = tmp_path / "c.toml"
    for text, said in [
        ("[porblem]\nrank = 3", "'porblem' is none of the tables"),
        ("[run]\nround = 3", "[run] has no entry 'round'"),
        ("[data]\nsize = 3", "[data] has no entry 'size'"),
        ("[problem]\nrnk = 3", "problem has no setting 'rnk'"),
        ("[penalty]\nfactr = 2", "penalty 'sncp' has no setting 'factr'"),
        ("[penalty]\nfactor = 'x'", "factor must be a number above 1, got 'x'"),
        ("[penalty]\nname = 'x'", "penalty must be one of 'sncp'; got 'x'"),
        ("[penalty]\nname = 'own:f'", "made with a schedule of your own (own:f)"),
        ("[run\n", "no valid TOML"),
    ]:
        config.write_text(text)
        assert said in complaint(f"{FIT} --config {config}", tmp_path)


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "thesis.tex").write_text("precious")
    assert "holds other files (thesis.tex)" in complaint(FIT, tmp_path)
    assert "holds other files (thesis.tex)" in complaint(f"{FIT} --overwrite", tmp_path)
    assert (tmp_path / "run" / "thesis.tex").read_text() == "precious"


def test_a_refused_run_leaves_no_new_folder_and_every_old_one(tmp_path):
    assert "did you mean 'linkage'?" in complaint(f"{FIT} --init linkag", tmp_path)
    assert not (tmp_path / "run").exists()
    (tmp_path / "run").mkdir()
    complaint(f"{FIT} --init linkag", tmp_path)
    assert (tmp_path / "run").is_dir()


def test_a_run_that_was_killed_at_its_first_save_does_not_stand_in_the_way(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / ".123-456-model.safetensors").write_text("half")
    args = FIT.format(tmp=tmp_path).split()
    assert CliRunner().invoke(main, [*args, "--rounds", "2"]).exit_code == 0
    assert not [path for path in (tmp_path / "run").iterdir() if path.name.startswith(".")]


def test_a_run_is_not_replaced_unasked(tmp_path):
    args = FIT.format(tmp=tmp_path).split()
    assert CliRunner().invoke(main, [*args, "--rounds", "2"]).exit_code == 0
    assert "holds a run already: go on with it by --resume" in complaint(FIT, tmp_path)


def test_a_place_where_nothing_can_be_written(tmp_path):
    (tmp_path / "file").touch()
    said = complaint(f"fit {SMALL} --rank 3 --out {tmp_path}/file/run", tmp_path)
    assert f"{tmp_path}/file" in said


def test_labels_that_are_missing_are_named(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((8, 3)))
    line = f"fit {tmp_path}/x.npy --rank 2 --partition dirichlet --n-sites 2 --out {tmp_path}/run"
    assert "needs labels" in complaint(line, tmp_path)


def test_what_is_no_mistake_of_the_users_keeps_its_traceback(monkeypatch):
    def broken(error):
        raise RuntimeError("a defect")

    monkeypatch.setattr(fedmf.cli._group, "_refuse", broken)
    with pytest.raises(RuntimeError, match="a defect"):
        CliRunner().invoke(main, ["ftt"], catch_exceptions=False)


def test_the_process_itself_ends_with_the_status(tmp_path):
    command = [sys.executable, "-m", "fedmf", "fit", "no/such.npy", "--rank", "2", "--out", "x"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: no/such.npy: there is no such file or folder\n"
