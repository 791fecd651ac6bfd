"""A run as it is shown: its name, its history and sums of it, its settings in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from fedmf.algorithms import Algorithm
from fedmf.arrays import Array, IntArray
from fedmf.files import read_toml
from fedmf.run import Run
from fedmf.storage import CONFIG, RESOLVED, load
from fedmf.titles import title


class Sent(NamedTuple):
    """What a run sent in all."""

    reals: int  # up, by the paper's count
    up: int  # bytes
    down: int


@dataclass(frozen=True)
class Record:
    """A run, the folder it lies in, and how it is called beside others."""

    folder: Path
    run: Run
    config: dict[str, Any]
    resolved: dict[str, Any]
    label: str = ""
    series: str = ""  # the label where there are several runs, none where one is alone

    @property
    def method(self) -> str:
        """The algorithm's short name."""
        return self.run.algorithm.name

    def column(self, name: str) -> Array:
        """Return a column of the history."""
        return np.array([row[name] for row in self.run.rows], dtype=np.float64)

    @property
    def uploaded(self) -> Array:
        """Bytes uploaded after each round, those before round 1 included."""
        return self.sent("uplink_bytes")[1:]

    def sent(self, name: str) -> Array:
        """Return a count of the ledger in all, before round 1 and after each round."""
        return np.cumsum(np.append(self.run.ledger.first()[name], self.column(name)))

    @property
    def turns(self) -> IntArray:
        """In how many rounds each site took part, by the draw."""
        sites = len(self.run.sizes)
        drawn = [np.unique(row["participants"]).astype(np.int64) for row in self.run.rows]
        if not drawn:
            return np.zeros(sites, dtype=np.int64)
        return np.bincount(np.concatenate(drawn), minlength=sites)


def read(folder: Path) -> Record:
    """Read a run's folder."""
    run = load(folder)
    config, resolved = (read_toml(folder / name) for name in (CONFIG, RESOLVED))
    return Record(folder, run, config, resolved, described(run.algorithm, len(run.sizes)))


def read_all(folders: Sequence[Path]) -> list[Record]:
    """Read several runs; where two would be called the same, their folders tell them apart."""
    records = [read(folder) for folder in folders]
    if len(records) == 1:
        return records
    labels = [record.label for record in records]
    called = [
        f"{record.label} ({record.folder.name})" if labels.count(record.label) > 1 else record.label
        for record in records
    ]
    return [
        replace(record, label=name, series=name)
        for record, name in zip(records, called, strict=True)
    ]


def described(algorithm: Algorithm, sites: int) -> str:
    """Return the method and how many of the sites take part in a round."""
    name, drawn = title(algorithm.name), algorithm.participants
    return f"{name}, all sites" if drawn in (None, sites) else f"{name}, m = {drawn}"


def communication(run: Run) -> Sent:
    """Return what a run sent, round 0 included."""
    names = ("uplink_reals", "uplink_bytes", "downlink_bytes")
    before = run.ledger.first()
    return Sent(*(before[name] + sum(row[name] for row in run.rows) for name in names))


def penalty_grows(record: Record) -> bool:
    """Whether rho was not the same in all rounds."""
    return len(set(record.column("rho"))) > 1
