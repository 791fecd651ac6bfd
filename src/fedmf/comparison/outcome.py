"""What a comparison found: a table of the methods, a line for each run, the clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from fedmf.errors import ParameterError
from fedmf.report.words import data_size, time
from fedmf.tables import Cell, Column, Mean, Row, Table
from fedmf.trials import Result, Trial
from fedmf.trials.methods import title
from fedmf.trials.summary import SENT, by_seed, means

if TYPE_CHECKING:
    import pandas as pd

    from fedmf.arrays import IntArray

CLASSES = ("accuracy", "nmi", "ari", "purity")


class Facts(NamedTuple):
    """What was clustered."""

    clusters: int
    sizes: Sequence[int]  # of the sites
    features: int
    labelled: bool

    def __str__(self) -> str:
        """Say it in a line."""
        count, least, most = len(self.sizes), min(self.sizes), max(self.sizes)
        each = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        sites = "one site" if count == 1 else f"{count:,} sites of {each}"
        return (
            f"{sum(self.sizes):,} samples at {sites}, "
            f"{self.features:,} features, {self.clusters} clusters"
        )


class Line(NamedTuple):
    """A method with the results of all its seeds, and their means by name."""

    title: str
    pooled: bool
    results: list[Result]
    means: dict[str, Mean]

    @property
    def method(self) -> str:
        """The method's short name."""
        return str(self.results[0].trial["method"]["name"])

    def values(self, name: str) -> list[float]:
        """Return a figure of each seed, in the units of the means."""
        if name == "stability":
            return [self.means[name].mean]
        scale = 100.0 if name in CLASSES else 1.0
        return [scale * float(r.scores[name] if name in r.scores else getattr(r, name))
                for r in self.results]  # fmt: skip


def _reals(number: float) -> str:
    """Return a count in thousands, millions or billions: 1.23 M."""
    return data_size(number).removesuffix("B").strip()


# What a table can show of a method; which of them it does depends on whether classes are known.
COLUMNS = {
    "method": Column("method", ""),
    "accuracy": Column("accuracy", "accuracy, %", best="high"),
    "nmi": Column("nmi", "NMI, %", best="high"),
    "ari": Column("ari", "ARI, %", best="high"),
    "purity": Column("purity", "purity, %", best="high"),
    "silhouette": Column("silhouette", digits=3, spread=False, best="high"),
    "stability": Column("stability", digits=2),
    "orthogonality": Column("orthogonality", show=lambda value: f"{value:.2g}", spread=False),
    "loss": Column("loss", "error", show=lambda value: f"{value:.4g}", spread=False),
    "smallest": Column("smallest", "smallest cluster", digits=0, spread=False),
    "largest": Column("largest", "largest cluster", digits=0, spread=False),
    "sizes": Column("sizes", "sizes"),
    "empty": Column("empty", "empty clusters", digits=1, spread=False),
    "rounds": Column("rounds", digits=0, spread=False),
    "uplink_reals": Column("uplink_reals", "uplink, reals", show=_reals, spread=False),
    "uplink_bytes": Column("uplink_bytes", "uplink", show=data_size, spread=False),
    "downlink_bytes": Column("downlink_bytes", "downlink", show=data_size, spread=False),
    "seconds": Column("seconds", "time", show=time, spread=False),
    "raw": Column("raw_samples_sent", "raw sent"),
    "raw_samples": Column("raw_samples", digits=0, spread=False),
    "seeds": Column("seeds", digits=0),
}
COST = ("rounds", "uplink_reals", "uplink_bytes", "seconds", "raw")
SHOWN = {
    True: ("method", "accuracy", "nmi", *COST),
    False: ("method", "loss", "silhouette", "stability", "sizes", *COST),
}
QUALITY = ("silhouette", "stability", "loss", "orthogonality", "smallest", "largest", "empty")
ALL = ("method", "seeds", *CLASSES, *QUALITY, *COST, "raw_samples", "downlink_bytes")


