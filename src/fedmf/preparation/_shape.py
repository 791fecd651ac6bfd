"""The first exchange of every preparation: the form of each site's data, and no value of them.

Every site sends its number of samples and of features, how its numbers are stored, and a digest of
its features' names. A site whose data cannot be used says where, and sends nothing.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from fedmf.arrays import Array, IntArray, Scalar
from fedmf.errors import SiteMismatchError
from fedmf.faults import refuse_non_finite
from fedmf.messages import Nothing
from fedmf.preparation._words import Bytes, pack
from fedmf.sites import Cohort


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
