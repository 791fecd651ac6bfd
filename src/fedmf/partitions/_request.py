"""What a partition is asked for, checked once before any of them sees it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard, cast

import numpy as np

from fedmf import rng
from fedmf.errors import DataError, InputError, ParameterError
from fedmf.partitions._rows import as_matrix

if TYPE_CHECKING:
    from fedmf.partitions._rows import Indices, Matrix

PAPER_SITES = 100


@dataclass(frozen=True)
class Request:
    """The samples, their labels if any, the number of sites if given, and the seed."""

    X: Matrix
    labels: Any
    asked: int | None
    seed: int

    @classmethod
    def build(cls, X: Matrix, labels: Any, n_sites: object, seed: object) -> Request:
        """Return a request whose parts were checked against each other."""
        matrix = as_matrix(X)
        asked = None
        if n_sites is not None:
            asked = _site_count(n_sites, matrix.shape[0])
        return cls(matrix, labels, asked, rng.resolve_seed(seed))

    @property
    def n_samples(self) -> int:
        """The number of rows, N."""
        return int(self.X.shape[0])

    @property
    def n_sites(self) -> int:
        """The number of sites, P: the paper's 100 unless given."""
        return _site_count(PAPER_SITES, self.n_samples) if self.asked is None else self.asked

    def random(self, partition: str) -> np.random.Generator:
        """Return the partition's own random stream."""
        return rng.stream(self.seed, f"partition {partition}")

    def classes(self, partition: str) -> Indices:
        """Return the class of each sample as an index from 0, or say that labels are missing."""
        if self.labels is None:
            raise ParameterError(
                f"partition {partition!r} needs labels, one class a sample: pass labels=..."
            )
        return encode("labels", self.labels, self.n_samples)[1]


def _site_count(value: object, n_samples: int) -> int:
    """Return a number of sites that the samples can fill."""
    if not _is_whole(value, 1, n_samples):
        raise ParameterError(
            f"n_sites must be an integer from 1 to the number of samples ({n_samples}), "
            f"got {shown(value)}"
        )
    return int(value)


def encode(name: str, values: Any, n_samples: int) -> tuple[np.ndarray, Indices]:
    """Return the distinct values, sorted, and for each sample the index of its own."""
    array = np.asarray(values)
    if array.shape != (n_samples,):
        raise InputError(
            f"{name} must hold one value for each of the {n_samples} samples, "
            f"got shape {array.shape}"
        )
    for row in np.flatnonzero(_missing(array))[:1]:
        raise DataError(f"{name} has no value in row {row}: every sample needs one")
    try:
        distinct, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise DataError(f"{name} mixes kinds of values that cannot be sorted: use one") from None
    return distinct, codes.astype(np.int64)


def _missing(array: np.ndarray) -> np.ndarray:
    """Return where a value is None, NA or not a number."""
    if array.dtype.kind == "O":
        import pandas

        return np.asarray(pandas.isna(array))
    return np.asarray(array != array)


def check_real(name: str, value: object, low: float, high: float) -> float:
    """Return `value` as a float from `low` to `high`."""
    real = isinstance(value, int | float | np.integer | np.floating)
    if not real or isinstance(value, bool) or not low <= float(cast("float", value)) <= high:
        raise ParameterError(
            f"{name} must be a number from {low:g} to {high:g}, got {shown(value)}"
        )
    return float(cast("float", value))


def check_count(name: str, value: object) -> int:
    """Return `value` as a positive integer."""
    if not _is_whole(value, 1, math.inf):
        raise ParameterError(f"{name} must be a positive integer, got {shown(value)}")
    return int(value)


def _is_whole(value: object, low: int, high: float) -> TypeGuard[int]:
    """Say whether `value` is an integer in a range."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    return whole and low <= int(cast("int", value)) <= high


def shown(value: object, width: int = 60) -> str:
    """Return `value` on one short line, for an error."""
    text = " ".join(repr(value).split())
    return text if len(text) <= width else text[: width - 3] + "..."
