"""A number for each site that tells its samples from others: to go on with a run on the same data.

    f_p = sum_ij sin(i) cos(j) [X_p]_ij,        i = 1, ..., N_p over samples, j = 1, ..., M

Unlike the figures of the set-up exchange it changes where samples or features change places. It
costs one pass over the data. It is kept with H_p and never sent: it is a figure of single samples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fedmf.arrays import Array
from fedmf.parallel import each
from fedmf.sites import Cohort


def fingerprints(data: Cohort) -> Array:
    """Return f_p of each site of a cohort, (b,), in double precision."""
    features = np.cos(np.arange(1.0, data.shape[1] + 1))
    sums = np.concatenate(each(lambda block: block @ features, data.blocks))
    return np.array([np.sin(np.arange(1.0, len(own) + 1)) @ own for own in data.split(sums)])


def differ(one: Array, other: Array, figures: Array) -> NDArray[np.bool_]:
    """Return where two fingerprints of sites with these figures (P, 6) are of different data.

    A fingerprint that is not known, NaN, differs from none.
    On another machine the additions may come in another order. By Cauchy and Schwarz the terms'
    sizes add up to sqrt(N_p M) ||X_p|| at the most, along chains of at most N_p + M roundings.
    """
    samples, features, squared_norm = figures[:, :3].T
    size = np.sqrt(samples * features * squared_norm)
    rounding: Array = 2 * (samples + features) * np.finfo(np.float64).eps * size
    return np.abs(one - other) > rounding
