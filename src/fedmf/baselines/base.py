"""What a rival is, and how it is run: sites and messages over the same runtime and ledger.

Every rival ends in the same way: each site gives its own samples a label and keeps the labels; what
it tells the server is the sum of squared distances and how many of its samples have left it raw.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, ClassVar, NamedTuple

import numpy as np

from fedmf.arrays import Array, IntArray, Scalar
from fedmf.border import as_sites
from fedmf.checks import check_integer, check_type
from fedmf.engine import converse, set_up
from fedmf.errors import ParameterError
from fedmf.ledger import Ledger
from fedmf.messages import Answer, Exchange, Request, Runtime, Task, ask
from fedmf.parallel import threads as threads_of
from fedmf.points import BoolArray, Flags, Labels, Points
from fedmf.rng import resolve_seed
from fedmf.runtimes.local import LocalRuntime
from fedmf.sites import Cohort


class Scene(NamedTuple):
    """What the server knows when a rival begins."""

    sizes: IntArray  # N_p
    features: int
    seed: int

    @property
    def everyone(self) -> IntArray:
        """All sites."""
        return np.arange(len(self.sizes))


class Result(NamedTuple):
    """What the server knows at the end."""

    centres: Array  # (K, M)
    cost: float
    raw_samples: int


class Centres(NamedTuple):
    """The final centres, or those of an iteration."""

    centres: Array


class Outcome(NamedTuple):
    """What a site says at the end: its cost, and how many of its samples have left it."""

    cost: Scalar
    raw: Scalar


class Final(NamedTuple):
    """A site's private state at the end."""

    labels: Labels
    sent: Flags  # whether the sample has left the site as it is
    outliers: Flags


@dataclass(frozen=True)
class Rival(ABC):
    """A rival: settings, a server's side and a site's side, no state of its own.

    Every private state has a field `sent`, and the last one is `Final`.
    """

    name: ClassVar[str]
    sends: ClassVar[str]  # what leaves a site, in a line
    finds_outliers: ClassVar[bool] = False

    n_clusters: int

    def __post_init__(self) -> None:
        """Check every setting once."""
        check_integer("n_clusters", self.n_clusters, minimum=1)

    @abstractmethod
    def tasks(self) -> dict[str, Task]:
        """Return what a site can be asked, by name."""

    @abstractmethod
    def play(self, scene: Scene) -> Exchange[Result]:
        """Cluster, seen from the server."""


@dataclass(frozen=True)
class Clustering:
    """What came out.

    Attributes
    ----------
    labels : the cluster of each sample, site by site.
    centres : (K, M).
    cost : the sum of squared distances of all samples to the centres of their clusters.
    rounds : how often the server asked and was answered, after the set-up exchange.
    ledger : what was sent; the set-up exchange is round 0.
    raw_samples : how many samples left their sites bit for bit as they are.
    outliers : which samples are outliers, site by site; None where the method knows of none.
    """

    name: str
    sends: str
    labels: list[IntArray]
    centres: Array
    cost: float
    rounds: int
    ledger: Ledger
    raw_samples: int
    outliers: list[BoolArray] | None
    seed: int
    seconds: float

    @property
    def raw_samples_sent(self) -> bool:
        """Whether raw samples left a site."""
        return self.raw_samples > 0


def run(
    rows_per_site: Sequence[Any], method: Rival, seed: int | None = 0, threads: int | None = None
) -> Clustering:
    """Cluster the samples of sites in this process.

    Parameters
    ----------
    rows_per_site : a sequence of (n_p, M) arrays, numpy or scipy CSR, samples in rows.
    method : the rival with its settings.
    seed : of everything random; None draws one, which the result records.
    threads : how many threads; the result does not depend on it.
    """
    check_type("method", method, Rival)
    if threads is not None:
        check_integer("threads", threads, minimum=1)
    data = as_sites(rows_per_site)
    with threads_of(threads):
        runtime = LocalRuntime(data.rows, data.features, apart=True)
        return cluster(runtime, method, resolve_seed(seed))


def cluster(runtime: LocalRuntime, method: Rival, seed: int) -> Clustering:
    """Run a rival and gather from the sites of this process what stays there: the labels."""
    start = perf_counter()
    result, ledger, rounds = conduct(runtime, method, seed)
    finals: list[Final] = runtime.privates()
    return Clustering(
        name=method.name,
        sends=method.sends,
        labels=[final.labels for final in finals],
        centres=result.centres,
        cost=result.cost,
        rounds=rounds,
        ledger=ledger,
        raw_samples=result.raw_samples,
        outliers=[final.outliers for final in finals] if method.finds_outliers else None,
        seed=seed,
        seconds=perf_counter() - start,
    )


def conduct(runtime: Runtime, method: Rival, seed: int) -> tuple[Result, Ledger, int]:
    """Run a rival over any runtime: what the server gets, the ledger, the number of rounds."""
    known, federation = set_up(runtime)
    sizes, ledger = federation.sizes, federation.ledger
    if method.n_clusters > known.samples:
        raise ParameterError(
            f"n_clusters must be at most the number of samples, {known.samples}; "
            f"got {method.n_clusters}"
        )
    exchange = method.play(Scene(sizes, known.features, seed))
    number = 0
    try:
        request = next(exchange)
        while True:
            number += 1
            answer = converse(_one(request), method, None, runtime, ledger, number)
            request = exchange.send(answer)
    except StopIteration as done:
        return done.value, ledger, number


def _one(request: Request) -> Exchange[Answer]:
    """Put one request: a round of its own in the ledger."""
    return (yield request)


LABEL = "label"


def label(centres: Array, scene: Scene) -> Exchange[Result]:
    """Have every site assign its samples to the final centres."""
    answer = yield ask(LABEL, Centres(centres), scene.everyone)
    return result(centres, answer)


def result(centres: Array, answer: Answer) -> Result:
    """Return the result from the sum of the sites' outcomes."""
    return Result(centres, float(answer.total.cost), int(answer.total.raw))


def answer_label(
    goal: None, private: Any, payload: Centres, data: Cohort, weight: Array
) -> tuple[Final, Outcome]:
    """Give each of the site's samples the label of its nearest centre."""
    labels, squared = Points.of(data).nearest(payload.centres)
    return finish(labels, squared, private.sent)


def finish(
    labels: IntArray, squared: Array, sent: BoolArray, outliers: BoolArray | None = None
) -> tuple[Final, Outcome]:
    """Return a site's last private state and what it tells."""
    none = np.zeros(len(labels), dtype=bool)
    outcome = Outcome(np.float64(squared.sum()), np.int64(sent.sum()))
    return Final(labels, sent, none if outliers is None else outliers), outcome
