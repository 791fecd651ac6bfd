"""Max-abs scaling: x' = x / max |x| of each feature over all sites, as MaxAbsScaler does it.

Zeros stay zeros, so sparse data stay sparse.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from fedmf.arrays import Array, Rows
from fedmf.messages import Exchange, Nothing, Task, ask
from fedmf.preparation._base import Invertible, Learned
from fedmf.preparation._scale import nonzero, times
from fedmf.preparation._shape import Known
from fedmf.preparation._sums import extremes
from fedmf.sites import Cohort


class Largest(NamedTuple):
    """The largest |x| of each feature."""

    absolute: Array  # (M,)


class FederatedMaxAbsScaler(Invertible):
    """Divide each feature by its largest absolute value over all sites.

    What leaves a site: the largest absolute value of each of its features. Of a site with one
    sample that is the sample itself, but for its signs.
    """

    name: ClassVar[str] = "max-abs"
    sends: ClassVar[str] = "the largest absolute value of each feature"

    def site_tasks(self) -> dict[str, Task]:
        """Return what a site is asked: its largest absolute values."""
        return {"largest": Task(_largest, each=True)}

    def learn(self, known: Known) -> Exchange[Learned]:
        """Find the largest absolute values of all sites."""
        answer = yield ask("largest", Nothing(), known.everyone)
        found = np.max([own.absolute for own in answer.each], axis=0)
        state = Largest(nonzero(found))
        return Learned(state, {"max_abs_": found, "scale_": state.absolute})

    def apply(self, state: Largest, data: Cohort) -> Rows:
        """Scale a site's rows."""
        if isinstance(data.rows, np.ndarray):
            return (data.rows / state.absolute).astype(data.dtype, copy=False)
        return times(data.rows, 1 / state.absolute)

    def undo(self, state: Largest, data: Cohort) -> Rows:
        """Take a site's rows back to their own units."""
        if isinstance(data.rows, np.ndarray):
            return (data.rows * state.absolute).astype(data.dtype, copy=False)
        return times(data.rows, state.absolute)


def _largest(
    goal: None, private: Any, payload: Nothing, data: Cohort, weight: Array
) -> tuple[Any, Largest]:
    low, high = extremes(data)
    return private, Largest(np.maximum(np.abs(low), np.abs(high)))
