"""The settings of a run as tables: read from a file, overruled by what was given beside it.

The tables are those of a run folder's config.toml: [problem], [algorithm], [run], [data], and
[penalty] where rho grows.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedmf import recommended
from fedmf.cli._data import KEYS
from fedmf.errors import FileFormatError, ParameterError
from fedmf.files import read_toml

if TYPE_CHECKING:
    from fedmf.algorithms import Algorithm
    from fedmf.penalties import PenaltySchedule
    from fedmf.problem import Problem

WHOLE, REAL, TEXT, CHOICE = "a whole number", "a number", "text", "true or false"
KINDS: dict[str, tuple[type, ...]] = {
    WHOLE: (int,),
    REAL: (int, float),
    TEXT: (str,),
    CHOICE: (bool,),
}
TABLES = ("problem", "algorithm", "run", "data", "penalty")
RUN = {
    "rounds": 500,
    "tol": 1e-8,
    "seed": 0,
    "init": None,
    "cluster": False,
    "max_seconds": None,
}
RUN_KINDS = {
    "rounds": WHOLE,
    "tol": REAL,
    "seed": WHOLE,
    "init": TEXT,
    "cluster": CHOICE,
    "max_seconds": REAL,
}
DATA_KINDS = {key: WHOLE if key == "n_sites" else TEXT for key in KEYS}
Tables = dict[str, dict[str, Any]]


@dataclass
class Settings:
    """All tables; what the tables do not say has its default."""

    problem: dict[str, Any] = field(default_factory=dict)
    algorithm: dict[str, Any] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    data: dict[str, Any] = field(default_factory=dict)
    penalty: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Fill in the defaults; refuse entries that nobody reads or that are of another kind."""
        _known("run", self.run, RUN_KINDS)
        _known("data", self.data, DATA_KINDS)
        cluster = self.run.get("cluster", bool(self.penalty))
        self.run = {**RUN, "cluster": cluster, **(recommended.RUN if cluster else {}), **self.run}
        self.algorithm = {"name": "fedmgs", **self.algorithm}

    def make_problem(self) -> Problem:
        """Return the problem."""
        from fedmf.config import problem_from

        if "rank" not in self.problem:
            raise click.UsageError("how many columns shall W have? Say --rank K")
        return problem_from(self.problem)

    def make_algorithm(self) -> Algorithm:
        """Return the algorithm."""
        from fedmf.config import algorithm_from

        return algorithm_from(self.algorithm)

    def make_penalty(self) -> PenaltySchedule | None:
        """Return the growing penalty where clusters are wanted; a rho that is set begins it."""
        from fedmf.config import wanted_penalty

        given = {"start": self.problem["rho"]} if "rho" in self.problem else {}
        return wanted_penalty({**given, **self.penalty}) if self.run["cluster"] else None

    def notes(self) -> Tables:
        """Return what a run does not know by itself, without what is not set, for its TOML file."""
        return {"run": _set(self.run), "data": _set(self.data)}


def from_file(path: Path | None) -> Tables:
    """Return the tables of a file; empty ones without a file."""
    if path is None:
        return {name: {} for name in TABLES}
    found = read_toml(path)
    for name, table in found.items():
        if name not in TABLES or not isinstance(table, dict):
            allowed = ", ".join(f"[{table}]" for table in TABLES)
            raise FileFormatError(f"{path}: {name!r} is none of the tables {allowed}")
    tables = {name: found.get(name, {}) for name in TABLES}
    Settings(run=tables["run"], data=tables["data"])  # refuses what nobody reads
    return tables


def merged(file: Tables, flags: Tables) -> Settings:
    """Return the settings; flags win, and another algorithm begins from its own defaults."""
    name = flags["algorithm"].get("name")
    if name is not None and name != file["algorithm"].get("name", name):
        file = {**file, "algorithm": {}}
    if "source" in flags["data"]:
        file = {**file, "data": {}}
    return Settings(**{table: {**file[table], **flags.get(table, {})} for table in TABLES})


def _set(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if value is not None}


def _known(name: str, table: dict[str, Any], allowed: dict[str, str]) -> None:
    for key, value in table.items():
        if key not in allowed:
            raise ParameterError(f"[{name}] has no entry {key!r}; it has {', '.join(allowed)}")
        kind = allowed[key]
        fits = isinstance(value, KINDS[kind]) and (kind == CHOICE or not isinstance(value, bool))
        if value is not None and not fits:
            raise ParameterError(f"[{name}] {key} must be {kind}, got {value!r}")
