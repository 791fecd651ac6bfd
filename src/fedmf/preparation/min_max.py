"""Min-max scaling: each feature into one range over all sites, as MinMaxScaler does it.

x' = x s + t, s = (b - a) / (max - min), t = a - min s; s = b - a where a feature is constant.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np

from fedmf.arrays import Array, Rows
from fedmf.checks import check_real
from fedmf.errors import InputTypeError, ParameterError
from fedmf.messages import Exchange, Task
from fedmf.preparation._base import Invertible, Learned
from fedmf.preparation._scale import nonzero, refuse_sparse
from fedmf.preparation._shape import Known
from fedmf.preparation._sums import extreme_tasks, extremes_of
from fedmf.sites import Cohort


class Line(NamedTuple):
    """The line that scales each feature."""

    scale: Array  # (M,)
    offset: Array  # (M,)


class FederatedMinMaxScaler(Invertible):
    """Scale each feature to `feature_range` over all sites.

    What leaves a site: the smallest and the largest value of each of its features. Of a site with
    one sample that is the sample itself.

    Parameters
    ----------
    feature_range : (a, b), the range wanted.
    clip : whether later data outside the fitted extremes are cut off to the range.
    """

    name: ClassVar[str] = "min-max"
    sends: ClassVar[str] = "the smallest and the largest value of each feature"

    def __init__(self, feature_range: tuple[float, float] = (0, 1), clip: bool = False) -> None:
        self.feature_range = feature_range
        self.clip = clip

    def check(self) -> None:
        """Refuse a range that is none."""
        if not isinstance(self.feature_range, tuple | list) or len(self.feature_range) != 2:
            raise InputTypeError(f"feature_range must be a pair, got {self.feature_range!r}")
        low, high = (check_real("feature_range", bound) for bound in self.feature_range)
        if not low < high:
            raise ParameterError(f"feature_range must be a pair a < b, got {self.feature_range!r}")

    def takes_sparse(self) -> bool:
        """Whether sparse data are accepted: they would not stay sparse."""
        return False

    def site_tasks(self) -> dict[str, Task]:
        """Return what a site is asked: its extremes."""
        return extreme_tasks()

    def learn(self, known: Known) -> Exchange[Learned]:
        """Find the extremes of all sites."""
        for site in known.sparse[:1]:
            refuse_sparse(site, InputTypeError, "min-max scaling of", "use FederatedMaxAbsScaler")
        low, high = yield from extremes_of(known)
        first, last = np.asarray(self.feature_range, dtype=known.dtype)
        scale = (last - first) / nonzero(high - low)
        state = Line(scale, first - low * scale)
        figures = {
            "data_min_": low,
            "data_max_": high,
            "data_range_": high - low,
            "scale_": state.scale,
            "min_": state.offset,
        }
        return Learned(state, figures)

    def apply(self, state: Line, data: Cohort) -> Rows:
        """Scale a site's rows."""
        _refuse_sparse(data)
        rows: Any = np.array(data.rows)
        rows *= state.scale
        rows += state.offset
        return np.clip(rows, *np.asarray(self.feature_range, rows.dtype)) if self.clip else rows

    def undo(self, state: Line, data: Cohort) -> Rows:
        """Take a site's rows back to their own range."""
        _refuse_sparse(data)
        rows: Any = np.array(data.rows)
        rows -= state.offset
        rows /= state.scale
        return rows


def _refuse_sparse(data: Cohort) -> None:
    if not isinstance(data.blocks[0], np.ndarray):
        site = int(data.sites[0])
        refuse_sparse(site, InputTypeError, "min-max scaling of", "use FederatedMaxAbsScaler")
