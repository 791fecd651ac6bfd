"""A user's own data: a file of any readable format, or a folder with one file for each site.

Labels, sites and sample ids come from a column (its name), from a second file (a name that ends
like one of .npy, .csv, .tsv, .txt, the texts perhaps gzipped, or a `Path`), or as an array.
"""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from fedmf import readers
from fedmf.datasets._table import Table, check_finite
from fedmf.errors import (
    DataError,
    FileFormatError,
    MissingDataError,
    ParameterError,
    SiteMismatchError,
)
from fedmf.readers import Content, Vector, Wanted
from fedmf.readers._content import check_unique, one_line, undecodable
from fedmf.readers.npy import open_array

Given: TypeAlias = str | Path | Sequence[Any] | Vector | None
"""A column's name, a file, or one value for each sample."""

LISTS = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")


def load_file(
    path: Path,
    *,
    labels: Given = None,
    sites: Given = None,
    samples: str | None = None,
    drop: Sequence[str] = (),
    check: bool = True,
    **options: object,
) -> Table:
    """Read one file without the columns to `drop`.

    `check=False` leaves out the pass that looks for NaN and infinities.
    """
    dropped = (drop,) if isinstance(drop, str) else tuple(drop)
    columns = Wanted(_column(labels), _column(sites), samples, dropped)
    content = readers.read(path, columns, **options)
    ids = content.samples
    if samples is not None:
        ids = tuple(map(str, content.columns[samples].tolist()))
    if ids is not None:
        check_unique(path, "sample id", ids)
    if check:
        check_finite(content.X, str(path))
    return Table(
        content.X,
        labels=_values(path, content, ids, "labels", labels),
        sites=_values(path, content, ids, "sites", sites),
        features=content.features,
        samples=ids,
        name=stem(path),
        source=str(path),
    )


def load_folder(folder: Path, **options: object) -> dict[str, Table]:
    """Read a folder with one file for each site: {file's stem: table}, sorted by stem."""
    if "sites" in options:
        raise ParameterError(f"{folder}: sites cannot be given: in a folder each file is a site")
    paths = sorted(p for p in folder.iterdir() if p.is_file() and not p.name.startswith("."))
    if not paths:
        raise MissingDataError(f"{folder}: the folder holds no file (one for each site is wanted)")
    check_unique(folder, "site", [stem(path) for path in paths])
    return {stem(path): load_file(path, **options) for path in paths}  # type: ignore[arg-type]


def stem(path: Path) -> str:
    """Return the file's name without its ending (".csv.gz" is one ending)."""
    return path.name[: -len(readers.ending(path) or "")] or path.name


def names_file(given: object) -> bool:
    """Whether labels or sites are given as a file, rather than as a column or an array."""
    name = given.lower() if isinstance(given, str) else ""
    return isinstance(given, Path) or name.endswith((".npy", *LISTS))


def _column(given: Given) -> str | None:
    return given if isinstance(given, str) and not names_file(given) else None


def _values(
    path: Path, content: Content, ids: tuple[str, ...] | None, what: str, given: Given
) -> Vector | None:
    """Return the labels or sites, (N,), wherever they come from."""
    if given is None:
        return None
    place, count = f"{path}: {what}", content.X.shape[0]
    if isinstance(given, str) and not names_file(given):
        values = content.columns[given]
    elif isinstance(given, str | Path):
        place = f"{given}: {what} of {path.name}"
        values = _second_file(Path(given), place, count, ids)
    else:
        values = np.asarray(given)
    if values.shape != (count,):
        raise DataError(f"{place}: {count} samples, but the {what} have shape {values.shape}")
    return tidy(values, place, missing=what == "labels")


def tidy(values: Vector, place: str, *, missing: bool) -> Vector:
    """Return ids as whole numbers if all are, else as text; an empty one is -1 or "none"."""
    if values.dtype.kind == "i":
        return values.astype(np.int64)
    cells = [_text(value) for value in values.tolist()]
    if "" in cells and not missing:
        raise DataError(f"{place}: sample {cells.index('') + 1} has none")
    if all(_is_whole(cell) for cell in cells):
        return np.array([int(cell or -1) for cell in cells], dtype=np.int64)
    return np.array([cell or "none" for cell in cells])


def _text(value: object) -> str:
    """Return one id as text: "" if it is missing, 3.0 as "3"."""
    if value is None or value != value:  # NaN and pandas' NaT are not equal to themselves
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode(errors="replace").strip()
    return str(value).strip()


def _is_whole(cell: str) -> bool:
    digits = cell[1:] if cell.startswith("-") else cell
    kept = digits == "0" or not digits.startswith("0")  # "007" is a name, not seven
    return not cell or (digits.isascii() and digits.isdigit() and kept and len(digits) < 19)


