"""Standardisation: x' = (x - mean) / std of each feature over all sites, as StandardScaler does it.

Mean and variance come from two passes over the sites (see `_sums`). A feature whose variance is
within the rounding of its own computation is constant and is not divided.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fedmf.arrays import Array, Rows
from fedmf.errors import InputError
from fedmf.messages import Exchange, Task
from fedmf.preparation._base import Invertible, Learned
from fedmf.preparation._scale import refuse_sparse, times
from fedmf.preparation._shape import Known
from fedmf.preparation._sums import Moments, mean_of, moment_tasks, moments_of
from fedmf.sites import Cohort


class Standard(NamedTuple):
    """What is subtracted and what is divided by; empty where it is not."""

    mean: Array  # (M,)
    scale: Array  # (M,)


class FederatedStandardScaler(Invertible):
    """Bring each feature to mean 0 and variance 1 over all sites.

    What leaves a site: the sum of each of its features, then the sums of the deviations from the
    common mean and of their squares. Of a site with one sample the sums are the sample itself.

    Parameters
    ----------
    with_mean : whether the mean is subtracted; sparse data need False.
    with_std : whether there is division by the standard deviation.
    """

    name: ClassVar[str] = "standard"
    sends: ClassVar[str] = "the sum of each feature, then the sums of deviations and their squares"

    def __init__(self, with_mean: bool = True, with_std: bool = True) -> None:
        self.with_mean = with_mean
        self.with_std = with_std

    def takes_sparse(self) -> bool:
        """Whether sparse data are accepted: with a mean they would not stay sparse."""
        return not self.with_mean

    def site_tasks(self) -> dict[str, Task]:
        """Return what a site is asked: its sums."""
        return moment_tasks()

    def learn(self, known: Known) -> Exchange[Learned]:
        """Find mean and variance of all sites, as far as they are needed."""
        if self.with_mean:
            for site in known.sparse[:1]:
                self._refuse_sparse(site)
        if self.with_std:
            moments = yield from moments_of(known)
            scale = _scale(moments, known.samples)
            shift = moments.mean if self.with_mean else np.empty(0)
            figures = {"mean_": moments.mean, "var_": moments.variance, "scale_": scale}
            return Learned(Standard(shift, scale), figures)
        nothing: dict[str, None] = {"mean_": None, "var_": None, "scale_": None}
        if not self.with_mean:
            return Learned(Standard(np.empty(0), np.empty(0)), nothing)
        mean = yield from mean_of(known)
        return Learned(Standard(mean, np.empty(0)), nothing | {"mean_": mean})

    def apply(self, state: Standard, data: Cohort) -> Rows:
        """Standardise a site's rows."""
        if isinstance(data.rows, np.ndarray):
            rows = np.array(data.rows)
            if self.with_mean:
                rows -= state.mean.astype(rows.dtype)
            if self.with_std:
                rows /= state.scale.astype(rows.dtype)
            return rows
        if self.with_mean:
            self._refuse_sparse(int(data.sites[0]))
        return times(data.rows, 1 / state.scale) if self.with_std else data.rows.copy()

    def undo(self, state: Standard, data: Cohort) -> Rows:
        """Take a site's rows back to their own units."""
        if isinstance(data.rows, np.ndarray):
            rows = np.array(data.rows)
            if self.with_std:
                rows *= state.scale.astype(rows.dtype)
            if self.with_mean:
                rows += state.mean.astype(rows.dtype)
            return rows
        if self.with_mean:
            self._refuse_sparse(int(data.sites[0]))
        return times(data.rows, state.scale) if self.with_std else data.rows.copy()

    def _refuse_sparse(self, site: int) -> None:
        refuse_sparse(site, InputError, "centering", "pass with_mean=False")


def _scale(moments: Moments, samples: int) -> Array:
    """Return the standard deviations, 1 where a feature is constant to rounding."""
    eps = np.finfo(np.float64).eps
    mean, variance = moments
    rounding = samples * eps * variance + (samples * mean * eps) ** 2
    constant: NDArray[np.bool_] = variance <= rounding
    return np.where(constant, 1.0, np.sqrt(variance))
