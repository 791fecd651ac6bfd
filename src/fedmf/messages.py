"""What the server asks and what the sites answer.

A method (an algorithm, a start, a rival) is written from the server's side as a generator that
yields requests and is sent the answers, and from a site's side as a table of tasks: pure functions
(goal, private state, payload, data, weight) -> (private state, update). A runtime is only the way
in which requests reach the sites.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.sites import Cohort

S = TypeVar("S")
Message: TypeAlias = tuple[Any, ...]  # a named tuple of arrays and numbers
Answering: TypeAlias = Callable[[Any, Any, Any, Cohort, Array], tuple[Any, Message]]


class Nothing(NamedTuple):
    """A message without content."""


class Task(NamedTuple):
    """Something that a site can be asked to do.

    The update of a task is the sum over the cohort's sites of weight_p times what site p sends,
    so that updates add up, unless `each`: then the answers are wanted one by one.
    """

    run: Answering
    each: bool = False
    counted: bool = False  # by the paper's formula of the communication cost
    sends: type[Message] | None = None  # the update; a real site sends none that is not declared
    broadcast: str | None = None  # the task that brings who missed this one up to date
    addable: bool = False  # the update is a change, which may as well be added to a later sum
    portable: bool = False  # works where samples and columns are on a device, too


class Request(NamedTuple):
    """One question to some sites."""

    task: str
    payload: Message
    sites: IntArray  # ascending, distinct
    weight: Array  # what each of them counts; zero: it works, but sends nothing
    times: IntArray  # how often the paper's formula counts each of them
    round: int = 0


class Answer(NamedTuple):
    """The sites' answer: the sum of their updates unless these stand for themselves."""

    total: Any  # in double precision
    each: list[Any]  # the updates as they came
    sites: IntArray
    weight: float


Exchange: TypeAlias = Generator[Request, Answer, S]


class Method(Protocol):
    """Whatever has tasks for the sites."""

    def tasks(self) -> dict[str, Task]:
        """Return what a site can be asked, by name."""


class Runtime(Protocol):
    """The way in which requests reach the sites."""

    sites: int

    def ask(self, method: Method, goal: Any, request: Request) -> Answer:
        """Put a request to its sites and return their answer, summed in the order of the sites."""


def ask(
    task: str,
    payload: Message,
    sites: IntArray,
    weight: Array | None = None,
    times: IntArray | None = None,
) -> Request:
    """Return a request in which every site counts once, unless said otherwise."""
    ones, once = _ones(len(sites))
    return Request(
        task, payload, sites, ones if weight is None else weight, once if times is None else times
    )


def add_up(updates: Sequence[Message]) -> Message:
    """Add messages entry by entry in double precision, in their order."""
    kind = type(updates[0])
    if len(updates) == 1:
        return kind(*(np.asarray(value, dtype=np.float64) for value in updates[0]))
    return kind(*(_sum(values) for values in zip(*updates, strict=True)))


def _sum(values: Iterable[Any]) -> Any:
    values = iter(values)
    total = np.array(next(values), dtype=np.float64)
    for value in values:
        total += value
    return total


@lru_cache(maxsize=64)
def _ones(count: int) -> tuple[Array, IntArray]:
    """Return the same two arrays for every request, so that a ledger of many rounds stays small."""
    return np.ones(count), np.ones(count, dtype=np.int64)
