"""The table: our means next to the paper's figures, as a table for files and one for a page."""

from __future__ import annotations

from fedmf.paper.exhibit import Exhibit, Panel, Series
from fedmf.paper.verdict import Results
from fedmf.report import Cell, Table
from fedmf.tables import Column, Mean, Row
from fedmf.tables import Table as Means

PAPER = "paper"


def means(exhibit: Exhibit, results: Results) -> Means:
    """Return the means in per cent with their spread, how many they are of, and the paper's."""
    columns = [Column("method")]
    for panel in exhibit.panels:
        name = panel.name
        columns += [
            Column(name, best="high"),
            Column(f"{name}, {PAPER}", PAPER),
            Column(f"{name}, starting points", "n", digits=0),
        ]
    return Means(columns, [_row(exhibit, results, row) for row in _rows(exhibit)])


def _rows(exhibit: Exhibit) -> list[str]:
    """Return the rows' labels, those that the paper has not last."""
    labels = dict.fromkeys(one.label for one in exhibit.series.values())
    return sorted(labels, key=lambda label: label in exhibit.apart)


def _row(exhibit: Exhibit, results: Results, label: str) -> Row:
    cells: list[str | Mean | float | int | None] = [label]
    for panel in exhibit.panels:
        one = _series(panel, label)
        own = list(results[one.key].values())
        values = [result.scores[exhibit.score] for result in own]
        cells += [Mean.of(values, 100) if values else None, one.paper, len(own)]
    return Row(cells, apart=label in exhibit.apart)


def _series(panel: Panel, label: str) -> Series:
    return next(one for one in panel.series if one.label == label)


def shown(exhibit: Exhibit, results: Results) -> Table:
    """Return the table for a page: two columns for each data set, the best of ours in bold."""
    whole = means(exhibit, results)
    words, best = whole.words(), whole.best()
    headings = ["method"]
    known = [any(one.paper is not None for one in panel.series) for panel in exhibit.panels]
    for panel, told in zip(exhibit.panels, known, strict=True):
        headings += [panel.name, PAPER] if told else [panel.name]
    rows = []
    for line, (row, texts) in enumerate(zip(whole.rows, words, strict=True)):
        label = texts[0]
        method = str(_series(exhibit.panels[0], label).trials[0].method["name"])
        cells = [Cell(label, method=method)]
        for place, told in zip(range(1, len(whole.columns), 3), known, strict=True):
            ours, theirs, count = row.cells[place : place + 3]
            mean = ours.mean if isinstance(ours, Mean) else None
            text = f"{texts[place]} ({count})" if mean is not None else "no runs yet"
            cells.append(Cell(text, mean, best=(line, place) in best))
            if told:
                value = theirs if isinstance(theirs, float) else None
                cells.append(Cell("" if value is None else texts[place + 1], value))
        rows.append(cells)
    caption = "Mean ± standard deviation in per cent (starting points), and the paper's figure"
    return Table(headings, rows, caption, exhibit.name)
