"""What several preparations ask of a site: sums over its samples, and the extremes of its columns.

Mean and variance come from two passes, since a variance from sums of squares loses all its digits
where the mean is large: first sum_j x_j, then s1 = sum_j (x_j - m) and s2 = sum_j (x_j - m)^2 about
the common mean m. The variance is (s2 - s1^2 / N) / N: s1 would be zero but for rounding, and takes
the rounding of m out again (Chan, Golub and LeVeque, 1983).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fedmf.arrays import Array, Rows
from fedmf.messages import Exchange, Nothing, Task, ask
from fedmf.preparation._shape import Known
from fedmf.sites import Cohort


class Sums(NamedTuple):
    """The sum of each column."""

    total: Array  # (M,)


class Centre(NamedTuple):
    """The common mean."""

    mean: Array  # (M,)


class Spread(NamedTuple):
    """The sums over a site of x - m and of its square."""

    first: Array  # (M,)
    second: Array  # (M,)


class Extremes(NamedTuple):
    """The smallest and the largest entry of each column."""

    minimum: Array  # (M,)
    maximum: Array  # (M,)


class Moments(NamedTuple):
    """Mean and population variance of all data."""

    mean: Array  # (M,)
    variance: Array  # (M,)


def moment_tasks() -> dict[str, Task]:
    """Return what a site is asked for mean and variance."""
    return {"sums": Task(_sums), "spread": Task(_spread)}


def extreme_tasks() -> dict[str, Task]:
    """Return what a site is asked for the extremes."""
    return {"extremes": Task(_extremes, each=True)}


def mean_of(known: Known) -> Exchange[Array]:
    """Return the mean of each column over all sites."""
    answer = yield ask("sums", Nothing(), known.everyone)
    return np.asarray(answer.total.total / known.samples)


def moments_of(known: Known) -> Exchange[Moments]:
    """Return mean and population variance of each column over all sites."""
    mean = yield from mean_of(known)
    answer = yield ask("spread", Centre(mean), known.everyone)
    first, second = answer.total
    squares = np.maximum(second - first * first / known.samples, 0)
    return Moments(mean + first / known.samples, squares / known.samples)


def extremes_of(known: Known) -> Exchange[Extremes]:
    """Return the extremes of each column over all sites."""
    answer = yield ask("extremes", Nothing(), known.everyone)
    minima, maxima = zip(*answer.each, strict=True)
    return Extremes(np.min(minima, axis=0), np.max(maxima, axis=0))


def weighted(data: Cohort, weight: Array) -> Iterator[tuple[Rows, Array]]:
    """Yield the rows in blocks in double precision, with what each row counts."""
    counts, first = data.spread(weight), 0
    for block in data.blocks:
        last = first + block.shape[0]
        yield block.astype(np.float64, copy=False), counts[first:last]
        first = last


def stored(block: Rows, values: Array) -> Rows:
    """Return a sparse block with other values in the places of its own."""
    return sparse.csr_array((values, block.indices, block.indptr), shape=block.shape)


def _sums(
    goal: None, private: Any, payload: Nothing, data: Cohort, weight: Array
) -> tuple[Any, Sums]:
    total = np.zeros(data.shape[1])
    for block, counts in weighted(data, weight):
        total += block.T @ counts
    return private, Sums(total)


def _spread(
    goal: None, private: Any, payload: Centre, data: Cohort, weight: Array
) -> tuple[Any, Spread]:
    first, second = np.zeros((2, data.shape[1]))
    for block, counts in weighted(data, weight):
        sums = _about if isinstance(block, np.ndarray) else _about_sparse
        own, squares = sums(block, counts, payload.mean)
        first += own
        second += squares
    return private, Spread(first, second)


def _about(block: Array, counts: Array, mean: Array) -> tuple[Array, Array]:
    """Return the weighted sums of x - m and of its square, (M,) each."""
    apart = block - mean
    return counts @ apart, counts @ (apart * apart)


def _about_sparse(block: Rows, counts: Array, mean: Array) -> tuple[Array, Array]:
    """Return the same of a sparse block: an entry that is not stored is 0 - m from the mean."""
    apart = block.data - mean[block.indices]
    present = stored(block, np.ones(len(apart))).T @ counts
    absent = counts.sum() - present
    own = stored(block, apart).T @ counts - absent * mean
    return own, stored(block, apart * apart).T @ counts + absent * mean * mean


def _extremes(
    goal: None, private: Any, payload: Nothing, data: Cohort, weight: Array
) -> tuple[Any, Extremes]:
    return private, extremes(data)


def extremes(data: Cohort) -> Extremes:
    """Return the extremes of each column; what a sparse matrix does not store is zero."""
    low = [_row(block.min(axis=0)) for block in data.blocks]
    high = [_row(block.max(axis=0)) for block in data.blocks]
    return Extremes(np.min(low, axis=0), np.max(high, axis=0))


def _row(found: Any) -> Array:
    """Return one row as a flat array."""
    return np.asarray(found if isinstance(found, np.ndarray) else found.toarray()).ravel()
