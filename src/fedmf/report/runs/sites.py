"""The sites: how many samples each has, how often it took part."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedmf.arrays import IntArray
from fedmf.report.figure import Figure, Lines, Series
from fedmf.report.page import Section
from fedmf.report.record import Record


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    return Section(
        "Sites", [figure(record, f"sites-{place}") for place, record in enumerate(records)]
    )


def figure(record: Record, key: str) -> Figure:
    """Return the sites, largest first: their samples, and in how many rounds each took part."""
    order = np.argsort(-record.run.sizes, kind="stable")
    samples, turns = record.run.sizes[order], record.turns[order]
    x = np.arange(len(order) + 1)
    uneven = samples.max() > 20 * max(1, int(np.median(samples)))
    panels = [
        Lines([_profile(x, samples, "")], x="sites, largest first", y="samples", y_log=uneven),
        Lines([_profile(x, turns, record.method)], x="sites, largest first",
              y=f"rounds drawn, of {len(record.run.rows):,}", y_range=(0, None)),
    ]  # fmt: skip
    return Figure(record.label, panels, "The sites, and how often each was drawn.", key=key)


def _profile(x: IntArray, values: IntArray, method: str) -> Series:
    return Series("", x, np.append(values, values[-1:]), method=method, step=True, fill=True)
