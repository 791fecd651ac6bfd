"""What is drawn of results: curves, maps, the table, the page, the files; what is missing."""

from io import StringIO
from shutil import copytree

import numpy as np
import pandas as pd
import pytest

from fedmf.errors import FileFormatError
from fedmf.paper import maps, read, scores
from fedmf.paper.document import document
from fedmf.paper.figures import figure, looks_of
from fedmf.paper.page import page_of
from fedmf.paper.saved import save, save_document
from fedmf.paper.shown import machines, shared_settings, show, versions
from fedmf.report import palette
from fedmf.trials import Store
from paper import made

NAMES = ("fig1", "fig7", "table1")


@pytest.fixture(scope="module")
def shown(exhibits, store):
    return {name: show(read(name, folder=exhibits), store, exhibits) for name in NAMES}


def test_curves_are_means_of_all_starting_points_with_their_band(shown):
    first = shown["fig1"].figure.panels[0].series[0]
    several = np.array([made.falling(10 + seed) for seed in range(3)])[:, 1:]  # without the start
    np.testing.assert_allclose(first.x, np.arange(1, 41))
    np.testing.assert_allclose(first.y, several.mean(axis=0), rtol=1e-7)  # eight digits are kept
    np.testing.assert_allclose(first.low, several.min(axis=0), rtol=1e-7)
    np.testing.assert_allclose(first.high, several.max(axis=0), rtol=1e-7)


def test_panels_say_what_they_show_and_have_the_scales_of_the_file(shown):
    a, b = shown["fig1"].figure.panels
    assert (a.title, b.title) == ("(a) made up, Case 1, by rounds", "(b) other data, Case 2")
    assert (a.x, b.x) == ("round", "reals sent to the server")
    assert a.x_log
    assert a.y_log
    np.testing.assert_allclose(b.series[0].x, 1000 * np.arange(2, 42))


def test_the_axis_beside_ends_where_the_curves_are_by_the_round_of_the_file(shown):
    panel = shown["fig1"].figure.panels[0]
    slowest = max(float(one.y[1]) for one in panel.series)  # after two rounds
    low, high = panel.y_range
    assert slowest < high < float(panel.series[0].y[0])
    assert 0 < low < min(float(one.y[-1]) for one in panel.series)
    assert panel.x_range[0] == 2


def test_a_method_keeps_its_colour_and_curves_of_one_dash_their_shades(exhibits):
    looks = looks_of(read("fig1", folder=exhibits).panels[0])
    assert looks["a: C"].colour == palette.variable("fedmavg")
    assert looks["a: C"].dash
    shades = {looks[key].colour for key in ("a: A", "a: B")}
    assert len(shades) == 2
    assert all(name.startswith("m-fedmgs") for name in shades)
    assert len({look.mark for look in looks.values()}) == 3


def test_a_label_that_several_methods_have_gets_the_methods_name(exhibits, store, tmp_path):
    text = made.CURVES.replace('label = "C"', 'label = "A"', 1).replace(
        '{ label = "A", method = { name = "fedmgs", q1 = 1, q2 = 2 } },\n', "", 1
    ).replace('place = "other"\nx', 'place = "other"\nmethod = { name = "fedmgs" }\nx').replace(
        'curves = "a"', 'curves = [{ label = "A", method = { q1 = 1, q2 = 2 } }]'
    )  # fmt: skip
    exhibit = read("fig1", folder=made.folder(tmp_path / "files", fig1=text))
    drawn = show(exhibit, store, tmp_path / "files").figure
    names = [one.name for panel in drawn.panels for one in panel.series]
    assert names == ["B", "FedMAvg, A", "FedMGS, A"]


def test_the_table_has_our_means_and_the_papers_figures_and_what_is_apart_last(exhibits, shown):
    one = shown["table1"]
    means = scores.means(one.exhibit, one.results)
    assert [row.cells[0] for row in means.rows] == ["FedMGS", "BEL", "k-FED"]
    frame = pd.read_csv(StringIO(means.csv()))
    assert frame["made up"].tolist() == [90, 50, 50]
    assert frame["made up, paper"].tolist()[:2] == [88.4, 38.7]
    assert frame["made up, starting points"].tolist() == [3, 2, 2]
    page = scores.shown(one.exhibit, one.results)
    assert list(page.headings) == ["method", "made up", "paper", "other"]  # none is known there
    assert page.cells()[0][1].text == "90.0 ± 0.0 (3)"
    assert page.cells()[0][1].best
    assert "\\midrule" in means.latex()


def test_maps_have_the_same_places_and_each_cluster_the_name_of_a_class(shown):
    panels = shown["fig7"].figure.panels
    assert [panel.title for panel in panels] == [
        "(a) classes",
        "(b) BEL, 50.0 %",
        "(c) FedMGS, 90.0 %",
    ]
    assert all(panel.points.shape == (40, 2) for panel in panels)
    assert all(np.array_equal(panel.points, panels[0].points) for panel in panels)


