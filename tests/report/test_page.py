"""Pages: well formed, self-contained, escaped, forbidding themselves every request."""

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from urllib.parse import unquote

import pytest

from fedmf.report import Bar, Bars, Figure, Page, Section, Text, palette
from report import samples


@pytest.fixture(scope="module")
def html():
    """The page of samples."""
    return samples.page().html()


def test_it_is_well_formed_and_every_identifier_is_its_own(html, checked):
    checker = checked(html)
    assert len(checker.ids) == len(set(checker.ids))
    local = {reference[1:] for reference in checker.references if reference.startswith("#")}
    inside = set(re.findall(r"url\(#([^)]*)\)", html))
    assert local | inside <= set(checker.ids)


def test_it_needs_nothing_from_outside(html, checked):
    checker = checked(html)
    assert not {"link", "img", "iframe", "object"} & set(checker.tags)
    assert all(reference.startswith(("#", "data:text/csv")) for reference in checker.references)
    assert "http:" not in html
    assert "https:" not in html
    assert "style" not in checker.attributes


def test_its_policy_allows_its_own_style_and_script_alone(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src 'none';")
    for tag in ("style", "script"):
        [text] = re.findall(f"<{tag}>(.*?)</{tag}>", html, re.DOTALL)
        digest = b64encode(sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy


def test_every_text_is_escaped(html):
    assert "<b onclick" not in html
    assert "&lt;b onclick" in html


def test_colours_are_variables_with_a_light_and_a_dark_form(html):
    body = html.partition("<body>")[2]
    used = set(re.findall(r"var\(--([\w-]+)\)", body))
    assert {"m-fedmgs", "m-fedmavg", "m-central-sncp", "group-0", "heat-8"} <= used
    for name in used:
        colour = palette.variables()[name]
        assert html.count(f"--{name}: {colour.light};") == 1
        assert html.count(f"--{name}: {colour.dark};") == 1
    assert not re.search(r"#[0-9a-f]{6}\b", body)


def test_every_panel_is_drawn_and_told_in_words(html):
    assert html.count('role="img"') == 7
    assert html.count("<title id=") == html.count("<desc id=") == 7
    assert "FedMGS from 1.895 to 1.036" in html


def test_the_data_of_a_figure_can_be_downloaded(html):
    links = re.findall(r"href='data:text/csv;charset=utf-8,([^']*)' download='([^']*)'", html)
    texts = {name: unquote(text) for text, name in links}
    assert texts["lines.csv"] == samples.lines().csv()
    assert texts["table1.csv"] == samples.table().csv()


def test_a_contents_list_stands_above_more_than_three_sections(html):
    assert "<nav" in html
    short = Page("Short", [Section("One", [Text("word")])]).html()
    assert "<nav" not in short


def test_it_is_written_whole(tmp_path):
    page = Page("Short", [Section("One", [Text("word")])])
    assert page.write(tmp_path / "deep" / "page.html").read_text("utf-8") == page.html()


def test_texts_of_a_figure_stay_as_they_are():
    words = ["0.0025", "#d55e00", "url(#clip)", 'id="x"']
    bars = [Bar(word, 0.0025) for word in words]
    html = Page("", [Section("", [Figure("", [Bars(bars, form="{}")])])]).html()
    for word in words:
        assert f">{escape(word, quote=False)}</text>" in html
