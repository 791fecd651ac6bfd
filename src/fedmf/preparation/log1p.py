"""log(1 + x) of every entry, as FunctionTransformer(log1p) does it.

Nothing has to be learned. The exchange is held all the same, so that a site whose entries have no
logarithm says so before the work begins.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from fedmf.arrays import Array, Rows
from fedmf.faults import refuse
from fedmf.messages import Exchange, Nothing, Request, Task
from fedmf.preparation._base import Invertible, Learned
from fedmf.preparation._shape import Known, Shape, shape_of
from fedmf.preparation._sums import stored
from fedmf.sites import Cohort


class FederatedLog1p(Invertible):
    """Take log(1 + x) of every entry.

    What leaves a site: nothing but the form of its data.
    """

    name: ClassVar[str] = "log1p"
    sends: ClassVar[str] = "nothing but the number of samples and of features"

    def site_tasks(self) -> dict[str, Task]:
        """Return what a site is asked: the form of its data, which have logarithms."""
        return {"shape": Task(_checked_shape, each=True)}

    def learn(self, known: Known) -> Exchange[Learned]:
        """Learn nothing."""
        nothing_to_ask: tuple[Request, ...] = ()
        yield from nothing_to_ask
        return Learned(Nothing(), {})

    def apply(self, state: Nothing, data: Cohort) -> Rows:
        """Take the logarithm of a site's rows."""
        _refuse_low(data)
        if isinstance(data.rows, np.ndarray):
            return np.log1p(data.rows)
        return stored(data.rows.copy(), np.log1p(data.rows.data))

    def undo(self, state: Nothing, data: Cohort) -> Rows:
        """Take exp(x) - 1 of a site's rows."""
        if isinstance(data.rows, np.ndarray):
            return np.expm1(data.rows)
        return stored(data.rows.copy(), np.expm1(data.rows.data))


def _checked_shape(
    goal: None, private: Any, payload: Nothing, data: Cohort, weight: Array
) -> tuple[Any, Shape]:
    answer = shape_of(goal, private, payload, data, weight)
    _refuse_low(data)
    return answer


def _refuse_low(data: Cohort) -> None:
    refuse(data, _low, "log(1 + x) needs entries above -1")


def _low(values: Array) -> NDArray[np.bool_]:
    return values <= -1
