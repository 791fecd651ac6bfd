"""Figures, tables and pages, and the page of runs.

figure, table   what is shown, said without drawing it
draw, svg       figures drawn, in files and as parts of a page
page            a page made of sections, in one file that needs no network
palette, words  the colours, the same for a method everywhere; numbers as people read them
record          a run as it is shown
runs            the page of runs
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fedmf.report.figure import Bar, Bars, Figure, Heat, Lines, Reference, Scatter, Series
from fedmf.report.looks import Look
from fedmf.report.page import Beside, Details, Html, Page, Section, Text
from fedmf.report.record import Record, read
from fedmf.report.table import Cell, Table, results

__all__ = [
    "Bar",
    "Bars",
    "Beside",
    "Cell",
    "Details",
    "Figure",
    "Heat",
    "Html",
    "Lines",
    "Look",
    "Page",
    "Record",
    "Reference",
    "Scatter",
    "Section",
    "Series",
    "Table",
    "Text",
    "read",
    "results",
    "write_figure",
    "write_page",
]


def write_figure(figure: Figure, path: Path) -> Path:
    """Write a figure as .pdf, .png or .svg."""
    from fedmf.report import draw  # matplotlib, which takes a moment to import

    return draw.write_figure(figure, path)


def write_page(folders: Sequence[Path], target: Path, kind: str = "tsne") -> Path:
    """Write the page of the runs in these folders; return its path.

    `kind` is that of the maps of samples: "tsne" (t-SNE), or "pca", which takes no time.
    """
    from fedmf.report.runs import page_of

    return page_of(folders, kind).write(target)
