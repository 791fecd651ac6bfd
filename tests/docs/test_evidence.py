"""docs/results/clusters.md is what its command makes of the results that are kept."""

import json
import re
import runpy
from pathlib import Path
from statistics import fmean

import pytest

ROOT = Path(__file__).parents[2]
PAGE, STORE = ROOT / "docs/results/clusters.md", ROOT / "docs/results/trials"


@pytest.fixture(scope="module")
def evidence():
    return runpy.run_path(str(ROOT / "benchmarks/evidence.py"))["main"]


def rows(text, name):
    """Return the rows of one of the page's tables as lists of cells."""
    table = re.search(rf"<!-- {name} -->\n(.*?)<!-- end -->", text, re.DOTALL)[1]
    return [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]


def test_the_page_is_up_to_date(evidence):
    assert evidence(["--check"]) == 0, "run: python benchmarks/evidence.py"


def test_a_page_that_says_something_else_is_found_and_mended(evidence, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("Before.\n<!-- defaults -->\n| old |\n<!-- end -->\nAfter.\n", encoding="utf-8")
    assert evidence(["--page", str(page), "--check"]) == 1
    assert evidence(["--page", str(page)]) == 0
    assert evidence(["--page", str(page), "--check"]) == 0
    new = page.read_text(encoding="utf-8")
    assert (new[:8], new[-7:]) == ("Before.\n", "After.\n")
    assert rows(new, "defaults") == rows(PAGE.read_text(encoding="utf-8"), "defaults")


def test_a_cell_is_the_mean_of_its_files_and_its_margins_follow():
    def accuracies(folder, start, wanted):
        found = []
        for path in (STORE / folder).glob(f"{start}-s*.json"):
            result = json.loads(path.read_text(encoding="utf-8"))
            if all(result["trial"].get(name) == value for name, value in wanted.items()):
                found.append(100 * result["scores"]["accuracy"])
        return found

    line = next(
        cells
        for cells in rows(PAGE.read_text(encoding="utf-8"), "defaults")
        if cells[:3] == ["MNIST", "1", "100"]
    )
    own = accuracies("mnist", "mnist-iid-fedmgs", {"init": "linkage"})
    pooled = accuracies("mnist", "mnist-kmeans++", {"method": {"name": "kmeans++", "n_init": 1}})
    assert line[3].startswith(f"{fmean(own):.1f} ± ")
    assert line[3].endswith(f"({len(own)})")
    assert line[6].endswith(f"({len(pooled)})")
    assert float(line[7]) == pytest.approx(fmean(own) - fmean(pooled), abs=0.051)
    assert (line[8] == "yes") == (float(line[5]) >= 3 and float(line[7]) >= 0)
