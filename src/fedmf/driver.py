"""What every run goes through, wherever its sites are: it is begun, then driven to its end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from fedmf.algorithms import Algorithm
from fedmf.arrays import Array
from fedmf.checks import check_real
from fedmf.engine import Federation, Position, begin
from fedmf.engine import rounds as rounds_from
from fedmf.errors import ParameterError
from fedmf.penalties import SNCP, PenaltySchedule
from fedmf.problem import Known, Problem
from fedmf.recommended import Recommended
from fedmf.run import Run
from fedmf.starts import Start, begin_at
from fedmf.stopping import Ending, Stopping


class Keeper(Protocol):
    """Keeps a run at its last complete round."""

    run: Run

    def keep(self, position: Position) -> None:
        """Take over a round."""

    def interrupted(self) -> Run:
        """Return the run as of its last complete round, after Ctrl-C."""

    def finish(self, ending: Ending) -> Run:
        """Return the run, ended for this reason."""


def begin_run(
    problem: Problem,
    algorithm: Algorithm,
    known: Known,
    federation: Federation,
    dtype: np.dtype[Any],
    seed: int,
    *,
    start: Start | None = None,
    W: Array | None = None,
    penalty: PenaltySchedule | None = None,
    **kept: Any,
) -> Run:
    """Bring server and sites to where round 1 begins; return the run, with what is `kept` in it."""
    goal = problem.goal(known)
    if isinstance(penalty, SNCP | Recommended) and goal.rank > known.samples:
        raise ParameterError(
            f"rank must be at most the number of samples, {known.samples}, where they are to be "
            f"clustered; got {goal.rank}"
        )
    if start is not None:
        W = begin_at(start, goal, federation, dtype, seed)
    position = begin(algorithm, goal, federation, seed, W, dtype)
    if isinstance(penalty, Recommended):
        penalty = penalty.after(random=W is None)
    return Run(
        problem=problem,
        algorithm=algorithm,
        goal=goal,
        seed=seed,
        figures=federation.figures,
        position=position,
        private=None,
        rows=[],
        ledger=federation.ledger,
        initial_objective=position.objective,
        penalty=penalty,
        **kept,
    )


def drive(
    keeper: Keeper,
    federation: Federation,
    stopping: Stopping,
    callback: Callable[[Position], None] | None = None,
    looker: Callable[[int], None] | None = None,
) -> Run:
    """Consume the round loop until a rule or the user ends it."""
    run = keeper.run
    loop = rounds_from(run.algorithm, run.goal, federation, run.position, run.seed)
    try:
        position = next(loop)
        if looker is not None:
            looker(position.round)
        while True:
            rho = _next_rho(run)
            growing = rho is not None and rho != position.rho
            ending = stopping.ending(position, settled=not growing)
            if ending is not None:
                return keeper.finish(ending)
            position = loop.send(rho)
            keeper.keep(position)
            if callback is not None:
                callback(position)
            if looker is not None:
                looker(position.round)
    except KeyboardInterrupt:
        return keeper.interrupted()


def _next_rho(run: Run) -> float | None:
    """Return what the run's schedule says of the next round, checked."""
    penalty = run.penalty
    if isinstance(penalty, SNCP):
        penalty = penalty.for_algorithm(run.algorithm)
    rho = None if penalty is None else penalty(run.rows)
    return None if rho is None else check_real("penalty", rho, minimum=0, finite=True)