def _second_file(path: Path, place: str, count: int, ids: tuple[str, ...] | None) -> Vector:
    """Return one value for each sample, from .npy or from lines of `value` or `id, value`."""
    if not path.is_file():
        raise MissingDataError(f"{place}: there is no such file")
    if path.suffix.lower() == ".npy":
        return np.asarray(open_array(path))
    if not path.name.lower().endswith(LISTS):
        raise FileFormatError(f"{place}: unknown ending (allowed: .npy, {', '.join(LISTS)})")
    lines = _lines(path, place)
    widths = {len(line) for line in lines}
    if widths == {1}:
        return _in_order([line[0] for line in lines], place, count)
    if widths == {2}:
        return _by_id(lines, place, ids)
    raise FileFormatError(f"{place}: lines must have one cell or two, got {sorted(widths)}")


def _lines(path: Path, place: str) -> list[list[str]]:
    """Return the cells of each line that has any."""
    delimiter = "," if ".csv" in path.name.lower()[-7:] else "\t"
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as file:
            return [line for line in csv.reader(file, delimiter=delimiter) if line]
    except UnicodeDecodeError as problem:
        raise undecodable(path, problem) from None
    except (OSError, EOFError, zlib.error, csv.Error) as problem:
        raise FileFormatError(f"{place}: no valid table ({one_line(problem)})") from None


def _in_order(cells: list[str], place: str, count: int) -> Vector:
    """Return a value a line; one line more may be a header, which is no value of a sample."""
    values = cells[1:] if len(cells) == count + 1 and _names_a_column(cells) else cells
    if len(values) != count:
        raise DataError(f"{place}: {count} samples, but {len(cells)} lines")
    return np.array(values, dtype=object)


def _names_a_column(cells: list[str]) -> bool:
    """Whether the first cell is the column's name: text that is not among the others."""
    first, *others = (cell.strip() for cell in cells)
    return bool(first) and not _is_whole(first) and first not in others


def _by_id(lines: list[list[str]], place: str, ids: tuple[str, ...] | None) -> Vector:
    if ids is None:
        raise DataError(f"{place}: two cells a line need sample ids in the data, which has none")
    check_unique(Path(place), "sample id", [line[0] for line in lines])
    found = dict(lines)
    lacking = next((key for key in ids if key not in found), None)
    if lacking is not None:
        raise DataError(f"{place}: sample {lacking!r} is not in the file")
    return np.array([found[key] for key in ids], dtype=object)


def joined(folder: Path, tables: dict[str, Table]) -> Table:
    """Return the sites' tables under each other, in memory, without what only some of them have."""
    table, parts = facts(folder, tables), [part.X for part in tables.values()]
    if sparse.issparse(parts[0]):
        return replace(table, X=sparse.csr_matrix(sparse.vstack(parts)))
    return replace(table, X=np.concatenate(parts))


def facts(folder: Path, tables: dict[str, Table], *, fit: bool = True) -> Table:
    """Return what is known of all sites' samples in the sites' order; X stays apart and is None.

    `fit`: sites with different features are refused, else the features are left out.
    """
    if fit:
        check_fit(folder, tables)
    parts = list(tables.values())
    counts = [part.X.shape[0] for part in parts]
    return Table(
        None,
        labels=_stacked(folder, [part.labels for part in parts]),
        sites=np.repeat(np.array(list(tables)), counts),
        features=parts[0].features if fit else None,
        samples=_chained([part.samples for part in parts]),
        name=folder.name,
        source=str(folder),
    )


def check_fit(folder: Path, tables: dict[str, Table]) -> None:
    """Refuse sites of different widths, kinds or features."""
    (name, first), *others = tables.items()
    for site, table in others:
        if table.X.shape[1] != first.X.shape[1]:
            raise SiteMismatchError(
                f"{folder}: site {site!r} has {table.X.shape[1]} features,"
                f" site {name!r} {first.X.shape[1]}"
            )
        if sparse.issparse(table.X) != sparse.issparse(first.X):
            raise SiteMismatchError(f"{folder}: of {site!r} and {name!r} one is sparse, one dense")
        if table.features is not None and first.features is not None:
            pairs = zip(table.features, first.features, strict=True)
            for j, (here, there) in enumerate(pairs):
                if here != there:
                    raise SiteMismatchError(
                        f"{folder}: feature {j + 1} is {here!r} at site {site!r},"
                        f" {there!r} at site {name!r}"
                    )


def _stacked(folder: Path, labels: list[Vector | None]) -> Vector | None:
    held = [values for values in labels if values is not None]
    if len(held) < len(labels):
        return None
    if len({values.dtype.kind for values in held}) > 1:
        raise SiteMismatchError(f"{folder}: labels are numbers at one site and text at another")
    return np.concatenate(held)


def _chained(samples: list[tuple[str, ...] | None]) -> tuple[str, ...] | None:
    held = [ids for ids in samples if ids is not None]
    return tuple(chain.from_iterable(held)) if len(held) == len(samples) else None
