"""The table with a line for each run."""

from __future__ import annotations

from collections.abc import Sequence

from fedmf.report.page import Section, Text
from fedmf.report.record import Record, communication, penalty_grows
from fedmf.report.table import Cell, Table
from fedmf.report.words import count, data_size, time

HEADINGS = (
    *("run", "K", "rounds", "F at the start", "objective F", "uplink, reals", "uplink"),
    *("downlink", "time", "outcome"),
)
COUNTED = (
    "Reals are counted as in the paper (the matrices that are uploaded); uplink and downlink are "
    "the bytes of all messages, the set-up and the first upload included."
)
GREW = "F has the penalty of its round, which grew: a later F may be the larger one."


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    notes = [COUNTED, *([GREW] if any(map(penalty_grows, records)) else [])]
    table = Table(HEADINGS, [_line(record) for record in records], "All runs", "runs", data=True)
    return Section("At a glance", [table, Text(" ".join(notes), note=True)])


def _line(record: Record) -> tuple[Cell | int | float, ...]:
    run, sent = record.run, communication(record.run)
    seconds = float(record.column("seconds").sum())
    return (
        Cell(record.label, method=record.method),
        run.goal.rank,
        run.position.round,
        run.initial_objective,
        run.position.objective,
        Cell(count(sent.reals), sent.reals),
        Cell(data_size(sent.up), sent.up),
        Cell(data_size(sent.down), sent.down),
        Cell(time(seconds), round(seconds, 3)),
        Cell("converged" if run.converged else "not converged"),
    )
