"""The page of a comparison: the table, how good and how dear each method is, and its course."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fedmf.comparison.outcome import CLASSES, COLUMNS, Comparison, Line
from fedmf.report import (
    Bar,
    Bars,
    Details,
    Figure,
    Lines,
    Page,
    Reference,
    Section,
    Series,
    Table,
    Text,
    results,
)
from fedmf.report.runs.settings import flat, side_by_side
from fedmf.trials.curves import averaged

if TYPE_CHECKING:
    from fedmf.report.figure import Panel

COURSE = ("rank", "init", "cluster", "problem", "rounds", "tol")
START = 0.5  # where round 0 stands on a scale of powers of ten


def page_of(found: Comparison, name: str, links: Sequence[tuple[str, str]] = ()) -> Page:
    """Return the page of a comparison on data of this name."""
    seeds = max((len(line.results) for line in found.lines), default=0)
    several = "" if seeds < 2 else f" Means of {seeds} seeds with their standard deviation."
    lead = [
        Text(f"{found.facts}.{several}"),
        Text(
            "Every algorithm begins with the same seed at the same point. Methods that stand apart "
            "at the end have all samples in one place: no federation has that.",
            note=True,
        ),
        *(Text(_missing(found)) for _ in [0] if found.failed or found.left),
    ]
    sections = [
        Section("The methods", [_table(found, "comparison", links=links)]),
        Section("How good, and at what cost", [_quality(found), _cost(found)]),
        *_course(found),
        Section("The clusters", [_sizes(found)]),
        Section(
            "All figures",
            [
                Details("All means", [_table(found, "means", whole=True, data=True)]),
                Details("Every run", [_runs(found)]),
                *_settings(found),
            ],
        ),
    ]
    return Page(f"Clusters of {name}", sections, lead)


def _missing(found: Comparison) -> str:
    told = [f"{trial.name}: {error.strip().splitlines()[-1]}" for trial, error in found.failed]
    left = [f"{len(found.left)} runs were not begun or not ended"] if found.left else []
    return f"Not complete: {'; '.join([*told, *left])}."


def _table(found: Comparison, key: str, *, whole: bool = False, **more: Any) -> Table:
    """Return the table of the methods as a page shows it."""
    made = results(found.table(whole=whole), [line.method for line in found.lines], key=key)
    return replace(made, headings=["method", *made.headings[1:]], **more)


def _quality(found: Comparison) -> Figure:
    """Return bars of what the clusters are worth."""
    labelled = found.facts.labelled
    names = ("accuracy", "nmi") if labelled else ("silhouette", "stability")
    about = (
        "Against the classes, which no method sees."
        if labelled
        else "Without classes: how much nearer a sample is to its own cluster than to the next, "
        "and how alike the clusters of two seeds are."
    )
    panels = [_bars(found, name, "{:.1f}" if labelled else "{:.3f}") for name in names]
    spread = " Lines: from the smallest to the largest of the seeds."
    return Figure("What the clusters are worth", panels, about + spread, "quality")


def _cost(found: Comparison) -> Figure:
    """Return bars of what it took."""
    panels = [
        _bars(found, "uplink_bytes", "{:,.4g}", "uploaded, MB", 1e-6),
        _bars(found, "seconds", "{:,.4g}", "seconds on one core"),
    ]
    about = (
        "What all sites sent, the set-up included, and how long this machine took for all of them "
        "together. Scales of powers of ten."
    )
    return Figure("What it took", panels, about, "cost")


def _bars(
    found: Comparison, name: str, form: str, title: str | None = None, scale: float = 1.0
) -> Bars:
    """Return a panel with a bar for each method that has this figure."""
    bars = []
    for line in found.lines:
        if name in line.means:
            values = [scale * value for value in line.values(name)]
            low, high = (min(values), max(values)) if len(values) > 1 else (None, None)
            mean = scale * line.means[name].mean
            bars.append(Bar(line.title, mean, line.method, low, high))
    return Bars(bars, x=title or COLUMNS[name].heading, x_log=title is not None, form=form)


def _course(found: Comparison) -> list[Section]:
    """Return the curves of the methods that have any, and the levels of those that have none."""
    running = [line for line in found.lines if line.results[0].curve]
    if not running:
        return []
    parts = [_curves(found, running, "loss", "error a sample")]
    if found.facts.labelled:
        parts.insert(0, _curves(found, running, "accuracy", COLUMNS["accuracy"].heading))
    return [Section("By round and by upload", parts)]


def _curves(found: Comparison, running: list[Line], name: str, title: str) -> Figure:
    """Return how a figure goes, by round and by upload."""
    scale = 100.0 if name in CLASSES else 1.0
    federated = [line for line in running if not line.pooled]
    by_round = [_series(line, name, "round", scale) for line in running]
    by_bytes = [_series(line, name, "uplink_bytes", scale) for line in federated]
    # The error of a factorisation is that to W h, of k-means that to a centre: not to be compared.
    others = [line for line in found.lines if line not in running and name in CLASSES]
    levels = [Reference(line.title, line.means[name].mean, line.method) for line in others]
    panels: list[Panel] = [
        Lines(by_round, x="round (the start at ½)", y=title, x_log=True, references=levels),
        Lines(by_bytes, x="uploaded, MB", y="", x_log=True, references=levels),
    ]
    about = "Means over the seeds, with bands from the smallest to the largest."
    if levels:
        about += " Level lines: methods that have no such course."
    return Figure(f"{title.partition(',')[0].capitalize()} on the way", panels, about,
                  f"course-{name}")  # fmt: skip


def _series(line: Line, name: str, by: str, scale: float) -> Series:
    """Return a method's mean curve."""
    found = averaged(line.results, name, by)
    x = np.maximum(found.x, START) if by == "round" else found.x / 1e6
    several = len(line.results) > 1
    low, high = (scale * found.low, scale * found.high) if several else (None, None)
    return Series(line.title, x, scale * found.mean, low, high, method=line.method)


def _sizes(found: Comparison) -> Figure:
    """Return the sizes of each method's clusters, the largest first."""
    places = np.arange(1, found.facts.clusters + 1)
    series = []
    for line in found.lines:
        sizes = np.stack([np.sort(r.scores["sizes"])[::-1] for r in line.results]).mean(axis=0)
        series.append(Series(line.title, places, sizes, method=line.method))
    panel = Lines(series, x="cluster, the largest first", y="samples")
    about = "How many samples each cluster has, mean over the seeds."
    return Figure("Sizes of the clusters", [panel], about, "sizes")


def _runs(found: Comparison) -> Table:
    """Return a row for each run."""
    frame = found.frame()
    rows = [[_shown(value) for value in row] for row in frame.itertuples(index=False)]
    return Table(list(frame.columns), rows, key="runs", data=True, wrap=("status",))


def _shown(value: Any) -> Any:
    return None if isinstance(value, float) and np.isnan(value) else value


def _settings(found: Comparison) -> list[Details]:
    """Return what every method was told, and what computed it."""
    if not found.lines:
        return []
    first = [line.results[0] for line in found.lines]
    entries = [
        flat(r.trial["method"] | {name: r.trial[name] for name in COURSE if name in r.trial})
        for r in first
    ]
    settings = side_by_side([line.title for line in found.lines], entries, "Settings")
    made = side_by_side([""], [flat({**first[0].machine, **first[0].versions})], "Computed by")
    return [Details("Settings", [settings]), Details("Versions and machine", [made])]
