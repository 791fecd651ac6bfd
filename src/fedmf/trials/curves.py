"""Curves of several results of one trial, its starting points, as a mean with its band."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from fedmf.arrays import Array
from fedmf.trials.result import Result


class Curve(NamedTuple):
    """A mean over results, from the smallest to the largest of them; each (points,)."""

    x: Array
    mean: Array
    low: Array
    high: Array


def averaged(results: Sequence[Result], name: str, by: str = "round") -> Curve:
    """Return the mean curve of a column over another; a run that has ended stays where it ended.

    The points are all rounds at which one of the runs was looked at; between its own, a run's
    curve is straight.
    """
    rounds = np.unique(np.concatenate([column(result, "round") for result in results]))
    values = np.stack([at(rounds, result, name) for result in results])
    x = rounds
    if by != "round":
        x = np.stack([at(rounds, result, by) for result in results]).mean(axis=0)
    return Curve(x, values.mean(axis=0), values.min(axis=0), values.max(axis=0))


def at(rounds: Array, result: Result, name: str) -> Array:
    """Return what a result's column was at these rounds."""
    return np.interp(rounds, column(result, "round"), column(result, name))


def column(result: Result, name: str) -> Array:
    """Return a column of a result's curve."""
    return np.asarray(result.curve[name], dtype=np.float64)
