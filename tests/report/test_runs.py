"""The page of runs: true to their histories."""

import numpy as np
import pytest

import fedmf
from fedmf.report import read, write_page
from fedmf.report.record import communication, read_all
from fedmf.report.runs import convergence, page, sites


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
    samples, turns = sites.figure(record, "sites").panels
    assert samples.series[0].y[:-1].tolist() == [30, 12, 7, 1]
    drawn = [site for own in record.run.history["participants"] for site in own]
    assert turns.series[0].y[:-1].tolist() == [drawn.count(p) for p in (1, 0, 3, 2)]


def test_what_was_sent_is_the_sum_of_the_ledger(folders):
    record = read(folders[0])
    total = record.run.communication.iloc[-1]
    sent = communication(record.run)
    assert sent == (total["uplink_reals"], total["uplink_bytes"], total["downlink_bytes"])
