"""The page of runs: each module here makes one section of it, for one run or for several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fedmf.errors import ParameterError
from fedmf.report.page import Page, Text
from fedmf.report.record import Record, read_all
from fedmf.report.runs import convergence, glance, settings, sites

SECTIONS = (glance, convergence, sites, settings)


def page_of(folders: Sequence[Path]) -> Page:
    """Return the page of the runs in these folders."""
    if not folders:
        raise ParameterError("a report needs at least one run")
    return page(read_all(folders))


def page(records: Sequence[Record]) -> Page:
    """Return the page of these runs."""
    made = (part.section(records) for part in SECTIONS)
    return Page(_title(records), [one for one in made if one is not None], [Text(_about(records))])


def _title(records: Sequence[Record]) -> str:
    return records[0].label if len(records) == 1 else f"{len(records)} runs"


def _about(records: Sequence[Record]) -> str:
    known = records[0].run.goal.known
    if any(record.run.goal.known != known for record in records):
        return "The runs are not on the same data: their objectives cannot be compared."
    sites = len(records[0].run.sizes)
    return f"{known.samples:,} samples at {sites:,} sites, {known.features:,} features."