@dataclass(frozen=True)
class Comparison:
    """What came out.

    Attributes
    ----------
    facts : what was clustered.
    trials : all methods and seeds; `results` has what came out of them, by their key.
    failed, left : trials that could not be run, with why; those for which the time was too short.
    """

    facts: Facts
    trials: list[Trial]
    results: dict[str, Result]
    failed: list[tuple[Trial, str]] = field(default_factory=list)
    left: list[Trial] = field(default_factory=list)
    seconds: float = 0.0

    @cached_property
    def lines(self) -> list[Line]:
        """The methods of which there is a result: the federated ones first, in their order."""
        found = [self.results[one.key] for one in self.trials if one.key in self.results]
        pooled = {one.key: one.how.pooled for one in self.trials}
        groups = by_seed(found)
        names = titles([group[0].trial["method"] for group in groups])
        lines = [
            Line(name, pooled[group[0].key], group, _means(group, pooled=pooled[group[0].key]))
            for name, group in zip(names, groups, strict=True)
        ]
        return sorted(lines, key=lambda line: line.pooled)

    def table(self, *, whole: bool = False) -> Table:
        """Return a row for each method: means over the seeds, with their standard deviation.

        whole : with all that is known of them rather than what matters most.
        """
        labelled = self.facts.labelled
        names: Sequence[str] = SHOWN[labelled]
        if whole:
            names = [name for name in ALL if labelled or name not in CLASSES]
        rows = [
            Row([_cell(line, name) for name in names], apart=line.pooled) for line in self.lines
        ]
        return Table([COLUMNS[name] for name in names], rows)

    def frame(self) -> pd.DataFrame:
        """Return a row for each run: method, seed, and its figures."""
        import pandas as pd

        return pd.DataFrame([_figures(line, r) for line in self.lines for r in line.results])

    def labels(self, method: str, seed: int | None = None) -> IntArray:
        """Return the clusters (N,) that a method found, in the order of the data.

        method : as the table calls it; seed=None: the first.
        """
        called = [line.title for line in self.lines]
        if method not in called:
            raise ParameterError(f"method must be one of {', '.join(called)}; got {method!r}")
        line = self.lines[called.index(method)]
        for result in line.results:
            if seed in (None, result.trial["seed"]) and result.labels is not None:
                return result.labels
        seeds = ", ".join(str(result.trial["seed"]) for result in line.results)
        raise ParameterError(f"seed must be one of {seeds}; got {seed}")

    def save(self, folder: str | PathLike[str], name: str = "the samples") -> list[Path]:
        """Write the tables and the page into a folder; return the files, the page first."""
        from fedmf.comparison.saved import save

        return save(self, Path(folder), name)

    def __str__(self) -> str:
        """Return the table as text."""
        table = self.table()
        lines = [table.headings, *table.words()]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                word.rjust(width) if place else word.ljust(width)
                for place, (word, width) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in lines
        )

    __repr__ = __str__  # in a notebook too, where all results would fill the page


def titles(methods: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return what methods are called; those of one name with the settings in which they differ."""
    plain = [title(method) for method in methods]
    found = []
    for name, method in zip(plain, methods, strict=True):
        alike = [other for called, other in zip(plain, methods, strict=True) if called == name]
        differ = [key for key in method if any(other.get(key) != method[key] for other in alike)]
        told = {key: "default" if method[key] is None else method[key] for key in differ}
        found.append(", ".join([name, *(f"{key} = {value}" for key, value in told.items())]))
    return found


def _means(group: list[Result], *, pooled: bool) -> dict[str, Mean]:
    """Return a group's means, the quality of its clusters in per cent.

    What is pooled was sent before the method began: its messages are no figures of it.
    """
    found = {name: mean for name, mean in means(group).items() if not (pooled and name in SENT)}
    for name in CLASSES:
        if name in found:
            mean, spread, size = found[name]
            found[name] = Mean(100 * mean, 100 * spread, size)
    for name, pick in (("smallest", min), ("largest", max)):
        found[name] = Mean.of(pick(result.scores["sizes"]) for result in group)
    if not found["rounds"].mean:
        del found["rounds"]
    return found


def _cell(line: Line, name: str) -> Cell:
    """Return what a column says of a method."""
    if name == "method":
        return line.title
    if name == "raw":
        return "all" if line.pooled else any(result.raw_samples_sent for result in line.results)
    if name == "sizes":
        return f"{line.means['smallest'].mean:,.0f}-{line.means['largest'].mean:,.0f}"
    return len(line.results) if name == "seeds" else line.means.get(name)


def _figures(line: Line, result: Result) -> dict[str, Any]:
    """Return one run's figures by name."""
    sizes = np.asarray(result.scores["sizes"])
    scores = {name: value for name, value in result.scores.items() if name != "sizes"}
    return {
        "method": line.title,
        "seed": result.trial["seed"],
        **scores,
        "smallest": int(sizes.min()),
        "largest": int(sizes.max()),
        "rounds": result.rounds,
        "uplink_reals": result.uplink_reals,
        "uplink_bytes": result.uplink_bytes,
        "downlink_bytes": result.downlink_bytes,
        "seconds": result.seconds,
        "raw_samples": result.raw_samples,
        "status": result.status,
    }
