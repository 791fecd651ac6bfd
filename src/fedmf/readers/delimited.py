"""Delimited text: .csv and .tsv, plain or gzipped, a sample in each line.

A header is optional: the first line is one where a cell after the first is not a number, where the
first cell is empty (as pandas writes an index), or where the cells count 0, 1, 2, ... as pandas
names columns; `header=` overrides that. The first column holds sample ids where its first cell is
not a number; where its name is empty, or the header has no name for it (as R writes tables), it is
never a feature. The whole file is read into memory, as float64.
"""

from __future__ import annotations

import csv
import gzip
import re
import zlib
from pathlib import Path
from typing import IO, Any, NamedTuple

from fedmf.errors import DataError, FileFormatError
from fedmf.readers import _arrow
from fedmf.readers._content import (
    NO_FEATURE,
    Content,
    Wanted,
    check_known,
    check_unique,
    one_line,
    undecodable,
)

ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
BROKEN = (OSError, EOFError, zlib.error, csv.Error)


class Layout(NamedTuple):
    """How a file is laid out: its names (made up without a header) and what is not a number."""

    delimiter: str
    above: int  # lines up to the end of the header
    names: list[str]
    row_names: list[str]
    text: set[str]


def read(path: Path, wanted: Wanted, *, header: bool | None = None) -> Content:
    """Return the lines as samples; `header` says whether there is one (None: find out)."""
    import pyarrow as pa

    layout = _layout(path, wanted, header)
    try:
        table = _table(path, layout)
        found = _arrow.content(path, table, wanted, layout.row_names)
    except (pa.ArrowException, DataError, *BROKEN) as problem:
        _find_fault(path, layout)
        if isinstance(problem, DataError):
            raise
        raise FileFormatError(f"{path}: cannot be read ({one_line(problem)})") from None
    if layout.above:
        return found
    return Content(found.X, None, found.samples, found.columns)


def _open(path: Path) -> IO[str]:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def _layout(path: Path, wanted: Wanted, header: bool | None) -> Layout:
    delimiter = "\t" if ".tsv" in path.name.lower()[-7:] else ","
    try:
        with _open(path) as file:
            reader = csv.reader(file, delimiter=delimiter)
            lines = (line for line in reader if line)
            first = next(lines, [])
            above = reader.line_num
            second = next(lines, [])
    except UnicodeDecodeError as problem:
        raise undecodable(path, problem) from None
    except BROKEN as problem:
        raise FileFormatError(f"{path}: cannot be read ({one_line(problem)})") from None
    if not first:
        raise FileFormatError(f"{path}: the file is empty")
    if len(first) == 1 and any(other in first[0] for other in {",", ";", "\t"} - {delimiter}):
        raise FileFormatError(
            f"{path}: its cells are not separated by {delimiter!r}: it begins {first[0][:40]!r}"
        )
    if not (_is_header(first) if header is None else header):
        above, second, names = 0, first, [f"column {j + 1}" for j in range(len(first))]
    elif len(second) == len(first) + 1 and not _is_number(second[0]):
        names = ["", *first]
    else:
        names = first
    check_unique(path, "column", names)
    check_known(path, wanted, names if above else ())
    rows = _row_names(names, second, wanted)
    return Layout(delimiter, above, names, rows, {*wanted.all_names(), *rows})


def _is_header(cells: list[str]) -> bool:
    counted = len(cells) > 2 and cells == [str(j) for j in range(len(cells))]
    rest = cells[1:] or cells
    return counted or not cells[0].strip() or not all(_is_number(cell) for cell in rest)


def _row_names(names: list[str], cells: list[str], wanted: Wanted) -> list[str]:
    """Return the first column's name where it names the rows; `cells` are those of a sample."""
    text = bool(cells) and bool(cells[0].strip()) and not _is_number(cells[0])
    nameless = not names[0].strip()
    return names[:1] if nameless or (text and wanted.samples is None) else []


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _table(path: Path, layout: Layout) -> Any:
    import pyarrow as pa
    from pyarrow import csv as arrow

    kinds = {name: pa.string() if name in layout.text else pa.float64() for name in layout.names}
    reading = arrow.ReadOptions(
        column_names=layout.names,
        skip_rows_after_names=0,
        skip_rows=layout.above,
        block_size=_block_size(path),
    )
    parsing = arrow.ParseOptions(delimiter=layout.delimiter)
    converting = arrow.ConvertOptions(column_types=kinds, strings_can_be_null=False)
    compression = "gzip" if path.name.lower().endswith(".gz") else None
    with pa.input_stream(str(path), compression=compression) as stream:
        return arrow.read_csv(stream, reading, parsing, converting)


def _block_size(path: Path) -> int:
    """Return a block that surely holds a line: Arrow refuses a line longer than its block."""
    with _open(path) as file:
        longest = max((len(line) for _, line in zip(range(2), file, strict=False)), default=0)
    return max(1 << 22, 32 * longest)


def _find_fault(path: Path, layout: Layout) -> None:
    """Raise for the first ragged line or bad cell, with its place; slow, only after a failure."""
    try:
        with _open(path) as file:
            lines = csv.reader(file, delimiter=layout.delimiter)
            body = ((lines.line_num, cells) for cells in lines if cells)
            for position, (number, cells) in enumerate(body):
                if position or not layout.above:
                    _check_line(path, layout, number, cells)
    except UnicodeDecodeError as problem:
        raise undecodable(path, problem) from None
    except BROKEN as problem:
        raise FileFormatError(f"{path}: cut short or damaged ({one_line(problem)})") from None


def _check_line(path: Path, layout: Layout, number: int, cells: list[str]) -> None:
    if len(cells) != len(layout.names):
        raise FileFormatError(
            f"{path}: line {number} has {len(cells)} cells, the first line {len(layout.names)}"
        )
    for name, cell in zip(layout.names, cells, strict=True):
        place = f"{path}: line {number}, column {name!r}"
        if name in layout.text:
            continue
        if cell.strip().lower() in {"", "na", "n/a", "nan", "null"}:
            raise DataError(f"{place}: there is no value ({cell!r})")
        if not _is_number(cell):
            comma = re.fullmatch(r"\s*[-+]?[\d.]*,[\d,.]+\s*", cell)
            hint = "(a number has a decimal point and no commas)" if comma else NO_FEATURE
            raise DataError(f"{place}: {cell!r} is not a number {hint}")
