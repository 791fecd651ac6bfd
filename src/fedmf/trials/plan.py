"""Plans: many trials said in a small TOML file.

about = "FedMGS under SNCP with the paper's settings"

[common]                       entries of `Trial` that all have; seeds = 5 means 0, 1, ..., 4
n_sites = 100
seeds = 5

[[axes.data]]                  an axis is a list of partial tables; the trials are the product
data = "tdt2"                  of all axes, one table from each merged over [common], the later
rank = 30                      axis winning; tables inside (method, problem) are merged too

[[axes.method]]
method = { name = "fedmgs", participants = 10 }
seeds = 10
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any

from fedmf.errors import FedMFError, FileFormatError
from fedmf.files import read_toml
from fedmf.trials.trial import Trial

Table = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """A file's trials."""

    name: str
    about: str
    trials: list[Trial]


def read_plan(path: str | os.PathLike[str]) -> Plan:
    """Return the plan in a file."""
    file = Path(path)
    table = read_toml(file)
    for name in table:
        if name not in ("about", "common", "axes"):
            raise FileFormatError(f"{file}: {name!r} is none of about, common, axes")
    try:
        trials = expand(table.get("common", {}), table.get("axes", {}))
    except FedMFError as error:
        raise FileFormatError(f"{file}: {error}") from None
    return Plan(file.stem, str(table.get("about", "")), trials)


def expand(common: Table, axes: Mapping[str, list[Table]]) -> list[Trial]:
    """Return the trials of a product of axes, seeds last."""
    tables = [reduce(merged, choice, common) for choice in product(*axes.values())]
    return [Trial.of({**table, "seed": seed}) for table in tables for seed in _seeds(table)]


def merged(first: Table, second: Table) -> Table:
    """Return two tables as one, the second winning, and so for the tables inside."""
    both = {**first, **second}
    for name in first.keys() & second.keys():
        if isinstance(first[name], dict) and isinstance(second[name], dict):
            both[name] = merged(first[name], second[name])
    return both


def _seeds(table: Table) -> list[int]:
    """Take the seeds out of a table: a list, or how many from 0 on."""
    seeds = table.pop("seeds", [table.get("seed", 0)])
    return seeds if isinstance(seeds, list) else list(range(seeds))
