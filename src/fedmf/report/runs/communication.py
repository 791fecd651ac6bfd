"""What was sent: in each round, in all, and by what the sites were asked."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedmf.ledger import SETUP, Entry
from fedmf.report.figure import Figure, Lines
from fedmf.report.page import Section
from fedmf.report.record import Record
from fedmf.report.runs.convergence import thinned
from fedmf.report.table import Cell, Table, Value
from fedmf.report.words import count, data_size, unit

WAYS = {"up": "uplink_bytes", "down": "downlink_bytes"}
HEADINGS = (
    "run",
    "the sites were asked",
    "times",
    "answers",
    "uplink, reals",
    "uplink",
    "downlink",
)


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    played = [record for record in records if record.run.rows]
    rows = [row for record in records for row in _tasks(record)]
    table = Table(HEADINGS, rows, "All messages", key="messages", data=True)
    return Section(
        "Communication", [*([_per_round(played), _in_all(played)] if played else []), table]
    )


def _per_round(records: Sequence[Record]) -> Figure:
    sent = {way: [record.column(name) for record in records] for way, name in WAYS.items()}
    size, factor = unit(max(bytes_.max() for columns in sent.values() for bytes_ in columns))
    panels = [
        Lines(
            [
                thinned(record.series, record.column("round"), own / factor, record.method)
                for record, own in zip(records, columns, strict=True)
            ],
            y=f"{way} in a round, {size}",
            y_range=(0, None),
        )
        for way, columns in sent.items()
    ]
    caption = "The bytes of all messages of a round, from the sites (up) and to them (down)."
    return Figure("Per round", panels, caption, key="per-round")


def _in_all(records: Sequence[Record]) -> Figure:
    sent = {way: [record.sent(name) for record in records] for way, name in WAYS.items()}
    size, factor = unit(max(bytes_[-1] for columns in sent.values() for bytes_ in columns))
    panels = [
        Lines(
            [
                thinned(
                    record.series, np.append(0, record.column("round")), own / factor, record.method
                )
                for record, own in zip(records, columns, strict=True)
            ],
            y=f"{way} in all, {size}",
            y_range=(0, None),
        )
        for way, columns in sent.items()
    ]
    caption = (
        "The same added up; what came before round 1 is at 0: the set-up and the first upload."
    )
    return Figure("In all", panels, caption, key="in-all")


def _tasks(record: Record) -> list[tuple[Value, ...]]:
    """Return a row for each thing that sites were asked, before round 1 and in the rounds."""
    groups: dict[tuple[bool, str], list[Entry]] = {}
    for entry in record.run.ledger.entries:
        groups.setdefault((entry.round == SETUP, entry.task), []).append(entry)
    return [
        (
            Cell(record.label, method=record.method),
            f"{task}, before round 1" if before else task,
            len(entries),
            sum(int((entry.uploads > 0).sum()) for entry in entries),
            *_totals(entries),
        )
        for (before, task), entries in groups.items()
    ]


def _totals(entries: Sequence[Entry]) -> tuple[Cell, Cell, Cell]:
    all_ = [entry.totals() for entry in entries]
    reals, up, down = (sum(own[name] for own in all_) for name in ("uplink_reals", *WAYS.values()))
    return Cell(count(reals), reals), Cell(data_size(up), up), Cell(data_size(down), down)
