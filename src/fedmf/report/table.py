"""A table on a page: its columns can be sorted, and it gives itself away as CSV."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from typing import NamedTuple, TypeAlias

import numpy as np

from fedmf import tables
from fedmf.errors import ParameterError


class Cell(NamedTuple):
    """A cell with more than its text.

    value : what it is sorted by and what a CSV has; without, the text.
    method : whose colour is shown beside it.
    best : in bold.
    tone : "good", "bad" or "open" for a verdict, with its sign.
    """

    text: str
    value: float | str | None = None
    method: str = ""
    best: bool = False
    tone: str = ""


Value: TypeAlias = Cell | str | float | int | None


@dataclass(frozen=True, eq=False)
class Table:
    """Rows below headings; a column of numbers stands to the right.

    `caption` says what the table is. `key` names its files and its anchor. `wrap` names columns of
    words that may run over several lines.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[Value]]
    caption: str = ""
    key: str = ""
    sortable: bool = True
    wrap: Sequence[str] = ()
    links: Sequence[tuple[str, str]] = ()
    data: bool = False  # whether the page offers it as CSV

    def __post_init__(self) -> None:
        """Refuse rows of another length than the headings."""
        for row in self.rows:
            if len(row) != len(self.headings):
                raise ParameterError(
                    f"table {self.caption or self.key!r}: a row has {len(row)} cells for "
                    f"{len(self.headings)} headings"
                )

    def cells(self) -> list[list[Cell]]:
        """Return every row as cells."""
        return [[as_cell(value) for value in row] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Return which columns hold numbers, or nothing, in all rows."""
        columns = zip(*self.cells(), strict=True) if self.rows else [[]] * len(self.headings)
        return [
            any(_number(cell) for cell in column)
            and all(_number(cell) or not cell.text for cell in column)
            for column in columns
        ]

    def csv(self) -> str:
        """Return the table as CSV."""
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(self.headings)
        for row in self.cells():
            writer.writerow([cell.text if cell.value is None else cell.value for cell in row])
        return out.getvalue()


def results(
    table: tables.Table, methods: Sequence[str] = (), caption: str = "", key: str = ""
) -> Table:
    """Return a table of results for a page: the best in bold, a row's method by its colour."""
    best = table.best()
    rows = [
        [
            Cell("" if cell is None else word, _sorted_by(cell), best=(line, place) in best)
            for place, (cell, word) in enumerate(zip(row.cells, words, strict=True))
        ]
        for line, (row, words) in enumerate(zip(table.rows, table.words(), strict=True))
    ]
    for row, method in zip(rows, methods, strict=False):
        row[0] = row[0]._replace(method=method)
    return Table(table.headings, rows, caption, key)


def as_cell(value: Value) -> Cell:
    """Return a value as a cell; None is an empty one."""
    if isinstance(value, Cell):
        return value
    if value is None:
        return Cell("")
    if isinstance(value, bool | np.bool_):
        return Cell("yes" if value else "no")
    if isinstance(value, int | np.integer):
        return Cell(f"{value:,}", int(value))
    if isinstance(value, float | np.floating):
        return Cell(f"{value:,.6g}", float(value)) if np.isfinite(value) else Cell("")
    return Cell(str(value))


def _number(cell: Cell) -> bool:
    return isinstance(cell.value, int | float)


def _sorted_by(cell: tables.Cell) -> float | None:
    """Return what a cell of results is sorted by: a mean without its spread."""
    value = cell.mean if isinstance(cell, tables.Mean) else cell
    return None if value is None or isinstance(value, str | bool) else float(value)
