"""The one round loop, and the conversation between a server and its sites.

`rounds` is a generator: it yields the state after every round and can be sent the next penalty.
Whatever else happens during a run (stopping, history, checkpoints, the growing penalty of SNCP,
progress) is done by whoever consumes it.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from time import perf_counter
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from fedmf.algorithms.base import Algorithm, Begin, Draw, random_W, start_scale
from fedmf.arrays import Array, IntArray, first_integers
from fedmf.errors import NonFiniteError
from fedmf.ledger import SETUP, Ledger
from fedmf.messages import Exchange, Method, Runtime, ask
from fedmf.problem import Goal, Known
from fedmf.rng import stream
from fedmf.setup import Setup

S = TypeVar("S")


class Position(NamedTuple):
    """Where a run stands after a round."""

    round: int
    server: Any  # the algorithm's state; its first field is W
    rho: float  # in the problem's units: relative to the data, unless its weights are absolute
    objective: float  # F with this rho
    change: float  # |F - F before| / F before, both with this rho; NaN at the start
    participants: IntArray
    seconds: float
    sent: Mapping[str, int] = MappingProxyType({})  # by the round, as the ledger has it


class Federation(NamedTuple):
    """Who takes part: the way to the sites, their figures, and the book of what was sent."""

    runtime: Runtime
    figures: Array  # (P, 6), those of the set-up exchange
    ledger: Ledger

    @property
    def sizes(self) -> IntArray:
        """N_p of every site."""
        return self.figures[:, 0].astype(np.int64)

    @property
    def everyone(self) -> IntArray:
        """All sites."""
        return first_integers(len(self.figures))


def converse(
    exchange: Exchange[S], method: Method, goal: Any, runtime: Runtime, ledger: Ledger, number: int
) -> S:
    """Carry a method's requests to the sites and their answers back until it returns."""
    tasks = method.tasks()
    try:
        request = next(exchange)
        while True:
            request = request._replace(round=number)
            answer = runtime.ask(method, goal, request)
            ledger.record(tasks[request.task], request, answer)
            request = exchange.send(answer)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]


def set_up(runtime: Runtime) -> tuple[Known, Federation]:
    """Hold the set-up exchange."""
    ledger, setup = Ledger(), Setup()
    exchange = setup.run(runtime.sites)
    known, figures = converse(exchange, setup, None, runtime, ledger, SETUP)
    return known, Federation(runtime, figures, ledger)


def begin(
    algorithm: Algorithm,
    goal: Goal,
    federation: Federation,
    seed: int,
    W: Array | None,
    dtype: np.dtype[Any],
) -> Position:
    """Bring server and sites to where round 1 begins."""
    start = perf_counter()
    W = goal.w_set.project(random_W(goal, dtype, seed)) if W is None else W

    def exchange() -> Exchange[Any]:
        order = Begin(np.float64(start_scale(goal)), np.int64(seed))
        yield ask("begin", order, federation.everyone)
        return (yield from algorithm.start(goal, W, federation.everyone))

    server = _play(exchange(), algorithm, goal, federation, SETUP)
    F = _objective(algorithm, goal, server, goal.first_rho, SETUP)
    nobody = np.empty(0, dtype=np.int64)
    return Position(SETUP, server, goal.first_rho, F, np.nan, nobody, perf_counter() - start)


def rounds(
    algorithm: Algorithm, goal: Goal, federation: Federation, position: Position, seed: int
) -> Generator[Position, float | None, None]:
    """Yield the position to begin from, then that after each round, without end.

    A number sent is the next round's rho. F is then known anew at once, so that the change of that
    round is one with the same rho on both sides.
    """
    while True:
        rho = yield position
        start = perf_counter()
        if rho is not None and rho != position.rho:
            position = with_penalty(algorithm, goal, position, rho)
        number, server = position.round + 1, position.server
        drawn = algorithm.draw(federation.sizes, stream(seed, "participants", number))
        draw = Draw(drawn, federation.sizes)
        exchange = algorithm.round(goal, server, draw, number, position.rho * goal.scale)
        server = _play(exchange, algorithm, goal, federation, number)
        F = _objective(algorithm, goal, server, position.rho, number)
        change = relative_change(F, position.objective)
        seconds = perf_counter() - start
        sent = federation.ledger.totals(number)
        position = Position(number, server, position.rho, F, change, drawn, seconds, sent)


def with_penalty(algorithm: Algorithm, goal: Goal, position: Position, rho: float) -> Position:
    """Return the same position with another penalty: only F changes."""
    F = _objective(algorithm, goal, position.server, rho, position.round)
    return position._replace(rho=rho, objective=F)


def _objective(algorithm: Algorithm, goal: Goal, server: Any, rho: float, number: int) -> float:
    """Return F; refuse one that is not finite."""
    with np.errstate(over="ignore", invalid="ignore"):  # refused below, with a name to it
        F = goal.objective(algorithm.parts(goal, server), server.W, rho * goal.scale)
    if not np.isfinite(F):
        raise NonFiniteError(
            f"round {number}, server: F left the finite numbers; look for huge or tiny values in "
            "the data, or rescale them"
        )
    return F


def relative_change(now: float, before: float) -> float:
    """Return |F - F before| / F before, the paper's epsilon; zero where both are zero."""
    if now == before:
        return 0.0
    return abs(now - before) / abs(before) if before != 0 else np.inf


def _play(
    exchange: Exchange[Any], algorithm: Algorithm, goal: Goal, federation: Federation, number: int
) -> Any:
    """Hold one round's conversation; refuse a server's state that is not finite."""
    _, _, ledger = federation
    with np.errstate(over="ignore", invalid="ignore"):  # refused below, with a name to it
        server = converse(exchange, algorithm, goal, federation.runtime, ledger, number)
    if not np.isfinite(server.W).all():
        raise NonFiniteError(
            f"round {number}, server: W left the finite numbers; look for huge or tiny values in "
            "the data, or use larger step divisors"
        )
    # The order in memory decides the order of sums: the one in which a saved state is read back.
    return type(server)(*(np.asarray(value, order="C") for value in server))
