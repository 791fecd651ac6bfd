"""The ledger: what went up and down, a line for each request, in reals and in bytes.

Reals are counted by the paper's formula (the entries of the matrices that the algorithm uploads,
m M K for FedMAvg and m (M K + K^2) for FedMGS a round); bytes are those of every message as it
would be sent, the set-up, the first upload and the objective's scalars included.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from fedmf import wire
from fedmf.arrays import IntArray
from fedmf.messages import Answer, Request, Task

if TYPE_CHECKING:
    import pandas as pd

COUNTS = ("uplink_reals", "uplink_bytes", "downlink_bytes")
SETUP = 0  # the number of the round before round 1


class Entry(NamedTuple):
    """One request and its answers."""

    round: int
    task: str
    sites: IntArray  # who was asked
    uploads: IntArray  # how often each counts in the formula; zero: it sent nothing
    up_reals: IntArray  # the numbers in each answer, or one entry where all are alike
    up_bytes: IntArray
    down_reals: int  # in the request that each of them received
    down_bytes: int
    counted: bool

    def totals(self) -> dict[str, int]:
        """Return what all its sites together sent and received."""
        reals = int((self.uploads * self.up_reals).sum()) if self.counted else 0
        sent = int(((self.uploads > 0) * self.up_bytes).sum())
        return dict(zip(COUNTS, (reals, sent, self.down_bytes * len(self.sites)), strict=True))


@dataclass
class Ledger:
    """All entries of a run, in order."""

    entries: list[Entry] = field(default_factory=list)

    def record(self, task: Task, request: Request, answer: Answer) -> None:
        """Write down one request and its answers."""
        all_answered = answer.sites is request.sites  # as they always do in one process
        silent = request.weight == 0
        if not all_answered:
            silent |= ~np.isin(request.sites, answer.sites)
        uploads = np.where(silent, 0, request.times) if silent.any() else request.times
        messages = answer.each if task.each else answer.each[:1]
        up_reals = np.array([wire.reals(message) for message in messages])
        up_bytes = np.array([wire.size(message) for message in messages])
        down = wire.reals(request.payload), wire.size(request.payload)
        line = (request.round, request.task, request.sites, uploads, up_reals, up_bytes, *down)
        self.entries.append(Entry(*line, task.counted))
        if all_answered:
            return
        late = np.setdiff1d(answer.sites, request.sites)
        if len(late):  # answers to an earlier request
            once = np.ones(len(late), dtype=np.int64)
            sent = (request.round, request.task, late, once, up_reals[:1], up_bytes[:1], 0, 0)
            self.entries.append(Entry(*sent, task.counted))

    def totals(self, round_: int) -> dict[str, int]:
        """Return what the last round sent: reals by the formula, bytes up and bytes down."""
        found = [entry.totals() for entry in takewhile(lambda e: e.round == round_,
                                                       reversed(self.entries))]  # fmt: skip
        return {name: sum(totals[name] for totals in found) for name in COUNTS}

    def first(self) -> dict[str, int]:
        """Return what was sent before round 1: the set-up and the first upload."""
        return Ledger([entry for entry in self.entries if entry.round == SETUP]).totals(SETUP)

    def by_round(self) -> list[dict[str, int]]:
        """Return what every request sent, with its round."""
        return [{"round": entry.round, **entry.totals()} for entry in self.entries]

    def frame(self) -> pd.DataFrame:
        """Return a line for each round, task and site; counted: by the paper's formula."""
        import pandas as pd

        columns = (
            *("round", "task", "site", "uplink_reals"),
            *("counted_reals", "uplink_bytes", "downlink_reals", "downlink_bytes"),
        )
        lines = [
            pd.DataFrame(
                {
                    "round": e.round,
                    "task": e.task,
                    "site": e.sites,
                    "uplink_reals": e.uploads * e.up_reals,
                    "counted_reals": e.uploads * e.up_reals * e.counted,
                    "uplink_bytes": (e.uploads > 0) * e.up_bytes,
                    "downlink_reals": e.down_reals,
                    "downlink_bytes": e.down_bytes,
                }
            )
            for e in self.entries
        ]
        return pd.concat(lines, ignore_index=True) if lines else pd.DataFrame(columns=columns)
