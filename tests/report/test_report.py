"""Pages and figures: well formed, self-contained, escaped, and true to the history."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

import fedmf
from fedmf.clustering import SNCP
from fedmf.report import figures, palette, write_page
from fedmf.report.page import page
from fedmf.report.record import communication, read, read_all
from fedmf.report.svg import write
from fedmf.report.words import count, data_size, time

VOID = {"meta", "link", "br", "img", "hr", "input"}


class Checker(HTMLParser):
    """Collects tags, identifiers and references, and whether tags are closed in order."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.ids, self.references = [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag not in VOID:
            self.open.append(tag)
        self._note(attrs)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self._note(attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def _note(self, attrs):
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in ("href", "src", "xlink:href"):
                self.references.append(value)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Three saved runs: one with a growing penalty, two that would be called the same."""
    home = tmp_path_factory.mktemp("runs")
    random = np.random.default_rng(0)
    sites = [random.uniform(size=(n, 6)) for n in (12, 30, 1, 7)]
    kinds = {"mgs": fedmf.FedMGS(participants=2), "avg": fedmf.FedMAvg(q2=2)}
    for name, algorithm in kinds.items():
        penalty = SNCP(threshold=1.0, factor=10) if name == "mgs" else None
        run = fedmf.fit(sites, fedmf.Problem(rank=2), algorithm, rounds=8, penalty=penalty)
        run.save(home / name)
    run.save(home / "avg <again>")
    return [home / "mgs", home / "avg", home / "avg <again>"]


@pytest.fixture(scope="module")
def html(folders):
    """The page of all three."""
    return page(read_all(folders))


def checked(text):
    checker = Checker()
    checker.feed(text)
    assert checker.open == []
    return checker


def test_the_page_is_well_formed_and_every_identifier_is_its_own(html):
    checker = checked(html)
    assert len(checker.ids) == len(set(checker.ids))
    local = [reference[1:] for reference in checker.references]
    assert set(local) <= set(checker.ids)


def test_the_page_needs_no_network_and_no_script(html):
    checker = checked(html)
    assert not {"script", "link", "img", "iframe", "object"} & set(checker.tags)
    assert all(reference.startswith("#") for reference in checker.references)
    assert set(re.findall(r"url\((.)", html)) <= {"#"}
    assert "http" not in html.replace("http://www.w3.org", "")


def test_names_are_escaped(html):
    assert "avg <again>" not in html
    assert "avg &lt;again&gt;" in html


def test_runs_that_would_be_called_the_same_are_told_apart(folders):
    labels = [record.label for record in read_all(folders)]
    twins = [f"FedMAvg, all sites ({name})" for name in ("avg", "avg <again>")]
    assert labels == ["FedMGS, m = 2", *twins]


def test_the_page_has_every_runs_figures_and_settings(html, folders):
    assert html.count("<svg") == 2 + len(folders)
    run = fedmf.load(folders[0])
    assert f"{run.position.objective:.6g}" in html
    assert "participants" in html
    assert "python" in html


def test_the_colours_are_variables_with_a_light_and_a_dark_form(html):
    _, _, body = html.partition("<body>")
    for name, colour in palette.variables().items():
        assert colour.light not in body
        assert f"--{name}: {colour.dark}" in html
    assert "var(--fedmgs)" in body


def test_a_page_of_one_run_is_called_as_the_run(folders, tmp_path):
    text = write_page(folders[:1], tmp_path / "deep" / "page.html").read_text()
    assert "<h1>FedMGS, m = 2</h1>" in text
    assert "a later F may be the larger one" in text


def test_a_run_without_a_round_has_a_page(tmp_path):
    def stop(position):
        raise KeyboardInterrupt

    sites = [np.ones((3, 2))]
    run = fedmf.fit(sites, fedmf.Problem(rank=1), fedmf.FedMGS(), rounds=2, callback=stop)
    del run.rows[:]
    run.save(tmp_path / "run")
    assert "No round was played" in page([read(tmp_path / "run")])


def test_a_page_needs_a_run(tmp_path):
    with pytest.raises(fedmf.FedMFError, match="at least one run"):
        write_page([], tmp_path / "page.html")


def test_the_lines_are_those_of_the_history(folders):
    record = read(folders[0])
    left, right = figures.progress([figures.curve(record)]).axes
    history = record.run.history
    for axes in (left, right):
        np.testing.assert_array_equal(axes.lines[0].get_ydata(), history["objective"])
    np.testing.assert_array_equal(left.lines[0].get_xdata(), history["round"])
    sent = record.run.communication["uplink_bytes"]
    np.testing.assert_allclose(right.lines[0].get_xdata() * 1e6, sent[1:], rtol=1e-12)


def test_the_penalty_is_drawn_where_it_grew(folders):
    grown, fixed = (figures.curve(read(folder)) for folder in folders[:2])
    assert len(figures.settling([grown]).axes) == 2
    assert len(figures.settling([fixed]).axes) == 1


def test_the_sites_are_drawn_largest_first_with_their_turns(folders):
    record = read(folders[0])
    above, below = figures.sites(record).axes
    assert above.patches[0].get_data().values.tolist() == [30, 12, 7, 1]
    drawn = [site for own in record.run.history["participants"] for site in own]
    assert below.patches[0].get_data().values.tolist() == [drawn.count(p) for p in (1, 0, 3, 2)]


def test_a_method_has_one_colour_and_its_runs_have_lines_of_their_own(folders):
    pairs = figures.styled([figures.curve(record) for record in read_all(folders)])
    colours = [style["color"] for _, style in pairs]
    lines = [str(style["linestyle"]) for _, style in pairs]
    assert colours == [palette.METHODS[m].light for m in ("fedmgs", "fedmavg", "fedmavg")]
    assert lines[1] != lines[2]


def test_what_was_sent_is_the_sum_of_the_ledger(folders):
    record = read(folders[0])
    total = record.run.communication.iloc[-1]
    sent = communication(record.run)
    assert sent == (total["uplink_reals"], total["uplink_bytes"], total["downlink_bytes"])


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_a_figure_is_written_the_same_each_time(folders, tmp_path, kind):
    curves = [figures.curve(read(folders[0]))]
    paths = [tmp_path / f"{name}.{kind}" for name in "ab"]
    for path in paths:
        write(figures.progress(curves), path)
    assert paths[0].read_bytes() == paths[1].read_bytes()


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.00 kB"), (999_499, "999 kB"), (2e12, "2.00 TB")],
)
def test_data_size(number, text):
    assert data_size(number) == text


@pytest.mark.parametrize(
    ("number", "text"), [(7, "7"), (1234, "1.23 thousand"), (2e9, "2.00 billion")]
)
def test_count(number, text):
    assert count(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(1.25, "1.2 s"), (125, "2 min 05 s"), (7300, "2 h 01 min")]
)
def test_time(seconds, text):
    assert time(seconds) == text
