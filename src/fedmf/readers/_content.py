"""What a reader hands back, and the small checks that every format shares.

A reader turns one file into a `Content`: the matrix with samples in rows, and the columns that the
caller asked to have taken out of it. It keeps float32 and float64, turns whole numbers and booleans
into float64, and refuses everything else with the file and the place.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy import sparse

from fedmf.errors import DataError, FileFormatError, ParameterError
from fedmf.plugins import did_you_mean, shorten

NO_FEATURE = "(name it as the labels, sites or samples, or drop it)"
Matrix: TypeAlias = np.ndarray[Any, np.dtype[Any]] | sparse.csr_matrix
Vector: TypeAlias = np.ndarray[Any, np.dtype[Any]]


class Wanted(NamedTuple):
    """Names of the columns to take out of the matrix; None: there is none of that kind."""

    labels: str | None = None
    sites: str | None = None
    samples: str | None = None
    drop: tuple[str, ...] = ()
    """Columns that are of no kind and no features either."""

    def names(self) -> list[str]:
        """Return the names of columns to be handed back, each once, in the order of the fields."""
        given = (self.labels, self.sites, self.samples)
        return list(dict.fromkeys(name for name in given if name is not None))

    def all_names(self) -> list[str]:
        """Return the names of all columns that are no features."""
        return [*self.names(), *self.drop]


@dataclass(frozen=True, eq=False)
class Content:
    """One file: X (N, M); `columns` holds what was asked for by name, (N,) each."""

    X: Matrix
    features: tuple[str, ...] | None = None
    samples: tuple[str, ...] | None = None
    columns: Mapping[str, Vector] = field(default_factory=dict)


def unknown_column(path: Path, name: str, known: Collection[str]) -> ParameterError:
    """Return the error for a column that the file does not have."""
    hint = did_you_mean(name, known)
    return ParameterError(f"{path}: there is no column {name!r}{hint} (it has {shorten(known)})")


def check_known(path: Path, wanted: Wanted, known: Collection[str]) -> None:
    """Refuse a wanted column that is not among the known ones."""
    for name in wanted.all_names():
        if name not in known:
            raise unknown_column(path, name, known)


def check_unique(path: Path, what: str, names: Sequence[str]) -> None:
    """Refuse a name that comes twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise DataError(f"{path}: {what} {name!r} comes more than once")
        seen.add(name)


def real(array: Any, path: Path, what: str = "the array") -> Any:
    """Return a dense or sparse array as native float32 or float64; copy only where needed."""
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind in "biu":
        return array.astype(np.float64)
    if kind != "f":
        allowed = "allowed are real numbers, whole numbers and booleans"
        raise FileFormatError(f"{path}: {what} holds {array.dtype.name}; {allowed}")
    wide = np.float32 if size <= np.dtype(np.float32).itemsize else np.float64
    return array.astype(wide, copy=False)


def two_dimensional(array: Vector, path: Path, what: str = "the array") -> Vector:
    """Refuse what is not a matrix of at least one sample and one feature."""
    if array.ndim != 2 or 0 in array.shape:
        raise DataError(
            f"{path}: {what} must have two dimensions (samples, features) of at least 1,"
            f" got shape {array.shape}"
        )
    return array


def undecodable(path: Path, problem: UnicodeDecodeError) -> FileFormatError:
    """Return the error for text in another encoding."""
    return FileFormatError(f"{path}: the file is not in UTF-8; save it as UTF-8 ({problem})")


def one_line(problem: BaseException) -> str:
    """Return a library's message as one short line."""
    return " ".join(str(problem).split())[:200] or type(problem).__name__
