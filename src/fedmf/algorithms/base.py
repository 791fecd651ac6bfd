"""What an algorithm is: one round seen from the server, and the tasks of a site."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fedmf.arrays import Array, IntArray, Scalar, first_integers
from fedmf.checks import check_integer
from fedmf.errors import ParameterError
from fedmf.messages import Exchange, Nothing, Task
from fedmf.private import Columns
from fedmf.problem import Goal, Parts
from fedmf.rng import stream
from fedmf.sites import Cohort


class Begin(NamedTuple):
    """The order to begin: the scale and the seed of the paper's random start for H."""

    scale: Scalar
    seed: Scalar


class Given(NamedTuple):
    """A site's own start for H, in place of a random one."""

    H: Columns


class Draw(NamedTuple):
    """Who takes part in a round: the sites drawn, with repeats, and all that could be."""

    drawn: IntArray
    sizes: IntArray  # N_p of every site

    @property
    def everyone(self) -> IntArray:
        """All sites."""
        return first_integers(len(self.sizes))


@dataclass(frozen=True, kw_only=True)
class Algorithm(ABC):
    """An algorithm: settings, a server's side and a site's side, no state of its own.

    The server's state is a named tuple whose first field is `W`; a site's private state is a named
    tuple whose first field is `H`. Both are replaced, never changed in place.
    """

    name: ClassVar[str]
    server_type: ClassVar[type[tuple[Any, ...]]]
    private_type: ClassVar[type[tuple[Any, ...]]]

    participants: int | None = None

    @abstractmethod
    def draw(self, sizes: IntArray, random: np.random.Generator) -> IntArray:
        """Return the sites drawn for a round."""

    @abstractmethod
    def tasks(self) -> dict[str, Task]:
        """Return what a site can be asked, `begin` among it."""

    @abstractmethod
    def private(self, goal: Goal, data: Cohort, H: Array) -> Any:
        """Return a site's private state at the start."""

    @abstractmethod
    def start(self, goal: Goal, W: Array, everyone: IntArray) -> Exchange[Any]:
        """Bring server and sites to where round 1 begins; return the server's state."""

    @abstractmethod
    def round(self, goal: Goal, server: Any, draw: Draw, number: int, rho: float) -> Exchange[Any]:
        """Play one round; return the server's state after it."""

    @abstractmethod
    def parts(self, goal: Goal, server: Any) -> Parts:
        """Return the sums of which F consists, as the server knows them after a round."""

    def check_sites(self, sites: int) -> None:
        """Refuse settings that this many sites cannot meet."""
        if self.participants is not None and self.participants > sites:
            raise ParameterError(
                f"participants must be at most the number of sites, {sites}; "
                f"got {self.participants}"
            )

    def begin(
        self, goal: Goal, given: Given | None, order: Begin, data: Cohort, weight: Array
    ) -> tuple[Any, Nothing]:
        """Make a site's private state, from its own start for H or from a random one."""
        H = random_H(goal.rank, order, data) if given is None else given.H
        return self.private(goal, data, H), Nothing()


def check_participants(value: int | None) -> None:
    """Refuse a number of participants that no federation could meet."""
    if value is not None:
        check_integer("participants", value, minimum=1)


def random_W(goal: Goal, dtype: np.dtype[Any], seed: int) -> Array:
    """Return the paper's random start for W: uniform on [0, a), a = sqrt(mean|X| / K)."""
    shape = (goal.known.features, goal.rank)
    return (stream(seed, "start W").random(shape) * start_scale(goal)).astype(dtype)


def random_H(rank: int, order: Begin, data: Cohort) -> Array:
    """Return the paper's random start for H: one stream for each site."""
    drawn = [
        stream(int(order.seed), "start H", site=int(site)).random((size, rank))
        for site, size in zip(data.sites, data.sizes, strict=True)
    ]
    return (np.concatenate(drawn) * float(order.scale)).astype(data.dtype).T


def start_scale(goal: Goal) -> float:
    """Return a = sqrt(mean|X| / K)."""
    return float(np.sqrt(goal.known.mean_absolute / goal.rank))
