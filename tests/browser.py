"""Pages in headless Chromium: opened with no way out, with all noted that a reader would miss.

    def test_my_page(visit, tmp_path):
        seen = visit(tmp_path / "page.html", dark=True, width=390)
        assert seen.complaints == []     # the console's errors, and requests that left the page
        assert seen.violations() == []   # axe-core: contrast and the rest of WCAG 2 A and AA

`seen.page` is Playwright's page. Without a browser these tests are skipped with a reason.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
OWN = {"127.0.0.1", "localhost"}
WCAG = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}
LIMIT = 400  # more stops than that on the way of the Tab key is a trap
FOCUSED = """() => {
    const own = document.activeElement;
    if (!own || own === document.body) return null;
    window.__visited = window.__visited || new Map();
    if (!window.__visited.has(own)) window.__visited.set(own, window.__visited.size);
    return [window.__visited.get(own), own.tagName.toLowerCase(),
            (own.getAttribute('aria-label') || own.textContent || '').trim().slice(0, 60)];
}"""


@dataclass
class Visit:
    """A page that is open, and what was wrong on the way."""

    page: Any
    complaints: list[str] = field(default_factory=list)

    def violations(self) -> list[str]:
        """Return what axe-core finds, a line each."""
        from axe_playwright_python.sync_playwright import Axe

        found = Axe().run(self.page, options=WCAG).response["violations"]
        return [
            f"{rule['id']}: {rule['help']}: {' '.join(node['target'])}: {node['html'][:200]}"
            for rule in found
            for node in rule["nodes"]
        ]

    def stops(self) -> list[tuple[str, str]]:
        """Press Tab until it comes round; return each stop's tag and name."""
        stops: dict[int, tuple[str, str]] = {}
        for _ in range(LIMIT):
            self.page.keyboard.press("Tab")
            focused = self.page.evaluate(FOCUSED)
            if focused is None or focused[0] in stops:
                return list(stops.values())
            stops[focused[0]] = (focused[1], focused[2])
        raise AssertionError(f"the Tab key does not come round in {LIMIT} stops")

    def too_wide(self) -> int:
        """Return by how many pixels the page is wider than the window."""
        return int(
            self.page.evaluate(
                "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
            )
        )


Opener = Callable[..., Visit]


def executable() -> str:
    """Return the browser, or skip the test."""
    found = os.environ.get("FEDMF_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("no browser: Chromium is not installed")
    return found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """Start the browser once for a file of tests."""
    path = executable()
    api = pytest.importorskip("playwright.sync_api", reason="no browser: no Playwright")
    pytest.importorskip("axe_playwright_python", reason="no browser: no axe-core")
    with api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any) -> Iterator[Opener]:
    """Return a function that opens a file or a loopback address."""
    contexts = []

    def open_page(
        target: Path | str,
        *,
        dark: bool = False,
        width: int = 1100,
        height: int = 850,
        media: str = "screen",
    ) -> Visit:
        context = chromium.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
        )
        contexts.append(context)
        page = context.new_page()
        page.emulate_media(media=media)
        seen = Visit(page)
        page.on("console", lambda said: _note(seen, said))
        page.on("pageerror", lambda error: seen.complaints.append(f"error: {error}"))
        page.route("**/*", lambda route: _let_through(seen, route))
        page.goto(target.resolve().as_uri() if isinstance(target, Path) else target)
        return seen

    yield open_page
    for context in contexts:
        context.close()


def _note(seen: Visit, said: Any) -> None:
    """Note what the console calls a warning or an error."""
    if said.type in ("error", "warning"):
        seen.complaints.append(f"{said.type}: {said.text}")


def _let_through(seen: Visit, route: Any) -> None:
    """Stop and note every request that is not for the page's own files or servers."""
    address = urlsplit(route.request.url)
    if address.scheme in ("file", "data", "blob") or address.hostname in OWN:
        route.continue_()
    else:
        seen.complaints.append(f"request: {route.request.url}")
        route.abort()
