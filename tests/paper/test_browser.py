"""The page of the paper in a real browser: quiet, by itself, readable, reachable by keyboard."""

import pytest

from fedmf.paper import read
from fedmf.paper.saved import save
from fedmf.paper.shown import shared_settings, show


@pytest.fixture(scope="module")
def page(exhibits, store, tmp_path_factory):
    names = ("fig1", "fig7", "table1")
    shown = [show(read(name, folder=exhibits), store, exhibits) for name in names]
    return save(shown, shared_settings(exhibits), tmp_path_factory.mktemp("page"))[0]


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1100, 400], ids=["desk", "phone"])
def test_the_page_is_quiet_readable_and_fits(visit, page, dark, width):
    seen = visit(page, dark=dark, width=width)
    assert seen.complaints == []
    assert seen.violations() == []
    assert seen.too_wide() <= 0


def test_every_figure_is_there_and_large_enough(visit, page):
    seen = visit(page).page
    figures = seen.locator("svg[role=img]")
    assert figures.count() == 2 + 3  # panels of curves, maps
    for place in range(figures.count()):
        box = figures.nth(place).bounding_box()
        assert box["width"] > 250
        assert box["height"] > 150
    for name in ("fig1", "fig7", "table1"):
        assert seen.locator(f"#{name}").count() == 1


@pytest.mark.parametrize("width", [1100, 400], ids=["desk", "phone"])
def test_all_that_can_be_used_is_reached_by_keyboard(visit, page, width):
    seen = visit(page, width=width)
    every = seen.page.locator("a, button, summary, [tabindex='0']").all()
    assert len(seen.stops()) == sum(one.is_visible() for one in every)


def test_settings_are_unfolded_by_key(visit, page):
    seen = visit(page).page
    summary = seen.get_by_text("Settings: fig1.toml")
    summary.focus()
    seen.keyboard.press("Enter")
    assert seen.get_by_text('label = "A"').first.is_visible()


def test_links_to_files_beside_the_page_lead_somewhere(visit, page):
    links = visit(page).page.locator("a:not([href^='#']):not([href^='data:'])").all()
    addresses = [link.get_attribute("href") for link in links]
    assert len(addresses) == 2 * 2 + 1
    assert all((page.parent / address).is_file() for address in addresses)
