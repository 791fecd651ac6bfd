"""A comparison's files: tables, a line for each run, the page.

comparison.csv   a row for each method: all means with their standard deviations
comparison.tex   the table of what matters most, for LaTeX
runs.csv         a row for each method and seed
report.html      the page
results/         every run, as it was done: what is there is not computed again
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fedmf.errors import ParameterError
from fedmf.files import is_temporary, write_text

if TYPE_CHECKING:
    from fedmf.comparison.outcome import Comparison

RESULTS = "results"  # the folder of the store
MEANS, LATEX, RUNS, PAGE = "comparison.csv", "comparison.tex", "runs.csv", "report.html"


def prepare(folder: Path) -> None:
    """Make a comparison's folder, or refuse one that holds something else."""
    if folder.exists() and not folder.is_dir():
        raise ParameterError(f"{folder} is a file: name another --out")
    held = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    others = [name for name in held if not is_temporary(name)]
    if others and not (folder / RESULTS).is_dir():
        raise ParameterError(f"{folder} holds other files ({others[0]}): name another --out")
    (folder / RESULTS).mkdir(parents=True, exist_ok=True)


def save(found: Comparison, folder: Path, name: str) -> list[Path]:
    """Write a comparison's files; return their paths, the page first."""
    from fedmf.comparison.page import page_of

    texts = {
        MEANS: found.table(whole=True).csv(),
        LATEX: found.table().latex(),
        RUNS: found.frame().to_csv(index=False),
    }
    for file, text in texts.items():
        write_text(folder / file, text)
    links = [(file, file) for file in texts]
    page = page_of(found, name, links).write(folder / PAGE)
    return [page, *(folder / file for file in texts)]
