"""Starts from groups of samples: each site makes groups, the server joins them down to K.

    a site    groups its samples x / ||x||; sends a mean and a size of each group
    server    joins the means by direction; W0 = the K weighted means
    a site    x ~ h w_k for the w_k with the largest cosine to x: H0 has one entry a column

The model x ~ h w knows no lengths, hence directions. A group leaves a site only as the rules of
`fedmf.starts.groups` allow, once, and each sample is in one group at the most, so that no
difference of two uploads tells of a single sample. H0 stays where it is made.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple
from warnings import warn

import numpy as np

from fedmf.algorithms.base import Given
from fedmf.arrays import Array, IntArray, Scalar
from fedmf.checks import check_integer
from fedmf.messages import Exchange, Nothing, Task, ask
from fedmf.points import Points
from fedmf.problem import Goal
from fedmf.rng import stream
from fedmf.sites import Cohort
from fedmf.starts.base import Start
from fedmf.starts.groups import Grouped, Groups, groups_of


class Seed(NamedTuple):
    """The order to group the samples."""

    seed: Scalar


class Centres(NamedTuple):
    """W0 for all sites."""

    W: Array


@dataclass(frozen=True)
class Grouping(Start):
    """Means of groups of samples, joined at the server.

    Parameters
    ----------
    n_min : how many different samples a group that leaves a site has at the least.
    """

    n_min: int = 3

    def __post_init__(self) -> None:
        """Check every setting once."""
        check_integer("n_min", self.n_min, minimum=2)

    @abstractmethod
    def group(self, units: Points, clusters: int, random: np.random.Generator) -> Grouped:
        """Group one site's samples, unit vectors, within the rules."""

    @abstractmethod
    def join(self, rows: Array, sizes: Array, clusters: int, random: np.random.Generator) -> Array:
        """Return K centres, (K, M), of all sites' groups."""

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks."""
        return {
            "groups": Task(self._groups, each=True, counted=True, sends=Groups),
            "assign": Task(assign, sends=Nothing),
        }

    def run(
        self, goal: Goal, everyone: IntArray, dtype: np.dtype[Any], seed: int
    ) -> Exchange[Array | None]:
        """Return W0, or None where no site could send anything."""
        answer = yield ask("groups", Seed(np.int64(seed)), everyone)
        rows, sizes = (np.concatenate(part) for part in zip(*answer.each, strict=True))
        if len(rows) == 0:
            warn(
                "no site could send a group for the start: each needs "
                f"n_min={self.n_min} samples of different directions; it is random instead",
                stacklevel=2,
            )
            return None
        if len(rows) < goal.rank:
            warn(
                f"the sites could send {len(rows)} groups for the start, fewer than the "
                f"{goal.rank} clusters: the others begin as variations of the largest",
                stacklevel=2,
            )
        centres = self.join(rows, sizes.astype(np.float64), goal.rank, stream(seed, "start join"))
        W: Array = goal.w_set.project(np.ascontiguousarray(centres.T.astype(dtype)))
        yield ask("assign", Centres(W), everyone)
        return W

    def _groups(
        self, goal: Goal, private: None, order: Seed, data: Cohort, weight: Array
    ) -> tuple[None, Groups]:
        """Group one site's samples."""
        random = stream(int(order.seed), "start groups", site=int(data.sites[0]))
        return private, groups_of(
            data, self.n_min, lambda units: self.group(units, goal.rank, random)
        )


def assign(
    goal: Goal, private: None, order: Centres, data: Cohort, weight: Array
) -> tuple[Given, Nothing]:
    """Give each sample its nearest direction: h = x'w / ||w||^2 there, zero elsewhere."""
    nearest, cross, lengths = nearest_of(data, order.W)
    sample = np.arange(len(nearest))
    H = np.zeros_like(cross)
    H[nearest, sample] = cross[nearest, sample] / lengths[nearest] ** 2
    return Given(np.asfortranarray(goal.h_set.project(H))), Nothing()


def nearest_of(data: Cohort, W: Array) -> tuple[IntArray, Array, Array]:
    """Return the w_k of the largest cosine to each sample (n,), W'X (K, n), and ||w_k|| (K,)."""
    cross = data.cross(W)
    lengths = np.linalg.norm(W.astype(np.float64, copy=False), axis=0)
    lengths = np.where(lengths > 0, lengths, np.inf)
    return (cross / lengths[:, None]).argmax(axis=0), cross, lengths
