"""One site's groups of samples, and the rules by which a group may leave the site.

What is sent of a group is its size and one row: the mean of its members' directions x / ||x||,
times the mean of their lengths, so that no member has a larger part in it than another. The rules:

1. A group has at least `n_min` samples of different directions. Samples of zeros are in no group;
   copies or multiples of one sample count as one.
2. Its row points nowhere near any sample of the site: as unit vectors they are more than MARGIN
   apart. Then neither the row, nor its product with the size, nor any other multiple of it is a
   sample, to about six digits.

A group that breaks a rule is given up: its samples join others, as each start has its way, and all
are looked at again. A site whose last group breaks one sends nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from fedmf.arrays import Array, IntArray, Rows
from fedmf.declared import GroupCounts, GroupRows
from fedmf.points import Points, pick
from fedmf.sites import Cohort

MARGIN = 1e-6

# The group of each sample (n,), and how many groups there are: 0 where none may leave.
Grouped: TypeAlias = tuple[IntArray, int]
NONE: Grouped = np.empty(0, dtype=np.int64), 0


class Groups(NamedTuple):
    """What a site sends, a row for each of its g groups; g = 0 where there is none."""

    rows: GroupRows  # in the data's type
    sizes: GroupCounts


def groups_of(data: Cohort, n_min: int, group: Callable[[Points], Grouped]) -> Groups:
    """Return one site's groups that may leave it; `group` makes them of unit vectors."""
    lengths = np.sqrt(Points.of(data).squares)
    told = np.flatnonzero(lengths > np.sqrt(np.finfo(data.dtype).tiny))  # less is as good as zero
    nothing = Groups(np.empty((0, data.shape[1]), dtype=data.dtype), np.empty(0, dtype=np.int64))
    if len(told) < n_min:
        return nothing
    lengths = lengths[told]
    units = Points.of(_scaled(pick(data, told), 1 / lengths))
    label, count = group(units)
    if count == 0:
        return nothing
    sizes = np.bincount(label, minlength=count)
    length = np.bincount(label, lengths, count) / sizes
    rows = length[:, None] * means(units, label, count)
    return Groups(rows.astype(data.dtype), sizes)


def means(points: Points, label: IntArray, count: int) -> Array:
    """Return the mean of each group in double precision, (count, M); zeros where it is empty."""
    sizes = np.bincount(label, minlength=count)
    sums = points.sums(label, np.ones(len(label)), count)
    return np.asarray(sums / np.maximum(sizes, 1)[:, None])


def broken(units: Points, label: IntArray, count: int, n_min: int) -> NDArray[np.bool_]:
    """Return which groups break a rule, (count,)."""
    sizes, mean = np.bincount(label, minlength=count), means(units, label, count)
    lengths = np.linalg.norm(mean, axis=1)
    bad = (sizes < n_min) | (lengths <= MARGIN)
    if bad.any():  # who is left after these are dissolved has to be looked at again anyway
        return np.asarray(bad)
    for group in range(count):
        squared = units.nearest(mean[[group]] / lengths[group])[1]
        members = Points.of(pick(units.data, np.flatnonzero(label == group)))
        bad[group] = squared.min() <= MARGIN**2 or not _differ(members, n_min)
    return np.asarray(bad)


def _differ(members: Points, n_min: int) -> bool:
    """Return whether at least n_min of the unit vectors differ from each other."""
    new = np.ones(len(members), dtype=np.bool_)
    for _ in range(n_min):
        if not new.any():
            return False
        first = pick(members.data, np.flatnonzero(new)[:1])
        new &= members.nearest(first)[1] > MARGIN**2
    return True


def _scaled(rows: Rows, factors: Array) -> Rows:
    """Return the rows, each times its factor, in their own type."""
    factors = factors.astype(rows.dtype)
    if isinstance(rows, np.ndarray):
        return rows * factors[:, None]
    return sparse.csr_array(sparse.diags_array(factors) @ rows)
