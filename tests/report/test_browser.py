"""The page of runs in a real browser: quiet, by itself, readable, reachable by keyboard."""

import numpy as np
import pytest

import fedmf
from fedmf.report import write_page


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of two runs."""
    home = tmp_path_factory.mktemp("runs")
    random = np.random.default_rng(0)
    sites = [random.uniform(size=(n, 6)) for n in (12, 30, 1, 7)]
    for name, algorithm in {"mgs": fedmf.FedMGS(participants=2), "avg": fedmf.FedMAvg()}.items():
        fedmf.fit(sites, fedmf.Problem(rank=2), algorithm, rounds=8).save(home / name)
    return write_page([home / "mgs", home / "avg"], home / "page.html")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1100, 390], ids=["desk", "phone"])
def test_the_page_is_quiet_readable_and_fits(visit, page, dark, width):
    seen = visit(page, dark=dark, width=width)
    assert seen.complaints == []
    assert seen.violations() == []
    assert seen.too_wide() <= 0


def test_details_are_reached_by_keyboard(visit, page):
    stops = visit(page).stops()
    tags = [tag for tag, _ in stops]
    assert tags.count("summary") == 4
    assert tags.count("figure") == 4
