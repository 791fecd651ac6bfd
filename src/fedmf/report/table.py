"""A table: on a page, where its columns can be sorted, and as CSV and LaTeX."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from fedmf.errors import ParameterError
from fedmf.files import write_text

LATEX = {
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}


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

    def latex(self) -> str:
        """Return the table as a LaTeX tabular, which needs no package."""
        columns = "".join("r" if numeric else "l" for numeric in self.numeric())
        head = " & ".join(map(_latex, self.headings))
        lines = [
            " & ".join(rf"\textbf{{{_latex(c.text)}}}" if c.best else _latex(c.text) for c in row)
            for row in self.cells()
        ]
        body = "".join(f"{line} \\\\\n" for line in lines)
        return (
            f"\\begin{{tabular}}{{{columns}}}\n\\hline\n{head} \\\\\n\\hline\n"
            f"{body}\\hline\n\\end{{tabular}}\n"
        )


def write_table(table: Table, path: Path) -> Path:
    """Write a table as .csv or .tex."""
    forms = {".csv": table.csv, ".tex": table.latex}
    if path.suffix not in forms:
        raise ParameterError(f"{path}: a table is written as {' or '.join(forms)}")
    write_text(path, forms[path.suffix]())
    return path


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


def _latex(text: Any) -> str:
    return "".join(LATEX.get(sign, sign) for sign in str(text))
