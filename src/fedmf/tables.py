r"""Tables of results: texts, numbers, and means with their spread, as words, as CSV and as LaTeX.

    table = Table(
        [Column("method"), Column("accuracy", "accuracy, %", digits=1, best="high")],
        [Row(["FedMGS", Mean.of([86.1, 88.4])]), Row(["K-means++", Mean.of([52.0])], apart=True)],
    )
    table.words(), table.csv(), table.latex()

A cell is a text, a number, true or false, a `Mean`, or None where there is nothing to say. In a CSV
file numbers are whole and a mean has two columns, NAME and NAME_sd; elsewhere they are as the
column shows them, a mean as 87.2 ± 1.6.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from statistics import fmean, stdev
from typing import NamedTuple, TypeAlias

NOTHING = "-"


class Mean(NamedTuple):
    """The mean of some values, and their standard deviation (of a sample; NaN of a single one)."""

    mean: float
    spread: float
    size: int  # how many values

    @classmethod
    def of(cls, values: Iterable[float], scale: float = 1.0) -> Mean:
        """Return the mean of values, of which there is at least one, times a scale."""
        found = [scale * float(value) for value in values]
        return cls(fmean(found), stdev(found) if len(found) > 1 else math.nan, len(found))


Cell: TypeAlias = str | bool | int | float | Mean | None


@dataclass(frozen=True)
class Column:
    """A column.

    Parameters
    ----------
    name : in a CSV file.
    title : over the column elsewhere; None: the name.
    digits : behind the point, where numbers are shown.
    show : writes a number in another way; without `spread`, a mean is shown as the mean alone.
    best : "high" or "low", where the best of the column is to stand out.
    """

    name: str
    title: str | None = None
    digits: int = 1
    show: Callable[[float], str] | None = None
    spread: bool = True
    best: str | None = None

    @property
    def heading(self) -> str:
        """What stands over the column."""
        return self.name if self.title is None else self.title

    def word(self, cell: Cell) -> str:
        """Return a cell as it is read."""
        if cell is None:
            return NOTHING
        if isinstance(cell, str):
            return cell
        if isinstance(cell, bool):
            return "yes" if cell else "no"
        if isinstance(cell, Mean):
            told = self.spread and not math.isnan(cell.spread)
            return self._number(cell.mean) + (f" ± {self._number(cell.spread)}" if told else "")
        return self._number(cell)

    def _number(self, value: float) -> str:
        if math.isnan(value):
            return NOTHING
        return f"{value:,.{self.digits}f}" if self.show is None else self.show(value)


@dataclass(frozen=True)
class Row:
    """A row; `apart`: it is no part of the comparison, like a pooled reference, and comes last."""

    cells: Sequence[Cell]
    apart: bool = False


@dataclass(frozen=True)
class Table:
    """Columns and rows."""

    columns: Sequence[Column]
    rows: Sequence[Row]

    def __post_init__(self) -> None:
        """Refuse rows of another length than the columns have."""
        for row in self.rows:
            if len(row.cells) != len(self.columns):
                raise ValueError(f"a row has {len(row.cells)} of {len(self.columns)} cells")

    @property
    def headings(self) -> list[str]:
        """What stands over the columns."""
        return [column.heading for column in self.columns]

    def words(self) -> list[list[str]]:
        """Return all cells as they are read, row by row."""
        return [
            [column.word(cell) for column, cell in zip(self.columns, row.cells, strict=True)]
            for row in self.rows
        ]

    def best(self) -> set[tuple[int, int]]:
        """Return the places (row, column) of the best of each column that has one.

        What reads the same as the best is as good.
        """
        found: set[tuple[int, int]] = set()
        for place, column in enumerate(self.columns):
            cells = {line: row.cells[place] for line, row in enumerate(self.rows) if not row.apart}
            values = {line: _value(cell) for line, cell in cells.items()}
            known = {line: value for line, value in values.items() if not math.isnan(value)}
            if column.best is None or len(known) < 2:
                continue
            top = (max if column.best == "high" else min)(known, key=known.__getitem__)
            shown = column._number(known[top])
            found |= {(line, place) for line in known if column._number(known[line]) == shown}
        return found

    def csv(self) -> str:
        """Return the table as CSV."""
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        wide = [
            any(isinstance(row.cells[place], Mean) for row in self.rows)
            for place in range(len(self.columns))
        ]
        pairs = list(zip(self.columns, wide, strict=True))
        writer.writerow([name for c, two in pairs for name in (c.name, f"{c.name}_sd")[: 1 + two]])
        for row in self.rows:
            values = zip(row.cells, wide, strict=True)
            writer.writerow([text for cell, two in values for text in _plain(cell)[: 1 + two]])
        return out.getvalue()

    def latex(self, caption: str | None = None) -> str:
        r"""Return the table as a tabular for LaTeX, in a table with a caption where one is given.

        The best of a column is bold. It needs \usepackage{booktabs}.
        """
        best, lines = self.best(), []
        for place, (row, words) in enumerate(zip(self.rows, self.words(), strict=True)):
            if row.apart and place and not self.rows[place - 1].apart:
                lines.append(r"\midrule")
            cells = [_latex(word, (place, column) in best) for column, word in enumerate(words)]
            lines.append(" & ".join(cells) + r" \\")
        kinds = "l" + "r" * (len(self.columns) - 1)
        heads = " & ".join(map(_latex, self.headings)) + r" \\"
        tabular = [
            rf"\begin{{tabular}}{{{kinds}}}", r"\toprule", heads, r"\midrule",
            *lines, r"\bottomrule", r"\end{tabular}",
        ]  # fmt: skip
        if caption is not None:
            tabular = [r"\begin{table}", r"\centering", rf"\caption{{{_latex(caption)}}}",
                       *tabular, r"\end{table}"]  # fmt: skip
        return "\n".join(["% needs \\usepackage{booktabs}", *tabular]) + "\n"


def _value(cell: Cell) -> float:
    """Return what a cell counts for among the best: NaN where it is no number."""
    if isinstance(cell, Mean):
        return cell.mean
    return math.nan if cell is None or isinstance(cell, str | bool) else float(cell)


def _plain(cell: Cell) -> tuple[str, str]:
    """Return a cell's value and spread for CSV, empty where there is none."""
    if isinstance(cell, Mean):
        return _plain(cell.mean)[0], _plain(cell.spread)[0]
    if cell is None or (isinstance(cell, float) and math.isnan(cell)):
        return "", ""
    if isinstance(cell, bool):
        return "yes" if cell else "no", ""
    if isinstance(cell, float):
        return f"{cell:.10g}", ""
    return str(cell), ""


SPECIAL = {sign: f"\\{sign}" for sign in "#$%&_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "<": r"$<$",
    ">": r"$>$",
    "|": r"$|$",
}


def _latex(text: str, bold: bool = False) -> str:
    """Return a text for LaTeX."""
    safe = "".join(SPECIAL.get(sign, sign) for sign in text)
    return rf"\textbf{{{safe}}}" if bold else safe
