"""A start from the W of a run that left clusters empty: these are made anew from the largest.

    a site    counts its samples by the w_k of the largest cosine; sends K counts
    server    in the place of an empty w_k: the w of the largest cluster, its entries varied, and
              each of the two is thought to have half of its samples; and so on for the next
    a site    x ~ h w_k for the nearest of the new w_k, as in the other starts

Only counts leave a site, so that no sample can be told from what a site sent before. Where the
variation attracts nobody, it is drawn again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.declared import CountEach
from fedmf.messages import Exchange, Nothing, Task, ask
from fedmf.problem import Goal
from fedmf.rng import stream
from fedmf.sites import Cohort
from fedmf.starts.base import Start
from fedmf.starts.grouping import Centres, assign, nearest_of
from fedmf.starts.join import varied

TRIES = 10


class Counts(NamedTuple):
    """How many of a site's samples are nearest to each w_k."""

    counts: CountEach


@dataclass(frozen=True, eq=False)
class Reseed(Start):
    """Where another run has ended, its empty clusters begun anew.

    Parameters
    ----------
    W : (M, K), of the other run.
    empty : which of its columns are to be made anew.
    """

    name: ClassVar[str] = "reseed"

    W: Array = field(default_factory=lambda: np.empty((0, 0)))
    empty: tuple[int, ...] = ()

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks."""
        return {
            "count": Task(_count, counted=True, sends=Counts),
            "assign": Task(assign, sends=Nothing),
        }

    def run(
        self, goal: Goal, everyone: IntArray, dtype: np.dtype[Any], seed: int
    ) -> Exchange[Array | None]:
        """Return W0."""
        random, anew = stream(seed, "start reseed"), np.array(self.empty, dtype=np.int64)
        W = np.array(self.W, dtype=dtype)
        W[:, anew] = 0  # nobody is nearest to it
        sizes = (yield ask("count", Centres(W), everyone)).total.counts
        for _ in range(TRIES):
            W = goal.w_set.project(_split(W, sizes, anew, random))
            sizes = (yield ask("count", Centres(W), everyone)).total.counts
            anew = anew[sizes[anew] == 0]
            if not anew.size:
                break
        yield ask("assign", Centres(W), everyone)
        return W


def _split(W: Array, sizes: IntArray, anew: IntArray, random: np.random.Generator) -> Array:
    """Return W with columns made anew from those of the largest clusters, halved each time."""
    W, sizes = W.copy(), sizes.astype(np.float64)
    sizes[anew] = 0
    for column in anew:
        largest = int(sizes.argmax())
        W[:, column] = varied(W[:, largest][None], random)[0]
        sizes[column] = sizes[largest] = sizes[largest] / 2
    return W


def _count(
    goal: Goal, private: None, order: Centres, data: Cohort, weight: Array
) -> tuple[None, Counts]:
    """Count the samples by their nearest direction."""
    nearest, _, _ = nearest_of(data, order.W)
    return private, Counts(np.bincount(nearest, minlength=order.W.shape[1]))
