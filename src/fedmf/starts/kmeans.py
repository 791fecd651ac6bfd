"""A start by k-means at the sites: their groups are joined at the server, Ward's way.

What is sent, and the rules for it, is told in `fedmf.starts.grouping` and `fedmf.starts.groups`. A
site makes K groups at the most. One that breaks a rule is dissolved, the smallest first: its
samples go to the nearest of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from fedmf.arrays import Array
from fedmf.checks import check_integer
from fedmf.lloyd import descend, seeds
from fedmf.points import Points
from fedmf.starts.grouping import Grouping
from fedmf.starts.groups import NONE, Grouped, broken
from fedmf.starts.join import join

ITERATIONS = 20  # of a site's k-means, whose groups need not be the very best


@dataclass(frozen=True)
class KMeans(Grouping):
    """Groups by k-means.

    Parameters
    ----------
    n_min : as in `Grouping`.
    restarts : of a site's k-means, the best of which is taken.
    """

    name: ClassVar[str] = "kmeans"

    restarts: int = 3

    def __post_init__(self) -> None:
        """Check every setting once."""
        super().__post_init__()
        check_integer("restarts", self.restarts, minimum=1)

    def group(self, units: Points, clusters: int, random: np.random.Generator) -> Grouped:
        """Group one site's samples."""
        centres = self._centres(units, min(clusters, len(units) // self.n_min), random)
        while len(centres):
            nearest, _ = units.nearest(centres)
            bad = broken(units, nearest, len(centres), self.n_min)
            if not bad.any():
                return nearest, len(centres)
            sizes = np.bincount(nearest, minlength=len(centres))
            centres = np.delete(centres, np.flatnonzero(bad)[sizes[bad].argmin()], axis=0)
        return NONE

    def join(self, rows: Array, sizes: Array, clusters: int, random: np.random.Generator) -> Array:
        """Return K centres."""
        return join(rows, sizes, clusters, random)

    def _centres(self, units: Points, count: int, random: np.random.Generator) -> Array:
        """Return the centres of the best of several k-means."""
        once = np.ones(len(units))
        found = [
            descend(units, once, seeds(units, once, count, random), iterations=ITERATIONS)
            for _ in range(self.restarts)
        ]
        return min(found, key=lambda solution: solution.cost).centres
