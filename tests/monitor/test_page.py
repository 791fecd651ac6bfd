"""The page as text: escaped, without style or script in it, and its figures."""

import re
from html.parser import HTMLParser

import pytest

from fedmf.monitor.chart import POINTS, curve, strip, thinned
from fedmf.monitor.page import page
from fedmf.monitor.scene import ANSWERED, MISSING, SILENT, Watcher
from monitor.fake import Fake, busy


class Parsed(HTMLParser):
    """Elements with their attributes; refuses what is not closed in order."""

    def __init__(self, text):
        super().__init__()
        self.found, self._open = [], []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in ("meta", "link"):
            self._open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self._open.pop() == tag


def points(text):
    (path,) = re.findall(r"points='([^']*)'", text)
    return [tuple(map(float, point.split(","))) for point in path.split()]


@pytest.mark.parametrize("source", [busy(), Fake()], ids=["busy", "idle"])
def test_a_page_needs_nothing_that_the_browser_was_told_to_refuse(source):
    elements = Parsed(page(Watcher(source).look())).found
    for tag, attributes in elements:
        assert "style" not in attributes
        assert not any(name.startswith("on") for name in attributes)
        assert tag != "script" or attributes == {"src": "page.js", "defer": None}
        for name in ("src", "href"):
            assert re.match(r"page\.|data:,|\?run=", attributes.get(name, "data:,"))
    names = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(names) == len(set(names))


def test_whatever_comes_from_the_server_is_escaped():
    text = page(Watcher(busy()).look())
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "site &lt;b&gt;north&lt;/b&gt;: refused" in text


def test_a_curve_goes_from_corner_to_corner():
    assert points(curve([100.0, 10.0, 1.0], 0, "F", "words")) == [(0, 0), (50, 50), (100, 100)]
    assert points(curve([0.0, 5.0, 10.0], 0, "F", "words")) == [(0, 100), (50, 50), (100, 0)]


def test_rounds_without_a_figure_are_left_out():
    assert points(curve([4.0, float("nan"), 1.0], 1, "F", "")) == [(0, 0), (100, 100)]
    assert curve([float("inf")], 1, "F", "") == ""


@pytest.mark.parametrize("value", [3.0, 0.0, -2.0])
def test_a_level_line_is_in_the_middle(value):
    ((x, y), (x2, y2)) = points(curve([value, value], 1, "F", ""))
    assert (x, x2) == (0, 100)
    assert y == y2
    assert 40 < y < 60


def test_levels_can_be_told_apart():
    (ys,) = re.findall(r"class='ys'[^>]*>(.*?)</div>", curve([1.0002, 1.0001], 1, "F", ""))
    levels = re.findall(r"<span>(.*?)</span>", ys)
    assert levels[0] == "1.0002"
    assert len(set(levels)) == 4


def test_long_curves_are_thinned_and_keep_their_ends():
    whole = [(number, 1.0) for number in range(10_000)]
    kept = thinned(whole, POINTS)
    assert len(kept) == POINTS
    assert (kept[0], kept[-1]) == (whole[0], whole[-1])
    assert thinned(whole[:5], 300) == whole[:5]


def test_the_newest_mark_is_at_the_right():
    drawn = strip([SILENT, ANSWERED, MISSING], 5, "north")
    marks = re.findall(r"class='(\w+)' d='M([\d.]+)", drawn)
    assert marks == [("answered", "3.1"), ("missing", "4.1")]
    assert "aria-label='north'" in drawn
    assert "aria-hidden='true'" in strip([], 5)
