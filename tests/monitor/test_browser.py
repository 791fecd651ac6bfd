"""The page in a real browser: quiet, by itself, readable, reachable by keyboard, up to date."""

import threading

import pytest

from fedmf.monitor.scene import Watcher
from fedmf.monitor.web import Web
from monitor.fake import busy, row


@pytest.fixture
def source():
    return busy()


@pytest.fixture
def web(source):
    with Web(Watcher(source), 0) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1100, 390], ids=["desk", "phone"])
def test_the_page_is_quiet_readable_and_fits(visit, web, dark, width):
    seen = visit(web.address, dark=dark, width=width)
    assert seen.complaints == []
    assert seen.violations() == []
    assert seen.too_wide() <= 0


def test_runs_are_chosen_and_tables_scrolled_by_keyboard(visit, web):
    seen = visit(web.address)
    stops = seen.stops()
    assert [tag for tag, _ in stops].count("a") == 3
    assert [tag for tag, _ in stops].count("div") == 2
    seen.page.focus("#run-20260101-080000-ffff")
    seen.page.keyboard.press("Enter")
    seen.page.wait_for_selector("h2:has-text('20260101-080000-ffff')")
    assert "run=20260101-080000-ffff" in seen.page.url
    assert seen.complaints == []


def test_it_brings_itself_up_to_date(visit, web, source):
    """A round more, a server away and back; the focus stays where it was."""
    seen = visit(web.address)
    page = seen.page
    page.focus("#run-20260101-100000-0000")
    source.rows.append(row(6, 1.5))
    source.runs[2]["state"] = "stopped"
    page.wait_for_selector("dd:has-text('6 of 20')")
    page.wait_for_selector("#runs .stopped")
    assert page.title() == "6/20 hearts"
    assert page.evaluate("document.activeElement.id") == "run-20260101-100000-0000"
    source.away = True
    page.wait_for_selector("#trouble:has-text('cannot be reached')")
    assert page.is_visible("dd:has-text('6 of 20')")
    source.away = False
    page.wait_for_selector("#trouble", state="hidden")
    assert seen.complaints == []


def test_it_says_when_its_own_server_has_ended(visit, web):
    seen = visit(web.address)
    assert not seen.page.is_visible("#gone")
    web.shutdown()
    web.server_close()
    seen.page.wait_for_selector("#gone", state="visible")
