"""A job: what the coordinator asks a federation to do, as tables of plain values.

    [problem] [algorithm] [run] [penalty]    as for `fedmf fit --config`
    [federation] deadline      seconds after which a request of a round goes on without the missing
                 min_answers   ... as soon as so many have answered
                 late          "refuse" an answer after the deadline, or "use" it in a later sum
                 label         a name for people

Everything is named: sites build problem, algorithm and start from their own installed code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fedmf import recommended
from fedmf.algorithms import Algorithm
from fedmf.checks import check_integer, check_real, check_type, unknown
from fedmf.config import algorithm_from, problem_from, wanted_penalty
from fedmf.errors import ParameterError
from fedmf.messages import Method
from fedmf.penalties import PenaltySchedule
from fedmf.problem import Goal, Known, Problem
from fedmf.rng import resolve_seed
from fedmf.setup import Setup
from fedmf.starts import Start, find
from fedmf.stopping import Stopping

Table = dict[str, Any]

RUN: Table = {
    "rounds": 500, "tol": 1e-8, "seed": 0, "init": None, "cluster": False, "max_seconds": None,
}  # fmt: skip
FEDERATION: Table = {"deadline": None, "min_answers": 1, "late": "refuse", "label": ""}
TABLES = ("problem", "algorithm", "run", "penalty", "federation")


@dataclass(frozen=True)
class Job:
    """The tables of a job, checked."""

    problem: Table
    algorithm: Table
    run: Table = field(default_factory=dict)
    penalty: Table = field(default_factory=dict)
    federation: Table = field(default_factory=dict)

    @classmethod
    def of(cls, tables: Mapping[str, Any]) -> Job:
        """Return the job of a configuration's tables, with the defaults filled in."""
        for name, table in tables.items():
            if name not in (*TABLES, "data") or not isinstance(table, dict):
                allowed = ", ".join(f"[{known}]" for known in TABLES)
                raise ParameterError(f"{name!r} is none of the tables of a job: {allowed}")
        penalty = dict(tables.get("penalty", {}))
        asked = tables.get("run", {})
        cluster = bool(asked.get("cluster") or penalty)
        run = _filled("run", asked, {**RUN, **(recommended.RUN if cluster else {})})
        run["seed"] = resolve_seed(run["seed"])
        algorithm = {"name": "fedmgs", **tables.get("algorithm", {})}
        federation = _filled("federation", tables.get("federation", {}), FEDERATION)
        if cluster:
            run["cluster"], penalty = True, {"name": "sncp", **penalty}
        job = cls(dict(tables.get("problem", {})), algorithm, run, penalty, federation)
        job.check()
        return job

    @property
    def tables(self) -> dict[str, Table]:
        """The tables, as a frame's header holds them."""
        return {name: getattr(self, name) for name in TABLES}

    @cached_property
    def the_problem(self) -> Problem:
        """The problem."""
        return problem_from(self.problem)

    @cached_property
    def the_algorithm(self) -> Algorithm:
        """The algorithm."""
        return algorithm_from(self.algorithm)

    @cached_property
    def the_start(self) -> Start | None:
        """The start, where one is named."""
        return None if self.run["init"] is None else find(self.run["init"])

    @property
    def the_penalty(self) -> PenaltySchedule | None:
        """The growing penalty, where there is one."""
        return wanted_penalty(self.penalty) if self.penalty else None

    def stopping(self, spent: float = 0.0) -> Stopping:
        """Return the rules by which it ends, some seconds having been spent."""
        run, most = self.run, self.run["max_seconds"]
        return Stopping(run["rounds"], run["tol"], None if most is None else max(most - spent, 0.0))

    def method(self, name: str) -> Method:
        """Return who has the tasks of this name: the set-up, the start or the algorithm."""
        if name == "setup":
            return Setup()
        if name == "start" and self.the_start is not None:
            return self.the_start
        if name == "algorithm":
            return self.the_algorithm
        raise ParameterError(f"a job has no method {name!r}")

    def goal(self, known: list[Any] | None) -> Goal | None:
        """Return the problem with the figures of all data, where these are known."""
        return None if known is None else self.the_problem.goal(Known(*known))

    def check(self) -> None:
        """Refuse what no site could do."""
        if "rank" not in self.problem:
            raise ParameterError("[problem] needs rank, the number of columns of W")
        self.the_problem, self.the_algorithm, self.the_start, self.the_penalty  # noqa: B018
        self.stopping()
        check_type("[run] cluster", self.run["cluster"], bool)
        asked = self.federation
        if asked["deadline"] is not None:
            check_real("deadline", asked["deadline"], minimum=0, above=True, finite=True)
        check_integer("min_answers", asked["min_answers"], minimum=1)
        check_type("label", asked["label"], str)
        if asked["late"] not in ("refuse", "use"):
            raise unknown("late", asked["late"], ("refuse", "use"))
        tasks = self.the_algorithm.tasks().values()
        if asked["late"] == "use" and not any(task.addable for task in tasks):
            raise ParameterError(
                f'late = "use" needs answers that are changes, as those of fedmgs; '
                f"{self.the_algorithm.name} averages those who answer in time"
            )


def method_name(method: Method) -> str:
    """Return what a job calls a method."""
    if isinstance(method, Setup):
        return "setup"
    return "start" if isinstance(method, Start) else "algorithm"


def _filled(name: str, table: Mapping[str, Any], defaults: Table) -> Table:
    """Return a table with its defaults; refuse entries that nobody reads."""
    for key in table:
        if key not in defaults:
            raise ParameterError(f"[{name}] has no entry {key!r}; it has {', '.join(defaults)}")
    return {**defaults, **table}
