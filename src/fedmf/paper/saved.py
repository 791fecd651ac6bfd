"""The files of a reproduction.

report.html          the page
figures/NAME.EXT     each figure as .pdf and .png, and its data as .csv
tables/NAME.EXT      the table as .csv and .tex
claims.csv           every claim with its verdict
trials/              the results, unless they are kept elsewhere

and, for a folder of documents, results.md with figures/NAME.svg (a map as .png).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fedmf.files import write_text
from fedmf.paper import scores
from fedmf.paper.document import document
from fedmf.paper.page import alone, page_of
from fedmf.paper.shown import Shown
from fedmf.report import Table, write_figure

PAGE, DOCUMENT, CLAIMS = "report.html", "results.md", "claims.csv"
FIGURES, TABLES = "figures", "tables"
NAMES = {".pdf": "PDF", ".png": "PNG", ".tex": "LaTeX"}  # what the page holds needs no link


def save(shown: Sequence[Shown], shared: str, folder: Path) -> list[Path]:
    """Write all files; return their paths, the page first."""
    links: dict[str, list[tuple[str, str]]] = {}
    written = []
    for one in shown:
        files = _figure(one, folder) + _table(one, folder)
        links[one.name] = [
            (NAMES[path.suffix], path.relative_to(folder).as_posix())
            for path in files
            if path.suffix in NAMES
        ]
        written += files
    claims = folder / CLAIMS
    write_text(claims, _claims(shown).csv())
    return [page_of(shown, shared, links).write(folder / PAGE), claims, *written]


def _figure(one: Shown, folder: Path) -> list[Path]:
    """Write a figure's files."""
    if one.figure is None:
        return []
    home = _made(folder / FIGURES)
    paths = [write_figure(one.figure, home / f"{one.name}.{kind}") for kind in ("pdf", "png")]
    data = home / f"{one.name}.csv"
    write_text(data, one.figure.csv())
    return [*paths, data]


def _table(one: Shown, folder: Path) -> list[Path]:
    """Write a table's files."""
    if one.exhibit.kind != "table":
        return []
    home, means = _made(folder / TABLES), scores.means(one.exhibit, one.results)
    texts = {"csv": means.csv(), "tex": means.latex(one.exhibit.caption)}
    for kind, text in texts.items():
        write_text(home / f"{one.name}.{kind}", text)
    return [home / f"{one.name}.{kind}" for kind in texts]


def _claims(shown: Sequence[Shown]) -> Table:
    """Return all claims with their verdicts."""
    rows = [
        (one.exhibit.paper, v.claim.says, v.claim.measure, v.words, alone(v), " | ".join(v.seen))
        for one in shown
        for v in one.verdicts
    ]
    headings = ("figure", "claim", "measure", "verdict", "starting points alone", "seen")
    return Table(headings, rows)


def save_document(shown: Sequence[Shown], command: str, folder: Path) -> Path:
    """Write the Markdown page and its pictures; return its path."""
    pictures = {}
    for one in shown:
        if one.figure is None:
            continue
        kind = "png" if one.exhibit.kind == "map" else "svg"
        path = _made(folder / FIGURES) / f"{one.name}.{kind}"
        pictures[one.name] = write_figure(one.figure, path).relative_to(folder).as_posix()
    write_text(folder / DOCUMENT, document(shown, command, pictures))
    return folder / DOCUMENT


def _made(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder
