"""What a figure shows, said without drawing it: panels of lines, bars, points or a heat map.

A `Figure` is drawn in a page and in files from the same description, and gives away its data as a
table. Lines of one name look the same in all its panels; a method has the same colour everywhere.

    mean = Series("FedMGS, m = 10", rounds, F, low, high, method="fedmgs")
    Figure("Convergence", [Lines([mean], x="round", y="objective F", y_log=True)])
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.errors import ParameterError
from fedmf.report.looks import Look, of_level, of_line

if TYPE_CHECKING:
    import pandas as pd

MARKED = 4  # lines of a panel, above which they have marks too

Range: TypeAlias = tuple[float | None, float | None]


@dataclass(frozen=True, eq=False)
class Series:
    """A line: y over x, perhaps with a band from low to high (a spread over seeds).

    `method` decides the colour. `step`: constant up to the next x. `fill`: down to zero. `faint`:
    noise behind the others, not among the data. `look`: instead of the look that it would get. A
    line that is faint or has no name is not in the legend.
    """

    name: str
    x: Any
    y: Any
    low: Any = None
    high: Any = None
    method: str = ""
    step: bool = False
    fill: bool = False
    faint: bool = False
    look: Look | None = None

    def __post_init__(self) -> None:
        """Refuse columns of different lengths."""
        lengths = {len(one) for one in (self.x, self.y, self.low, self.high) if one is not None}
        if len(lengths) != 1 or (self.low is None) != (self.high is None):
            raise ParameterError(f"series {self.name!r}: x, y, low and high must be equally long")


class Reference(NamedTuple):
    """A level to compare with: a line across at y = value, or upright at x = value."""

    name: str
    value: float
    method: str = ""
    upright: bool = False


@dataclass(frozen=True, eq=False)
class Lines:
    """A panel of lines over an x that they share."""

    series: Sequence[Series]
    title: str = ""
    x: str = "round"
    y: str = "objective F"
    x_log: bool = False
    y_log: bool = False
    references: Sequence[Reference] = ()
    x_range: Range = (None, None)
    y_range: Range = (None, None)

    def table(self) -> dict[str, Any]:
        """Return the data, a column each."""
        parts = [one for one in self.series if not one.faint]
        columns: dict[str, Any] = {
            "series": np.repeat([one.name for one in parts], [len(one.x) for one in parts])
        }
        if len(parts) == 1 and not parts[0].name:
            del columns["series"]
        columns |= {
            self.x or "x": _joined([one.x for one in parts]),
            self.y or "y": _joined([one.y for one in parts]),
        }
        if any(one.low is not None for one in parts):
            for name in ("low", "high"):
                ends = [getattr(one, name) for one in parts]
                columns[name] = _joined(
                    [
                        np.full(len(one.x), np.nan) if end is None else end
                        for one, end in zip(parts, ends, strict=True)
                    ]
                )
        return columns

    def said(self) -> str:
        """Describe the panel in words."""
        ends = [
            f"{one.name} from {one.y[0]:.4g} to {one.y[-1]:.4g}".strip()
            for one in self.series
            if len(one.y) and not one.faint
        ]
        return f"{self.y} by {self.x}: {'; '.join(ends[:12])}."


class Bar(NamedTuple):
    """A bar, perhaps with a spread from low to high."""

    label: str
    value: float
    method: str = ""
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, eq=False)
class Bars:
    """A panel of bars, one below the other, each with its label and its value."""

    bars: Sequence[Bar]
    title: str = ""
    x: str = ""
    x_log: bool = False
    form: str = "{:,.4g}"  # of the values beside the bars
    x_range: Range = (None, None)

    def table(self) -> dict[str, Any]:
        """Return the data, a column each."""
        spread = any(bar.low is not None for bar in self.bars)
        names = ("value", "low", "high") if spread else ("value",)
        columns = {
            name: np.array([getattr(bar, name) for bar in self.bars], float) for name in names
        }
        return {"bar": [bar.label for bar in self.bars], **columns}

    def said(self) -> str:
        """Describe the panel in words."""
        values = [f"{bar.label} {self.form.format(bar.value)}" for bar in self.bars[:12]]
        return f"{self.x}: {'; '.join(values)}."


@dataclass(frozen=True, eq=False)
class Scatter:
    """A panel of points in the plane, (n, 2), coloured by group; each group's number beside it.

    Groups after the tenth have the same colours again, with another mark.
    """

    points: Array
    groups: IntArray
    names: Sequence[str] = ()  # of the groups; without, their numbers
    title: str = ""
    x: str = ""
    y: str = ""
    numbered: bool = True

    def name(self, group: int) -> str:
        """Return what a group is called."""
        return self.names[group] if group < len(self.names) else f"{group}"

    def table(self) -> dict[str, Any]:
        """Return the data, a column each."""
        x, y = np.round(np.asarray(self.points, float).T, 4)
        return {"group": [self.name(int(g)) for g in self.groups], "x": x, "y": y}

    def said(self) -> str:
        """Describe the panel in words."""
        sizes = Counter(self.name(int(g)) for g in self.groups)
        told = ", ".join(f"{name}: {count}" for name, count in sorted(sizes.items())[:30])
        return f"{len(self.points)} points by group ({told})."


@dataclass(frozen=True, eq=False)
class Heat:
    """A panel of squares, one for each entry of a matrix; dark means much."""

    values: Array
    rows: Sequence[str]
    columns: Sequence[str]
    title: str = ""
    x: str = ""
    y: str = ""
    form: str = "{:.2g}"  # of the numbers in the squares, where there are few; "": none
    limits: tuple[float, float] | None = None

    def table(self) -> dict[str, Any]:
        """Return the data, a column each."""
        values = np.asarray(self.values, float)
        return {
            "row": np.repeat(list(self.rows), values.shape[1]),
            "column": np.tile(list(self.columns), values.shape[0]),
            "value": values.ravel(),
        }

    def said(self) -> str:
        """Describe the panel in words."""
        low, high = np.nanmin(self.values), np.nanmax(self.values)
        return f"{len(self.rows)} by {len(self.columns)} values from {low:.4g} to {high:.4g}."


Panel: TypeAlias = Lines | Bars | Scatter | Heat


@dataclass(frozen=True, eq=False)
class Figure:
    """Panels side by side under one title.

    `title` is short; `caption` says what is seen and how to read it. `key` names its files and its
    anchor. `links` are (text, address) of files beside the page. A legend stands above the panels
    where all of them have the same lines, below each otherwise, and never over a curve.
    """

    title: str
    panels: Sequence[Panel]
    caption: str = ""
    key: str = ""
    links: Sequence[tuple[str, str]] = field(default_factory=tuple)
    columns: int = 3  # at most, in files
    data: bool = True  # whether the page holds the data to be downloaded

    def looks(self) -> dict[str, Look]:
        """Return how each line is drawn, by its name."""
        lines = [panel for panel in self.panels if isinstance(panel, Lines)]
        shown = (one for panel in lines for one in panel.series if one.name and not one.faint)
        named = {one.name: one for one in shown}
        alike = Counter(one.method for one in named.values())
        seen: Counter[str] = Counter()
        looks = {}
        for name, one in named.items():
            place, seen[one.method] = seen[one.method], seen[one.method] + 1
            look = one.look or of_line(one.method, place, alike[one.method])
            looks[name] = look._replace(fill=one.fill)
        levels = {one.name: one for panel in lines for one in panel.references}
        others = {name: of_level(one.method) for name, one in levels.items() if name not in looks}
        return {**looks, **others}

    def shared_legend(self) -> bool:
        """Whether one legend does for all panels."""
        named = [set(legend(panel)) for panel in self.panels]
        return all(own <= max(named, key=len) for own in named)

    def frame(self) -> pd.DataFrame:
        """Return the data of all panels, one below the other."""
        import pandas as pd

        titles = [panel.title or f"{place}" for place, panel in enumerate(self.panels, start=1)]
        parts = []
        for title, panel in zip(titles, self.panels, strict=True):
            frame = pd.DataFrame(panel.table())
            if len(self.panels) > 1:
                frame.insert(0, "panel", title)
            parts.append(frame)
        return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()

    def csv(self) -> str:
        """Return the data as text."""
        return str(self.frame().to_csv(index=False, float_format="%.8g", lineterminator="\n"))


def legend(panel: Panel) -> list[str]:
    """Return the names of a panel's lines."""
    if not isinstance(panel, Lines):
        return []
    names = [one.name for one in panel.series if not one.faint]
    names += [one.name for one in panel.references]
    return list(dict.fromkeys(filter(None, names)))


def _joined(parts: Sequence[Any]) -> Array:
    arrays = [np.asarray(one, dtype=np.float64) for one in parts]
    return np.concatenate(arrays) if arrays else np.empty(0)
