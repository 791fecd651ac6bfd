"""The page of runs: true to their histories."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_info, threadpool_limits

import fedmf
from fedmf.report import Details, Record, read, write_page
from fedmf.report.record import communication, read_all
from fedmf.report.runs import clusters, convergence, page, settings, sites
from fedmf.report.runs import communication as messages
from fedmf.report.runs.plane import placed, sampled
from fedmf.storage import CONFIG, RESOLVED
from fedmf.terms import contributions


@pytest.fixture(scope="module")
def html(folders):
    """The page of all three."""
    return page(read_all(folders)).html()


def test_the_page_is_well_formed(html, checked):
    checker = checked(html)
    assert len(checker.ids) == len(set(checker.ids))


def test_names_are_escaped(html):
    assert "avg <again>" not in html
    assert "avg &lt;again&gt;" in html


def test_runs_that_would_be_called_the_same_are_told_apart(folders):
    labels = [record.label for record in read_all(folders)]
    twins = [f"FedMAvg, all sites ({name})" for name in ("avg", "avg <again>")]
    assert labels == ["FedMGS, m = 2", *twins]


def test_the_page_has_every_runs_figures_and_settings(html, folders):
    run = fedmf.load(folders[0])
    assert f"{run.position.objective:.6g}" in html
    assert "algorithm.participants" in html
    assert "python" in html


def test_a_page_of_one_run_is_called_as_the_run(folders, tmp_path):
    text = write_page(folders[:1], tmp_path / "deep" / "page.html").read_text()
    assert "<h1>FedMGS, m = 2</h1>" in text
    assert "a later F may be the larger one" in text


def test_a_run_without_a_round_has_a_page(tmp_path):
    def stop(position):
        raise KeyboardInterrupt

    own = [np.ones((3, 2))]
    run = fedmf.fit(own, fedmf.Problem(rank=1), fedmf.FedMGS(), rounds=2, callback=stop)
    del run.rows[:]
    run.save(tmp_path / "run")
    assert "No round was played" in page([read(tmp_path / "run")]).html()


def test_a_page_needs_a_run(tmp_path):
    with pytest.raises(fedmf.FedMFError, match="at least one run"):
        write_page([], tmp_path / "page.html")


def test_the_lines_are_those_of_the_history(folders):
    record = read(folders[0])
    by_round, by_bytes, by_time = convergence.progress([record]).panels
    history = record.run.history
    for panel in (by_round, by_bytes, by_time):
        np.testing.assert_array_equal(panel.series[0].y, history["objective"])
    np.testing.assert_array_equal(by_round.series[0].x, history["round"])
    np.testing.assert_allclose(by_time.series[0].x, history["seconds"].cumsum())
    sent = record.run.communication["uplink_bytes"]
    assert by_bytes.x == "uploaded, kB"
    np.testing.assert_allclose(by_bytes.series[0].x * 1e3, sent[1:], rtol=1e-12)


def test_a_long_curve_is_thinned_and_keeps_its_ends():
    kept = convergence.thin(100_000)
    assert len(kept) <= 2 * convergence.POINTS
    assert kept[0] == 0
    assert kept[-1] == 99_999
    assert (convergence.thin(50) == np.arange(50)).all()


def test_the_penalty_is_drawn_where_it_grew(folders):
    grown, fixed = (read(folder) for folder in folders[:2])
    assert len(convergence.settling([grown]).panels) == 2
    assert len(convergence.settling([fixed]).panels) == 1


def test_the_sites_are_drawn_largest_first_with_their_turns(folders):
    record = read(folders[0])
    samples, turns, added = sites.section([record]).parts[0].panels
    assert samples.series[0].y[:-1].tolist() == [30, 12, 7, 1]
    drawn = [site for own in record.run.history["participants"] for site in own]
    assert turns.series[0].y[:-1].tolist() == [drawn.count(p) for p in (1, 0, 3, 2)]
    own = contributions(record.run.goal, record.run.terms, record.run.rho)
    shares = 100 * own[[1, 0, 3, 2]] / own.sum()
    np.testing.assert_allclose(added.series[0].y[:-1], shares, rtol=1e-12)


def test_sizes_are_drawn_once_for_runs_on_the_same_sites(folders):
    figures = {one.title: one for one in sites.section(read_all(folders)).parts[:3]}
    assert len(figures["Samples"].panels) == 1
    assert [panel.title for panel in figures["Rounds drawn"].panels] == ["FedMGS, m = 2"]
    assert len(figures["Share of F"].panels) == 3


def test_what_all_sites_always_did_is_said_in_words(folders):
    text = page(read_all(folders)).html()
    assert "Every site took part in every round: FedMAvg, all sites (avg); FedMAvg" in text


def test_many_sites_are_averaged(folders):
    record = read(folders[0])
    sizes = np.arange(1000, 0, -1)
    figures = np.column_stack([sizes, np.ones((1000, 5))])
    many = replace(record, run=replace(record.run, figures=figures, terms=None))
    figure = sites.section([many]).parts[0]
    line = figure.panels[0].series[0]
    assert len(line.y) == sites.STEPS + 1
    assert line.y[0] == sizes[:5].mean()
    assert "the mean of up to 5 sites" in figure.caption


def test_the_sites_that_add_most_are_listed(folders):
    record = read(folders[0])
    run = record.run
    [details] = [p for p in sites.section([record]).parts if isinstance(p, Details)]
    rows = details.parts[0].cells()
    order = np.argsort(-contributions(run.goal, run.terms, run.rho))
    assert [row[0].value for row in rows] == order.tolist()
    assert sum(row[3].value for row in rows) == pytest.approx(1)
    relative = np.sqrt(run.terms[order[0], 0] / run.figures[order[0], 2])
    assert rows[0][5].value == pytest.approx(relative)


def test_what_was_sent_is_the_sum_of_the_ledger(folders):
    record = read(folders[0])
    total = record.run.communication.iloc[-1]
    sent = communication(record.run)
    assert sent == (total["uplink_reals"], total["uplink_bytes"], total["downlink_bytes"])


def test_communication_by_round_in_all_and_by_task(folders):
    record = read(folders[0])
    per_round, in_all, table = messages.section([record]).parts
    history, total = record.run.history, record.run.communication
    for panel, name in zip(per_round.panels, ("uplink_bytes", "downlink_bytes"), strict=True):
        np.testing.assert_allclose(panel.series[0].y, history[name])
    for panel, name in zip(in_all.panels, ("uplink_bytes", "downlink_bytes"), strict=True):
        np.testing.assert_allclose(panel.series[0].y, total[name] / 1e3)
        assert panel.series[0].x.tolist() == list(range(9))
    cells = table.cells()
    for column, name in ((4, "uplink_reals"), (5, "uplink_bytes"), (6, "downlink_bytes")):
        assert sum(row[column].value for row in cells) == total[name].iloc[-1]
    asked = {row[1].text: (row[2].value, row[3].value) for row in cells}
    assert asked["first, before round 1"] == (1, 4)
    assert asked["improve"] == (8, 16)


def clustered(sites, K, **how):
    algorithm = how.pop("algorithm", fedmf.FedMGS())
    problem = fedmf.Problem(rank=K, **how)
    return fedmf.fit(sites, problem, algorithm, rounds=15, penalty=fedmf.SNCP(threshold=1e-3))


@pytest.fixture(scope="module")
def marked():
    """A run on three clear clusters, each of which has two features of its own."""
    kinds = np.repeat([0, 1, 2], [20, 12, 8])
    X = 0.01 + np.kron(np.eye(3), [1.0, 0.8])[kinds]
    run = clustered([X[::2], X[1::2]], 3)
    return Record(Path("run"), replace(run, features=tuple("abcdef")), {}, {}, "FedMGS")


def test_clusters_have_their_sizes_a_map_and_their_overlap(marked):
    sizes, plane, overlap = clusters.section([marked], "pca").parts[0].panels
    labels = np.concatenate(marked.run.labels)
    assert sorted(bar.value for bar in sizes.bars) == [8, 12, 20]
    assert [bar.value for bar in sizes.bars] == np.bincount(labels).tolist()
    np.testing.assert_array_equal(plane.groups, labels)
    assert plane.points.shape == (40, 2)
    assert plane.title == "PCA of the samples as W h"
    np.testing.assert_allclose(np.diag(overlap.values), 1)
    H = np.concatenate(marked.run.H, axis=1)
    cosine = H[0] @ H[1] / np.linalg.norm(H[0]) / np.linalg.norm(H[1])
    assert overlap.values[0, 1] == pytest.approx(cosine)


def test_columns_of_W_are_marked_by_the_features_of_their_cluster(marked):
    [details] = [p for p in clusters.section([marked], "pca").parts if isinstance(p, Details)]
    rows = details.parts[0].cells()
    assert {row[3].text[:4] for row in rows} == {"a, b", "c, d", "e, f"}
    assert {row[4].text[:4] for row in rows} == {"a, b", "c, d", "e, f"}
    assert sorted((row[1].value, row[2].value) for row in rows) == [(8, 2), (12, 2), (20, 2)]


def test_neighbours_stay_neighbours_on_a_map_by_t_sne(marked):
    plane = clusters.section([marked], "tsne").parts[0].panels[1]
    assert plane.title == "t-SNE of the samples as W h"
    gaps = np.linalg.norm(plane.points[:, None] - plane.points[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert (plane.groups[gaps.argmin(axis=1)] == plane.groups).all()


def test_a_map_is_worked_out_by_one_thread(monkeypatch):
    """With more, its many short steps wait at barriers: ten times the time on a busy machine."""
    seen = []

    def fit_transform(self, X):
        seen.extend(library["num_threads"] for library in threadpool_info())
        return X[:, :2]

    monkeypatch.setattr(TSNE, "fit_transform", fit_transform)
    with threadpool_limits(2):
        placed(np.eye(9), "tsne")
    assert set(seen) == {1}


def test_large_maps_show_some_samples_the_same_each_time():
    some = sampled(10_000, 500)
    assert len(np.unique(some)) == 500
    assert (some == sampled(10_000, 500)).all()
    assert (sampled(7, 500) == np.arange(7)).all()


def test_runs_that_agree_say_so(marked):
    twice = [replace(marked, label=label) for label in ("one", "two")]
    agreement = clusters.section(twice, "pca").parts[2]
    assert agreement.title == "Agreement"
    np.testing.assert_allclose(agreement.panels[0].values, 1)


def test_a_run_of_a_real_federation_has_a_page_without_H(folders, tmp_path):
    run = fedmf.load(folders[0])
    replace(run, private=None, terms=None).save(tmp_path / "away")
    text = write_page([tmp_path / "away"], tmp_path / "page.html").read_text("utf-8")
    assert "H stays at the sites, no sample is seen: FedMGS, m = 2." in text
    assert "FedMGS, m = 2: what each site adds to F is not kept" in text
    assert "Columns of W" in text
    assert "feature 0" in text


def test_H_with_signs_has_no_clusters():
    random = np.random.default_rng(0)
    run = clustered([random.normal(size=(9, 4))], 2, bounds="free", h_bounds="free", rho=0)
    record = Record(Path("run"), run, {}, {}, "FedMGS")
    assert clusters.section([record], "pca").title == "Columns of W"


def test_a_map_of_another_kind_is_refused(marked):
    with pytest.raises(fedmf.FedMFError, match="map must be one of pca, tsne; got 'umap'"):
        clusters.section([marked], "umap")


def test_settings_that_differ_come_first(folders):
    first = settings.section(read_all(folders)).parts[0]
    rows = {row[0]: row[1:] for row in first.rows}
    assert rows["algorithm.name"] == ("fedmgs", "fedmavg", "fedmavg")
    assert "problem.rank" not in rows


@pytest.mark.parametrize("name", [CONFIG, RESOLVED])
def test_settings_that_are_damaged_or_missing_are_named(name, tmp_path):
    ones = np.ones((3, 2))
    fedmf.fit([ones], fedmf.Problem(1), fedmf.FedMGS(), rounds=1).save(tmp_path)
    (tmp_path / name).write_text("[run")
    with pytest.raises(fedmf.FedMFError, match=f"{name}: no valid TOML: ") as refused:
        read(tmp_path)
    assert "\n" not in str(refused.value)
    (tmp_path / name).unlink()
    with pytest.raises(fedmf.FedMFError, match=f"{name}: there is no such file$"):
        read(tmp_path)
