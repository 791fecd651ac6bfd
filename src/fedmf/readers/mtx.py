"""Matrix Market .mtx, plain or gzipped: `coordinate` becomes CSR, `array` a dense matrix.

The text is parsed here, by NumPy: SciPy's reader (1.17.1) ends the whole process with a
segmentation fault on a file that breaks off inside a number.
"""

from __future__ import annotations

import gzip
import zlib
from itertools import chain
from pathlib import Path
from typing import IO

import numpy as np
from scipy import sparse

from fedmf.errors import FileFormatError
from fedmf.readers._content import (
    Content,
    Matrix,
    Vector,
    Wanted,
    check_known,
    one_line,
    two_dimensional,
)

ENDINGS = (".mtx", ".mtx.gz")
FIELDS = ("real", "double", "integer", "pattern")


def read(path: Path, wanted: Wanted) -> Content:
    """Return the matrix, samples in rows; it has no named columns to take out."""
    check_known(path, wanted, ())
    opener = gzip.open if path.name.lower().endswith(".gz") else open
    try:
        with opener(path, "rt", encoding="utf-8") as file:
            X = _matrix(path, file)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as problem:
        raise FileFormatError(f"{path}: cut short or damaged ({one_line(problem)})") from None
    two_dimensional(X, path, "the matrix")
    return Content(X)


def _matrix(path: Path, file: IO[str]) -> Matrix:
    form, field = _banner(path, file.readline())
    line = next((line for line in file if line.strip() and not line.startswith("%")), "")
    sizes = line.split()
    if len(sizes) != (3 if form == "coordinate" else 2) or not all(s.isdigit() for s in sizes):
        raise FileFormatError(f"{path}: the line of sizes is {line.strip()[:60]!r}")
    if form == "array":
        n, m = map(int, sizes)
        return _body(path, file, n * m, 1).reshape(m, n).T.copy()  # the format goes by columns
    n, m, stored = map(int, sizes)
    return _coordinates(path, (n, m), _body(path, file, stored, 2 if field == "pattern" else 3))


def _banner(path: Path, line: str) -> tuple[str, str]:
    words = line.lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        raise FileFormatError(f"{path}: no Matrix Market file (its first line is {line[:40]!r})")
    form, field, symmetry = words[2:]
    if form not in ("coordinate", "array") or field not in FIELDS or symmetry != "general":
        raise FileFormatError(
            f"{path}: {form} {field} {symmetry} (allowed: coordinate or array, of"
            f" {', '.join(FIELDS)}, general)"
        )
    return form, field


def _body(path: Path, file: IO[str], lines: int, width: int) -> Vector:
    """Return the numbers after the sizes, (lines, width)."""
    if lines == 0:
        return np.empty((0, width))
    first = next((line for line in file if line.strip()), None)
    if first is None:
        raise FileFormatError(f"{path}: it ends after the sizes, {lines} lines were to come")
    try:
        numbers = np.loadtxt(chain([first], file), comments="%", ndmin=2)
    except ValueError as problem:
        raise FileFormatError(f"{path}: after the sizes: {one_line(problem)}") from None
    if numbers.shape != (lines, width):
        raise FileFormatError(
            f"{path}: {lines} lines of {width} numbers were to come, got {numbers.shape}"
        )
    return numbers


def _coordinates(path: Path, shape: tuple[int, int], triples: Vector) -> sparse.csr_matrix:
    places = triples[:, :2].astype(np.int64) - 1
    outside = (places < 0).any(axis=1) | (places >= shape).any(axis=1)
    if outside.any():
        place = (places[outside.argmax()] + 1).tolist()
        raise FileFormatError(f"{path}: entry {place} lies outside the {shape} matrix")
    values = triples[:, 2] if triples.shape[1] == 3 else np.ones(len(triples))
    return sparse.csr_matrix((values, (places[:, 0], places[:, 1])), shape=shape)