def test_clusters_are_matched_with_classes_one_to_one():
    found = maps.Map(np.zeros((6, 2)), np.arange(6), np.array([0, 0, 1, 1, 2, 2]), ["x", "y", "z"])
    groups, names = maps.matched(found, np.array([7, 7, 3, 3, 3, 9]))
    assert groups.tolist() == [0, 0, 1, 1, 1, 2]
    assert names == ["x", "y", "z"]
    groups, names = maps.matched(found, np.array([0, 0, 1, 1, 2, 3]))  # one cluster too many
    assert sorted(set(groups.tolist())) == [0, 1, 2, 3]
    assert names[3] == "spare 1"


def test_a_map_is_made_once_and_a_damaged_one_is_named(exhibits, store, tmp_path):
    copy = Store(copytree(store.folder, tmp_path / "store"))
    exhibit = read("fig7", folder=exhibits)
    path = maps.path_of(exhibit, copy)
    path.write_bytes(b"not a map")
    maps.compute(exhibit, copy)  # it is there
    with pytest.raises(FileFormatError, match=r"fig7-synthetic.* is damaged"):
        maps.load(exhibit, copy)


def test_the_page_has_every_figure_claim_and_setting(shown, exhibits, checked):
    html = page_of(list(shown.values()), shared_settings(exhibits)).html()
    checker = checked(html)
    assert {"fig1", "fig7", "table1", "table1-claims", "glance"} <= set(checker.ids)
    assert "FedMGS is better than BEL." in html
    assert "FedMGS (m" not in html
    assert "Settings: fig1.toml" in html
    assert "[places.here]" in html
    assert "other data stands for data that nobody has." in html
    assert "Not complete" not in html
    assert "quick" not in html.partition("<pre")[0]


def test_what_is_missing_is_said(exhibits, store, tmp_path):
    copy = Store(copytree(store.folder, tmp_path / "store"))
    exhibit = read("fig1", folder=exhibits)
    copy.path(exhibit.series["a: A"].trials[2]).unlink()
    for trial in exhibit.series["a: B"].trials:
        copy.path(trial).unlink()
    one = show(exhibit, copy, exhibits)
    assert one.points == "0 to 3"
    assert one.missing == 4
    assert [line.name for line in one.figure.panels[0].series] == ["A", "C"]
    html = page_of([one], "").html()
    assert "Not complete: 4 runs of the figures below are not done yet." in html
    nothing = show(exhibit, Store(tmp_path / "none"), exhibits)
    assert nothing.figure is None
    assert "Nothing to draw yet" in page_of([nothing], "").html()


def test_quick_runs_are_told_apart_on_the_page(exhibits, store):
    one = show(read("fig1", folder=exhibits, quick=True), store, exhibits)
    assert "These are quick runs" in page_of([one], "").html()
    assert "These are quick runs" in document([one], "a command", {})


def test_what_computed_it_is_added_up(shown):
    found = shown["fig1"].found
    assert machines(found) == [("abacus, 1 cores, wood", 18, 36.0)]
    assert versions(found) == {"python": "3", "fedmf": "0"}


def test_every_file_is_written(shown, exhibits, tmp_path):
    made_files = save(list(shown.values()), shared_settings(exhibits), tmp_path)
    assert made_files[0] == tmp_path / "report.html"
    for name in ("fig1", "fig7"):
        assert (tmp_path / "figures" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert (tmp_path / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    frame = pd.read_csv(tmp_path / "figures" / "fig1.csv")
    assert set(frame["panel"]) == {"(a) made up, Case 1, by rounds", "(b) other data, Case 2"}
    assert (tmp_path / "tables" / "table1.tex").read_text().startswith("% needs")
    assert pd.read_csv(tmp_path / "claims.csv")["verdict"].tolist() == ["holds", "holds"]
    html = made_files[0].read_text()
    assert 'href="figures/fig1.pdf"' in html.replace("'", '"')
    assert str(tmp_path) not in html


def test_the_document_has_the_tables_and_pictures_beside_it(shown, tmp_path):
    path = save_document(list(shown.values()), "fedmf reproduce all", tmp_path)
    text = path.read_text()
    assert "fedmf reproduce all" in text
    assert "![Two methods](figures/fig1.svg)" in text
    assert "| FedMGS | **90.0 ± 0.0 (3)** | 88.4 |" in text
    assert "| FedMGS is better than BEL. | ✓ holds | 2 of 2 |" in text
    assert (tmp_path / "figures" / "fig1.svg").is_file()
    assert (tmp_path / "figures" / "fig7.png").is_file()


def test_a_figure_of_no_results_has_no_panels_to_crop(exhibits):
    exhibit = read("fig1", folder=exhibits)
    drawn = figure(exhibit, {key: {} for key in exhibit.series})
    assert all(panel.y_range == (None, None) for panel in drawn.panels)
