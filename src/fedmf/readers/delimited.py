"""Delimited text: .csv and .tsv, plain or gzipped, a sample in each line.

A header is optional: the first line is one where a cell after the first is not a number, where the
first cell is empty (as pandas writes an index), or where the cells count 0, 1, 2, ... as pandas
names columns; `header=` overrides that. The first column holds sample ids where its first cell is
not a number or its name is empty. The whole file is read into memory, as float64.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from pathlib import Path
from typing import IO, Any, NamedTuple

from fedmf.errors import DataError, FileFormatError
from fedmf.readers import _arrow
from fedmf.readers._content import Content, Wanted, check_known, check_unique, one_line

ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
BROKEN = (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error)


class Layout(NamedTuple):
    """How a file is laid out: its names (made up without a header) and what is not a number."""

    delimiter: str
    header: bool
    names: list[str]
    ids: str | None
    text: set[str]


def read(path: Path, wanted: Wanted, *, header: bool | None = None) -> Content:
    """Return the lines as samples; `header` says whether there is one (None: find out)."""
    import pyarrow as pa

    layout = _layout(path, wanted, header)
    try:
        table = _table(path, layout)
        found = _arrow.content(path, table, wanted, layout.ids)
    except (pa.ArrowException, DataError, *BROKEN) as problem:
        _find_fault(path, layout)
        if isinstance(problem, DataError):
            raise
        raise FileFormatError(f"{path}: cannot be read ({one_line(problem)})") from None
    if layout.header:
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
            lines = (line for line in csv.reader(file, delimiter=delimiter) if line)
            first, second = next(lines, []), next(lines, [])
    except BROKEN as problem:
        raise FileFormatError(f"{path}: cannot be read ({one_line(problem)})") from None
    if not first:
        raise FileFormatError(f"{path}: the file is empty")
    has_header = _is_header(first) if header is None else header
    names = first if has_header else [f"column {j + 1}" for j in range(len(first))]
    check_unique(path, "column", names)
    check_known(path, wanted, names if has_header else ())
    ids = wanted.samples or _index(names, second if has_header else first, wanted)
    text = {*wanted.names(), *([] if ids is None else [ids])}
    return Layout(delimiter, has_header, names, ids, text)


def _is_header(cells: list[str]) -> bool:
    counted = len(cells) > 2 and cells == [str(j) for j in range(len(cells))]
    rest = cells[1:] or cells
    return counted or not cells[0].strip() or not all(_is_number(cell) for cell in rest)


def _index(names: list[str], cells: list[str], wanted: Wanted) -> str | None:
    if names[0] in wanted.names():
        return None
    text = bool(cells) and bool(cells[0].strip()) and not _is_number(cells[0])
    return names[0] if text or not names[0].strip() else None


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
        skip_rows=_lines_above(path) if layout.header else 0,
        block_size=_block_size(path),
    )
    parsing = arrow.ParseOptions(delimiter=layout.delimiter)
    converting = arrow.ConvertOptions(column_types=kinds, strings_can_be_null=False)
    compression = "gzip" if path.name.lower().endswith(".gz") else None
    with pa.input_stream(str(path), compression=compression) as stream:
        return arrow.read_csv(stream, reading, parsing, converting)


def _lines_above(path: Path) -> int:
    """Return how many lines there are up to the end of the header: empty ones may come first."""
    with _open(path) as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                return number
    return 0


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
                if position or not layout.header:
                    _check_line(path, layout, number, cells)
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
            raise DataError(
                f"{place}: {cell!r} is not a number"
                " (a column of classes, sites or ids is named with labels=, sites= or samples=)"
            )
