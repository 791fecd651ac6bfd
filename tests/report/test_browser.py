"""Pages in a real browser: quiet, by themselves, readable, reachable by keyboard."""

import pytest

from fedmf.report import write_page
from report import samples


@pytest.fixture(scope="module")
def pages(folders, tmp_path_factory):
    """A page of samples and a page of runs."""
    home = tmp_path_factory.mktemp("pages")
    return {
        "samples": samples.page().write(home / "samples.html"),
        "runs": write_page(folders, home / "runs.html"),
    }


@pytest.mark.parametrize("name", ["samples", "runs"])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1100, 390], ids=["desk", "phone"])
def test_a_page_is_quiet_readable_and_fits(visit, pages, name, dark, width):
    seen = visit(pages[name], dark=dark, width=width)
    assert seen.complaints == []
    assert seen.violations() == []
    assert seen.too_wide() <= 0


def test_all_that_can_be_used_is_reached_by_keyboard(visit, pages):
    seen = visit(pages["samples"])
    stops = seen.stops()
    wanted = seen.page.locator("a, button, summary, [tabindex='0']").count()
    assert len(stops) == wanted
    assert [tag for tag, _ in stops].count("button") == 4


def test_a_table_is_sorted_by_key_and_by_click(visit, pages):
    page = visit(pages["samples"]).page
    column = page.locator("#table1 tbody tr td:nth-child(2)")
    heads = page.locator("#table1 th")
    button = heads.nth(1).get_by_role("button")
    button.focus()
    page.keyboard.press("Enter")
    assert column.all_text_contents() == ["9 %", "91 %", "100 %"]
    assert heads.nth(1).get_attribute("aria-sort") == "ascending"
    button.click()
    assert column.all_text_contents() == ["100 %", "91 %", "9 %"]
    heads.nth(2).get_by_role("button").click()  # an empty cell stays last
    assert column.all_text_contents() == ["9 %", "91 %", "100 %"]
    assert heads.nth(1).get_attribute("aria-sort") == "none"


def test_figures_have_a_size_and_text_that_can_be_selected(visit, pages):
    page = visit(pages["samples"]).page
    figures = page.locator("svg[role=img]")
    assert figures.count() == 7
    for place in range(figures.count()):
        box = figures.nth(place).bounding_box()
        assert box["width"] > 250
        assert box["height"] > 60
    assert page.get_by_text("objective F", exact=True).count() > 0


def test_data_can_be_downloaded(visit, pages, tmp_path):
    page = visit(pages["samples"]).page
    with page.expect_download() as waiting:
        page.locator("#lines a").click()
    waiting.value.save_as(tmp_path / "got.csv")
    assert waiting.value.suggested_filename == "lines.csv"
    assert (tmp_path / "got.csv").read_text("utf-8") == samples.lines().csv()


def test_paper_is_light_and_shows_what_was_folded(visit, pages):
    seen = visit(pages["samples"], dark=True, media="print")
    ink = seen.page.evaluate("getComputedStyle(document.body).color")
    assert ink == "rgb(27, 31, 36)"
    seen.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert seen.page.locator("details:not([open])").count() == 0
