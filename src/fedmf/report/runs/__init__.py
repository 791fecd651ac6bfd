"""The page of runs: each module here makes one section of it, for one run or for several."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fedmf.errors import ParameterError
from fedmf.report.page import Page, Text
from fedmf.report.record import Record, read_all
from fedmf.report.runs import clusters, communication, convergence, glance, settings, sites


def page_of(folders: Sequence[Path], kind: str = "tsne") -> Page:
    """Return the page of the runs in these folders, with maps of this kind (see `plane`)."""
    if not folders:
        raise ParameterError("a report needs at least one run")
    return page(read_all(folders), kind)


def page(records: Sequence[Record], kind: str = "tsne") -> Page:
    """Return the page of these runs."""
    sections = [
        glance.section(records),
        convergence.section(records),
        communication.section(records),
        sites.section(records),
        clusters.section(records, kind),
        settings.section(records),
    ]
    return Page(_title(records), sections, [Text(_about(records))])


def _title(records: Sequence[Record]) -> str:
    return records[0].label if len(records) == 1 else f"{len(records)} runs"


def _about(records: Sequence[Record]) -> str:
    known = records[0].run.goal.known
    if any(record.run.goal.known != known for record in records):
        return "The runs are not on the same data: their objectives cannot be compared."
    sites = len(records[0].run.sizes)
    return f"{known.samples:,} samples at {sites:,} sites, {known.features:,} features."
