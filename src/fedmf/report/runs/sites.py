"""The sites: how many samples each has, how often it took part, what it adds to F."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.errors import MissingDataError
from fedmf.report.figure import Figure, Lines, Series
from fedmf.report.page import Details, Part, Section, Text
from fedmf.report.record import Record
from fedmf.report.table import Cell, Table
from fedmf.terms import contributions

STEPS = 200  # of a profile; more sites are averaged
LISTED = 20  # sites of a table
HEADINGS = (
    *("site", "samples", "rounds drawn", "share of F", "per sample, of the mean"),
    "relative error",
)
ORDER = "sites, largest first"
UNKNOWN = "{}: what each site adds to F is not kept; runs in one process keep it at their end."
MEANT = (
    "Share of F: what the site's samples and its H add to the objective. Per sample: the same for "
    "one of its samples, 1 being the mean over all. Relative error: ||X - W H|| / ||X|| there."
)


def section(records: Sequence[Record]) -> Section:
    """Return the section."""
    groups = {
        "Samples": (_samples(records), "How many samples each site has."),
        "Rounds drawn": ([_turns(one) for one in records if not _always(one)],
                         "In how many rounds each site was drawn."),
        "Share of F": ([_shares(one) for one in records if one.run.terms is not None],
                       "What each site adds to the objective at the end, in per cent."),
    }  # fmt: skip
    many = max(len(record.run.sizes) for record in records)
    note = f" Each step is the mean of up to {_together(many)} sites." if many > STEPS else ""
    filled = {title: made for title, made in groups.items() if made[0]}
    parts: list[Part]
    if len(records) == 1:
        panels = [panel for own, _ in filled.values() for panel in own]
        caption = " ".join(caption for _, caption in filled.values())
        parts = [Figure("Sites", panels, caption + note, key="sites")]
    else:
        parts = [
            Figure(title, panels, caption + note, key=f"sites-{place}")
            for place, (title, (panels, caption)) in enumerate(filled.items())
        ]
    return Section("Sites", [*parts, *_said(records), *_tables(records)])


def _samples(records: Sequence[Record]) -> list[Lines]:
    """Return the sizes of the sites, once where they are the same in all runs."""
    first = records[0].run.sizes
    if all(np.array_equal(record.run.sizes, first) for record in records):
        return [_panel(records[0], first, "", "samples", "")]
    return [_panel(one, one.run.sizes, one.label, "samples", "") for one in records]


def _turns(record: Record) -> Lines:
    above = f"rounds drawn, of {len(record.run.rows):,}"
    return _panel(record, record.turns, record.series, above, record.method)


def _shares(record: Record) -> Lines:
    return _panel(record, 100 * shares(record), record.series, "% of F", record.method)


def _panel(record: Record, values: Array | IntArray, title: str, y: str, method: str) -> Lines:
    """Return a panel with a value for each site, the largest sites first."""
    profile = np.asarray(values, float)[by_size(record)]
    log = not method and values.max() > 20 * max(1.0, float(np.median(values)))
    return Lines(
        [_profile(profile, method)], title, ORDER, y, y_log=log,
        y_range=(0.7 if log else 0, None), x_range=(0, len(profile)),
    )  # fmt: skip


def _profile(values: Array, method: str) -> Series:
    """Return values as steps; where there are many, as the means of neighbours."""
    edges = np.append(np.arange(0, len(values), _together(len(values))), len(values))
    means = np.add.reduceat(values, edges[:-1]) / np.diff(edges)
    return Series("", edges, np.append(means, means[-1]), method=method, step=True, fill=True)


def _together(sites: int) -> int:
    """Return how many sites share a step."""
    return -(-sites // STEPS)


def by_size(record: Record) -> IntArray:
    """Return the sites, largest first."""
    return np.argsort(-record.run.sizes, kind="stable")


def shares(record: Record) -> Array:
    """Return each site's share of F (less R_W, which belongs to none), (P,)."""
    run = record.run
    added = contributions(run.goal, _terms(record), run.rho)
    total = added.sum()
    return added / total if total else np.zeros_like(added)


def _terms(record: Record) -> Array:
    if record.run.terms is None:
        raise MissingDataError(f"{record.label}: what each site adds to F is not known")
    return record.run.terms


def _always(record: Record) -> bool:
    """Whether every site was drawn in every round."""
    return bool((record.turns == len(record.run.rows)).all())


def _said(records: Sequence[Record]) -> list[Text]:
    """Say in words what needs no picture, or has none."""
    always = [record.label for record in records if _always(record) and record.run.rows]
    unknown = [record.label for record in records if record.run.terms is None]
    said = [f"Every site took part in every round: {'; '.join(always)}."] if always else []
    said += [UNKNOWN.format("; ".join(unknown))] if unknown else []
    return [Text(" ".join(said), note=True)] if said else []


def _tables(records: Sequence[Record]) -> list[Part]:
    known = [record for record in records if record.run.terms is not None]
    tables = [_table(one, f"sites-table-{place}") for place, one in enumerate(known)]
    if not tables:
        return []
    summary = f"The sites that add most to F, at most {LISTED}"
    return [Details(summary, [*tables, Text(MEANT, note=True)])]


def _table(record: Record, key: str) -> Table:
    run, share = record.run, shares(record)
    terms = _terms(record)
    sizes, turns = run.sizes, record.turns
    rows = []
    for site in np.argsort(-share, kind="stable")[:LISTED]:
        loss, norm = terms[site, 0], run.figures[site, 2]
        each = share[site] / sizes[site] * sizes.sum()
        error = float(np.sqrt(max(loss, 0) / norm)) if norm else 0.0
        rows.append(
            (
                int(site), int(sizes[site]), int(turns[site]),
                Cell(f"{share[site]:.2%}", float(share[site])),
                Cell(f"{each:.2f}", float(each)), Cell(f"{error:.3f}", error),
            )
        )  # fmt: skip
    return Table(HEADINGS, rows, record.label, key, data=True)
