"""Finding the entry of a site's data that cannot be used, to say where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedmf.arrays import Array
from fedmf.blocks import entries
from fedmf.errors import DataError
from fedmf.sites import Cohort

Test: TypeAlias = Callable[[Array], NDArray[np.bool_]]


def refuse(data: Cohort, bad: Test, need: str) -> None:
    """Name the first entry of a site of which `bad` holds; only stored entries are looked at."""
    first = 0
    for block in data.blocks:
        if bad(entries(block)).any():
            row, column, value = _first(block, bad)
            raise DataError(
                f"site {data.sites[0]}: {value} at row {first + row}, column {column}: {need}"
            )
        first += block.shape[0]


def refuse_non_finite(data: Cohort) -> None:
    """Name the first entry that is not a number."""
    refuse(data, _not_finite, "every entry must be a finite number")


def _not_finite(values: Array) -> NDArray[np.bool_]:
    return ~np.isfinite(values)


def _first(block: Any, bad: Test) -> tuple[int, int, Any]:
    """Return where the first bad entry of a block is, and what it is."""
    if isinstance(block, np.ndarray):
        row, column = np.argwhere(bad(block))[0]
        return int(row), int(column), block[row, column]
    triples = block.tocoo()
    place = np.flatnonzero(bad(triples.data))[0]
    return int(triples.row[place]), int(triples.col[place]), triples.data[place]
