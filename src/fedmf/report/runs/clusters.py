"""The clusters: their sizes, a map of the samples, how clear-cut they are, what marks each.

Where H stays at the sites, or has signs, there are no clusters to show: columns of W remain.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.clustering import orthogonality
from fedmf.clustering.metrics import ari, cluster_sizes
from fedmf.report.figure import Bar, Bars, Figure, Heat, Panel, Scatter
from fedmf.report.page import Details, Part, Section, Text
from fedmf.report.record import Record
from fedmf.report.runs.plane import placed, sampled
from fedmf.report.table import Cell, Table, Value

POINTS = 1500  # of all maps of a page together
FEWEST, MOST = 300, 500  # of a map
SHOWN = 24  # clusters up to which each has a bar and each pair a square
NAMED = 6  # features of each column of W
OWN = (
    "The columns of W are scaled to the same length. Largest: the largest entries of the column. "
    "Most its own: where it is most above the mean of the other columns."
)


def section(records: Sequence[Record], kind: str) -> Section:
    """Return the section; `kind` is that of the maps."""
    clear = [record for record in records if _clustered(record)]
    points = int(np.clip(POINTS // max(len(clear), 1), FEWEST, MOST))
    parts: list[Part] = [
        _figure(record, kind, points, f"clusters-{place}") for place, record in enumerate(clear)
    ]
    if len(clear) > 1 and _same_samples(clear):
        parts.append(_agreement(clear))
    away = [record.label for record in records if record.run.private is None]
    if away:
        parts.append(
            Text(f"H stays at the sites, no sample is seen: {'; '.join(away)}.", note=True)
        )
    for place, record in enumerate(records):
        table = _columns(record, f"columns-{place}")
        summary = f"{record.label}: what marks each column of W"
        folded: list[Part] = [table, Text(OWN, note=True)]
        parts.append(Details(summary, folded, open=len(records) == 1))
    return Section("Clusters" if clear else "Columns of W", parts)


def _clustered(record: Record) -> bool:
    """Whether a sample's largest entry of H means something: H is here, and has no signs."""
    run = record.run
    return run.private is not None and run.goal.rank > 1 and bool(run.private.H.min() >= 0)


def _labels(record: Record) -> IntArray:
    return np.concatenate(record.run.labels)


def _figure(record: Record, kind: str, points: int, key: str) -> Figure:
    """Return a run's clusters: sizes, map, overlap."""
    H, labels = record.run.private.H, _labels(record)
    kept = sampled(H.shape[1], points)
    places, found = placed(_modelled(record.run.W, H[:, kept]), kind)
    panels: list[Panel] = [_sizes(record, labels)]
    panels.append(Scatter(places, labels[kept], title=f"{found} of the samples as W h"))
    if record.run.goal.rank <= SHOWN:
        panels.append(_overlap(H))
    many = f"{len(kept):,} of {H.shape[1]:,} samples" if len(kept) < H.shape[1] else "all samples"
    caption = (
        "A sample belongs to the cluster of the largest entry of its column of H. "
        f"Map: {found} of {many}, each as the run has it, W h. Overlap: cosines of the rows of H, "
        f"0 where no sample is in both. How far H is from one entry a column, between 0 and 1: "
        f"{orthogonality(H):.3f}."
    )
    return Figure(record.label, panels, caption, key=key)


def _modelled(W: Array, H: Array) -> Array:
    """Return samples as rows (n, K) that are as far from each other as their columns of W H.

    H alone would not do: where each sample has one cluster, all of a cluster would be one point.
    """
    turned = np.linalg.qr(W.astype(np.float64, copy=False), mode="r")
    found: Array = (turned @ H).T
    return found


def _sizes(record: Record, labels: IntArray) -> Bars:
    """Return the sizes of the clusters; of many, the largest."""
    sizes = cluster_sizes(labels, record.run.goal.rank)
    order = np.arange(len(sizes)) if len(sizes) <= SHOWN else np.argsort(-sizes)[:SHOWN]
    bars = [Bar(f"{cluster}", float(sizes[cluster])) for cluster in order]
    title = "samples by cluster"
    return Bars(
        bars, title if len(order) == len(sizes) else f"{title}, the largest", form="{:,.0f}"
    )


def _overlap(H: Array) -> Heat:
    """Return the cosines of the rows of H; of a row of zeros, none."""
    wide = H.astype(np.float64, copy=False)
    gram = wide @ wide.T
    lengths = np.sqrt(np.diag(gram))
    with np.errstate(invalid="ignore", divide="ignore"):
        cosines = np.where(np.outer(lengths, lengths) > 0, gram / np.outer(lengths, lengths), 0.0)
    names = [f"{cluster}" for cluster in range(len(H))]
    return Heat(cosines, names, names, "overlap of clusters", limits=(0.0, 1.0))


def _same_samples(records: Sequence[Record]) -> bool:
    first = records[0].run
    return all(
        np.array_equal(one.run.sizes, first.sizes) and one.run.goal.known == first.goal.known
        for one in records
    )


def _agreement(records: Sequence[Record]) -> Figure:
    """Return how far the runs agree on the samples."""
    names = [record.label for record in records]
    found = [_labels(record) for record in records]
    values = np.array([[ari(one, other) for other in found] for one in found])
    caption = (
        "The adjusted Rand index of every pair of runs: 1 where they cluster alike, 0 where no "
        "more than by chance. A cluster's number means nothing in another run."
    )
    numbers = [f"{place}" for place in range(1, len(names) + 1)]
    heads = [f"{number}: {name}" for number, name in zip(numbers, names, strict=True)]
    panel = Heat(values, heads, numbers, limits=(0.0, 1.0))
    return Figure("Agreement", [panel], caption, key="agreement")


def _columns(record: Record, key: str) -> Table:
    """Return what marks each column of W."""
    W = record.run.W.astype(np.float64, copy=False)
    lengths = np.linalg.norm(W, axis=0)
    W = W / np.where(lengths > 0, lengths, 1)
    others = (W.sum(axis=1, keepdims=True) - W) / max(W.shape[1] - 1, 1)
    largest, own = _top(W), _top(W - others)
    told = _told(record)
    rows: list[tuple[Value, ...]] = [
        (k, *told[k], _named(record, largest[:, k]), _named(record, own[:, k]))
        for k in range(W.shape[1])
    ]
    counted = ("samples", "sites") if _clustered(record) else ()
    headings = ("column", *counted, "largest", "most its own")
    return Table(headings, rows, record.label, key, wrap=headings[-2:], data=True)


def _told(record: Record) -> list[tuple[Cell, ...]]:
    """Return how many samples each cluster has, and at how many sites."""
    run = record.run
    if not _clustered(record):
        return [()] * run.goal.rank
    site = np.repeat(np.arange(len(run.sizes)), run.sizes)
    pairs = np.unique(np.column_stack([_labels(record), site]), axis=0)
    sizes = cluster_sizes(_labels(record), run.goal.rank)
    sites = cluster_sizes(pairs[:, 0], run.goal.rank)
    return [
        (Cell(f"{n:,}", int(n)), Cell(f"{p:,}", int(p))) for n, p in zip(sizes, sites, strict=True)
    ]


def _top(values: Array) -> IntArray:
    """Return the rows of the largest entries of each column, (NAMED, K)."""
    return np.argsort(-values, axis=0, kind="stable")[:NAMED]


def _named(record: Record, features: IntArray) -> str:
    names = record.run.features
    return ", ".join(f"feature {m}" if names is None else names[m] for m in features)
