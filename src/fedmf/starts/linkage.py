"""The default start: sites and server join what is most alike, again and again.

A site begins with each sample by itself and joins, Ward's way, until 3 K groups are left and each
has n_min samples; a group that breaks a rule is joined with the nearest. The server joins the means
of all sites down to K in two ways and takes the clearer (see `fedmf.starts.join.clearest`). What is
sent, and the rules for it, is told in `fedmf.starts.grouping` and `fedmf.starts.groups`.

There is no chance in it, but for sites of more than MOST samples: they join so many of them, drawn
at random, and all samples go to the nearest group. More groups than clusters keep apart at a site
what the others may tell apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.checks import check_integer
from fedmf.declared import MOST_GROUPS
from fedmf.errors import ParameterError
from fedmf.points import Points, pick
from fedmf.starts.grouping import Grouping
from fedmf.starts.groups import NONE, Grouped, broken, means
from fedmf.starts.join import average, join, ward

MOST = 2000  # samples whose distances to each other a site holds


@dataclass(frozen=True)
class Linkage(Grouping):
    """Groups by joining.

    Parameters
    ----------
    n_min : as in `Grouping`.
    groups : a site sends so many times K groups at the most; 1 to 3.
    """

    name: ClassVar[str] = "linkage"

    groups: int = MOST_GROUPS

    def __post_init__(self) -> None:
        """Check every setting once."""
        super().__post_init__()
        if check_integer("groups", self.groups, minimum=1) > MOST_GROUPS:
            raise ParameterError(f"groups must be at most {MOST_GROUPS}, got {self.groups}")

    def group(self, units: Points, clusters: int, random: np.random.Generator) -> Grouped:
        """Group one site's samples."""
        label = self._joined(units, self.groups * clusters, random)
        while True:
            count = int(label.max()) + 1
            bad = broken(units, label, count, self.n_min)
            if not bad.any():
                return label, count
            if count == 1:
                return NONE
            label = _given_up(units, label, int(np.flatnonzero(bad)[0]))

    def _joined(self, units: Points, most: int, random: np.random.Generator) -> IntArray:
        """Return the group of each sample, before the rules are looked at."""
        if len(units) <= MOST:
            return _by_ward(units, most, self.n_min)
        drawn = np.sort(random.choice(len(units), MOST, replace=False))
        some = Points.of(pick(units.data, drawn))
        label = _by_ward(some, most, self.n_min)
        nearest = units.nearest(means(some, label, int(label.max()) + 1))[0]
        return np.unique(nearest, return_inverse=True)[1].astype(np.int64)

    def join(self, rows: Array, sizes: Array, clusters: int, random: np.random.Generator) -> Array:
        """Return K centres."""
        return join(rows, sizes, clusters, random, (ward, average))


def _by_ward(units: Points, most: int, n_min: int) -> IntArray:
    """Return the group of each sample, joined Ward's way."""
    return ward(units.data.rows, np.ones(len(units)), most, least=n_min)


def _given_up(units: Points, label: IntArray, gone: int) -> IntArray:
    """Return the groups with one of them joined with the nearest other."""
    count = int(label.max()) + 1
    mean, sizes = means(units, label, count), np.bincount(label)
    costs = sizes / (sizes + sizes[gone]) * ((mean - mean[gone]) ** 2).sum(axis=1)
    costs[gone] = np.inf
    joined = np.where(label == gone, costs.argmin(), label)
    return np.unique(joined, return_inverse=True)[1].astype(np.int64)
