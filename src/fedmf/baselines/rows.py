"""Rows on their way between sites and server, dense or sparse as they are at the site.

Whatever rows leave a site, the site itself notes which of its samples they are: a sample that was
drawn, or a centre of one sample or of identical ones, which is that sample.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from fedmf.arrays import Array, Rows
from fedmf.blocks import stack
from fedmf.lloyd import Solution
from fedmf.points import BoolArray, Points, dense, pick
from fedmf.sites import Cohort

Indices = Any  # whole numbers of the width that the message needs


class Sent(NamedTuple):
    """Rows: `values` is (n, M), or a CSR matrix's entries beside `columns` and `borders`."""

    values: Array
    columns: Indices
    borders: Indices


class Weighted(NamedTuple):
    """Rows with a weight each."""

    values: Array
    columns: Indices
    borders: Indices
    weights: Array


def pack(rows: Rows) -> Sent:
    """Return rows as a message."""
    if isinstance(rows, np.ndarray):
        nothing = np.empty(0, dtype=np.int32)
        return Sent(rows, nothing, nothing)
    return Sent(rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int64))


def unpack(message: Sent | Weighted, features: int) -> Rows:
    """Return the rows of a message."""
    if np.ndim(message.values) == 2:
        return message.values
    parts = (message.values, message.columns, message.borders)
    return sparse.csr_array(parts, shape=(len(message.borders) - 1, features))


def together(parts: Sequence[Rows]) -> Rows:
    """Put rows of several sites below each other; dense where only some are sparse."""
    kinds = {isinstance(part, np.ndarray) for part in parts}
    return stack(list(parts) if len(kinds) == 1 else [dense(part) for part in parts])


def like(rows: Array, data: Cohort) -> Rows:
    """Return centres as sparse rows where the data are sparse."""
    is_dense = isinstance(data.blocks[0], np.ndarray)
    return rows if is_dense else sparse.csr_array(rows)


def expose(points: Points, solution: Solution) -> tuple[Array, BoolArray]:
    """Return a site's centres as they may leave it, and which samples they give away.

    A cluster without spread holds one sample, or several identical ones: its centre is the sample.
    """
    centres = solution.centres.copy()
    spread = np.bincount(solution.nearest, solution.squared, len(centres))
    given_away = spread[solution.nearest] == 0
    clusters, first = np.unique(solution.nearest[given_away], return_index=True)
    samples = np.flatnonzero(given_away)[first]
    for cluster, sample in zip(clusters, samples, strict=True):
        centres[cluster] = dense(pick(points.data, np.array([sample])))[0]
    return centres, given_away
