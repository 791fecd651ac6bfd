"""The files of the figures and the table: what they say, and what is refused."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from shutil import copytree

import pytest

from fedmf.errors import FileFormatError, ParameterError
from fedmf.paper import chosen, names, read
from fedmf.paper.running import LEAST, every, passes, plan
from fedmf.trials import Store

FIGURES = [*(f"fig{i}" for i in range(1, 8)), *(f"figs{i}" for i in range(1, 5))]


@pytest.fixture
def folder(tmp_path) -> Path:
    """Return a copy of the files that may be changed."""
    with_them = tmp_path / "exhibits"
    copytree(Path(str(files("fedmf.paper").joinpath("exhibits"))), with_them)
    return with_them


def change(folder: Path, name: str, old: str, new: str) -> None:
    path = folder / f"{name}.toml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_every_figure_and_the_table_of_the_paper_is_there():
    assert names() == [*FIGURES, "table1"]


@pytest.mark.parametrize("name", [*FIGURES, "table1"])
def test_every_claim_names_series_that_are_there(name):
    exhibit = read(name)
    assert exhibit.claims
    for claim in exhibit.claims:
        assert len(claim.series) > 1
        assert set(claim.series) <= set(exhibit.series)


@pytest.mark.parametrize("name", [*FIGURES, "table1"])
def test_all_methods_of_a_panel_have_the_same_starting_points(name):
    for panel in read(name).panels:
        if name != "table1":
            assert len({tuple(t.seed for t in one.trials) for one in panel.series}) <= 1
        assert all(len(one.trials) >= LEAST or name == "fig7" for one in panel.series)


def test_a_curve_is_what_all_levels_say_together():
    one = read("fig1").series["c: Q̂ = 50"]
    method = {"name": "fedmavg", "q1": 10, "q2": {"diminishing": 50}, "participants": 10}
    assert one.trials[0].method == method
    assert (one.trials[0].partition, one.trials[0].rank) == ("kmeans", 20)
    assert one.trials[0].dtype == "float32"
    assert [trial.seed for trial in one.trials] == [0, 1, 2]


def test_settings_for_one_method_go_to_that_method_alone():
    table = read("table1").series
    assert table["TDT2: CAL"].trials[0].method["n_outliers"] == 282
    assert "n_outliers" not in table["TDT2: BEL"].trials[0].method
    assert table["TDT2: FedMGS (m = 10)"].trials[0].cluster == {"threshold": 1e-4}
    assert table["TDT2: FedMAvg (m = 10)"].trials[0].cluster == {}
    assert table["TCGA miRNA: FedMAvg (m = 10)"].trials[0].method["q2"] == {"diminishing": 5}


def test_figures_share_what_is_the_same_run():
    shared = {t.key for t in read("fig4").trials} & {t.key for t in read("fig5").trials}
    assert len(shared) == len(read("fig5").trials)
    accuracy = {trial.key for trial in read("fig6").series["a: FedMGS, m = 100"].trials}
    assert accuracy <= {trial.key for trial in read("table1").trials}


def test_quick_is_smaller_in_data_rounds_and_seeds():
    for key, whole in read("fig5").series.items():
        quick = read("fig5", quick=True).series[key]
        assert quick.trials[0].rounds < whole.trials[0].rounds
        assert quick.trials[0].method == whole.trials[0].method
    assert len(read("table1", quick=True).trials) < len(read("table1").trials)
    assert "M=200" in read("fig1", quick=True).trials[0].data


def test_seeds_of_the_command_line_win():
    assert {trial.seed for trial in read("fig1", seeds=2, quick=True).trials} == {0, 1}
    assert {trial.seed for trial in read("fig7", seeds=5).trials} == {0}


def test_names_may_be_begun_only():
    assert chosen(["all"]) == names()
    assert chosen(["table1", "fig3"]) == ["fig3", "table1"]
    assert chosen(["figs"]) == ["figs1", "figs2", "figs3", "figs4"]
    with pytest.raises(ParameterError, match="there is no 'fog'; there are all, fig1"):
        chosen(["fog"])


def test_a_changed_copy_is_read_from_its_folder(folder):
    change(folder, "fig2", "until = 200", "until = 150")
    assert read("fig2", folder=folder).panels[1].until == 150


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ('place = "syn-1"', 'place = "syn-3"', "'a: Q2 = 1': the place must be one of syn-1, "),
        ("seeds = 3", "sedes = 3", "the file has an entry 'sedes'; allowed are "),
        ('name = "b"', 'nam = "b"', "a panel needs an entry 'name'"),
        ("{ label", "{ lable", "a curve of panel 'a' has an entry 'lable'"),
        ('curves = "a"', 'curves = "z"', "curves = 'z' names no panel above"),
        ('name = "fedmavg"', 'name = "fedavg"', "'a: Q2 = 1': .*did you mean 'fedmavg'"),
        ('title = "FedMAvg', 'kind = "pie"\ntitle = "FedMAvg', "kind must be one of curves, table"),
        ("title =", "title", "no valid TOML"),
    ],
)
def test_what_is_wrong_in_a_file_is_named(folder, old, new, text):
    change(folder, "fig1", old, new)
    with pytest.raises(FileFormatError, match=f"fig1.toml: {text}"):
        read("fig1", folder=folder)


def test_the_first_starting_points_come_first_and_then_one_by_one():
    trials = every([read("table1"), read("fig7")])
    turns = passes(trials)
    assert [sorted({trial.seed for trial in turn}) for turn in turns] == [
        [0, 1, 2], *([seed] for seed in range(3, 10))
    ]  # fmt: skip
    assert sorted(t.key for turn in turns for t in turn) == sorted(t.key for t in trials)


def test_the_plan_counts_shared_runs_once(tmp_path):
    works = plan([read("fig4"), read("fig5")], Store(tmp_path))
    assert works[0].left == works[0].trials
    assert (works[1].left, works[1].seconds) == (0, 0)
    assert works[0].seconds > 0
