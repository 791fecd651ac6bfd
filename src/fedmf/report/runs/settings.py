"""The settings of the runs side by side, and what computed them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fedmf.report.page import Details, Section
from fedmf.report.record import Record
from fedmf.report.table import Table

Entries = dict[str, str]


def section(records: Sequence[Record]) -> Section:
    """Return the section: where there are several runs, first what tells them apart."""
    labels = [record.label for record in records]
    settings = [flat(record.config) for record in records]
    machine = [
        {"folder": str(record.folder), "ended": record.run.status}
        | flat({name: record.resolved.get(name, {}) for name in ("versions", "machine")})
        for record in records
    ]
    whole = side_by_side(labels, settings, "All settings")
    differing = side_by_side(labels, settings, "Settings that differ", only_differing=True)
    return Section(
        "Settings and versions",
        [
            *([differing] if len(records) > 1 and differing.rows else []),
            Details("Settings", [whole], open=len(records) == 1),
            Details("Versions and machine", [side_by_side(labels, machine, "Computed by")]),
        ],
    )


def side_by_side(
    labels: Sequence[str], entries: Sequence[Entries], caption: str, *, only_differing: bool = False
) -> Table:
    """Return a table with a line for each name and a column for each run."""
    names = dict.fromkeys(name for own in entries for name in own)
    rows = [(name, *(own.get(name, "") for own in entries)) for name in names]
    if only_differing:
        rows = [row for row in rows if len(set(row[1:])) > 1]
    headings = ("", *labels) if len(labels) > 1 else ("", "value")
    return Table(headings, rows, caption, sortable=False, wrap=headings[1:])


def flat(table: dict[str, Any], prefix: str = "") -> Entries:
    """Return the entries of nested tables with their full names."""
    found: Entries = {}
    for name, value in table.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[f"{prefix}{name}"] = _plain(value)
    return found


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
