"""The first exchange of every preparation: the form of each site's data, and no value of them.

Every site sends its number of samples and of features, how its numbers are stored, and a digest of
its features' names. A site whose data cannot be used says where, and sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fedmf.arrays import Array, IntArray, Scalar
from fedmf.blocks import entries
from fedmf.errors import DataError, SiteMismatchError
from fedmf.messages import Nothing
from fedmf.preparation._words import Bytes, pack
from fedmf.sites import Cohort

Test: TypeAlias = Callable[[Array], NDArray[np.bool_]]


class Shape(NamedTuple):
    """The form of a site's data."""

    samples: Scalar
    features: Scalar
    sparse: Scalar
    itemsize: Scalar  # of a number, in bytes
    digest: Bytes  # of the features' names, (32,); zeros where it has none


class Known(NamedTuple):
    """What the server knows of all sites after it."""

    everyone: IntArray
    samples: int
    features: int  # of site 0
    sparse: IntArray  # the sites that hold sparse data
    dtype: np.dtype[Any]  # that of the pooled data


def shape_of(
    goal: None, private: Any, payload: Nothing, data: Cohort, weight: Array
) -> tuple[Any, Shape]:
    """Return the form of a site's data, whose numbers are finite."""
    refuse_non_finite(data)
    names = digest(data.features)
    is_sparse = not isinstance(data.blocks[0], np.ndarray)
    numbers = [np.int64(n) for n in (*data.shape, is_sparse, data.dtype.itemsize)]
    return private, Shape._make([*numbers, names])


def digest(names: tuple[str, ...] | None) -> Bytes:
    """Return the digest of features' names, (32,)."""
    found = sha256(pack(names).tobytes()).digest() if names else bytes(32)
    return np.frombuffer(found, dtype=np.uint8)


def together(shapes: list[Shape]) -> Known:
    """Return what is known of all sites."""
    return Known(
        everyone=np.arange(len(shapes)),
        samples=sum(int(shape.samples) for shape in shapes),
        features=int(shapes[0].features),
        sparse=np.flatnonzero([bool(shape.sparse) for shape in shapes]),
        dtype=np.dtype(f"f{max(int(shape.itemsize) for shape in shapes)}"),
    )


def same_features(shapes: list[Shape]) -> None:
    """Refuse sites whose columns do not stand for the same features."""
    hint = "all sites need the same features in the same order; FederatedAlign brings them there"
    named: tuple[int, bytes] | None = None
    for site, shape in enumerate(shapes):
        if int(shape.features) != int(shapes[0].features):
            raise SiteMismatchError(
                f"site {site} has {int(shape.features)} features, site 0 has "
                f"{int(shapes[0].features)}: {hint}"
            )
        own = bytes(shape.digest)
        if not any(own):
            continue
        named = named or (site, own)
        if own != named[1]:
            raise SiteMismatchError(
                f"the features' names of site {site} are not those of site {named[0]}: {hint}"
            )


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
