"""Figures drawn by matplotlib, without a window or global state: panel by panel, or whole in files.

Axes name what they show and its unit; a panel's y stands above it, where it needs no turned head.
Legends lie outside of the axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure as Drawing
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

from fedmf.errors import ParameterError
from fedmf.files import write_atomically
from fedmf.report import palette
from fedmf.report.figure import (
    MARKED,
    Bars,
    Figure,
    Heat,
    Lines,
    Panel,
    Scatter,
    Series,
    legend,
)
from fedmf.report.labels import apart, middle
from fedmf.report.looks import Look
from fedmf.report.words import power, tick

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH, HEIGHT = 3.75, 2.65  # inches of a panel
BAR_HEIGHT = 0.24
SMALL, TEXT = 8.5, 9
WIDE = 1.6  # of a line
SHORT = 18  # names of which two stand side by side below a panel
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "fedmf",
    "font.family": "sans-serif",
    "text.parse_math": False,  # a feature may be called $x$
}
UNDATED: dict[str, dict[str, Any]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}
VALUES = palette.variables()


@contextmanager
def drawing(panel: Panel, looks: dict[str, Look]) -> Iterator[Drawing]:
    """Give one panel, drawn without its title and its legend."""
    with matplotlib.rc_context(SETTINGS):
        figure = Drawing(figsize=size(panel), layout="constrained")
        _draw(panel, figure.subplots(), looks)
        yield figure


def write_figure(figure: Figure, path: Path) -> Path:
    """Write a figure with all its panels and its legend as .pdf, .png or .svg."""
    kind = path.suffix.lower()[1:]
    if kind not in UNDATED:
        raise ParameterError(f"{path}: a figure is written as .pdf, .png or .svg")

    def save(temporary: Path) -> None:
        with matplotlib.rc_context(SETTINGS):
            whole(figure).savefig(temporary, format=kind, dpi=200, metadata=UNDATED[kind])

    write_atomically(path, save)
    return path


def whole(figure: Figure) -> Drawing:
    """Return a drawing of all panels of a figure."""
    count = len(figure.panels)
    columns = min(count, figure.columns)
    rows = -(-count // columns)
    tall = max(size(panel)[1] for panel in figure.panels)
    shared, looks = figure.shared_legend(), figure.looks()
    named = [legend(panel) for panel in figure.panels]
    below = 0 if shared else max(-(-len(names) // _beside(names)) for names in named)
    drawn = Drawing(
        figsize=(WIDTH * columns, (tall + 0.2 + 0.17 * below) * rows), layout="constrained"
    )
    axes = drawn.subplots(rows, columns, squeeze=False).ravel()
    for panel, own in zip(figure.panels, axes, strict=False):
        _draw(panel, own, looks)
        own.set_title("\n".join(filter(None, (panel.title, own.get_title(loc="left")))),
                      fontsize=TEXT, color=palette.INK.light, loc="left")  # fmt: skip
        if not shared:
            names = legend(panel)
            _legend(own, names, looks, loc="upper left", bbox_to_anchor=(-0.08, -0.2),
                    ncols=_beside(names), handlelength=2.3, columnspacing=1)  # fmt: skip
    for spare in axes[count:]:
        spare.remove()
    if shared:
        names = max(named, key=len)
        _legend(drawn, names, looks, loc="outside upper left", ncols=min(len(names), 2 * columns))
    return drawn


def _beside(names: Sequence[str]) -> int:
    """Return how many columns a legend below a panel has room for."""
    return 2 if max(map(len, names), default=0) <= SHORT else 1


def size(panel: Panel) -> tuple[float, float]:
    """Return a panel's width and height in inches."""
    if isinstance(panel, Bars):
        return WIDTH, 0.6 + BAR_HEIGHT * max(len(panel.bars), 2)
    if isinstance(panel, Scatter):
        return WIDTH, WIDTH * 0.9
    if isinstance(panel, Heat):
        return WIDTH, min(WIDTH, 0.8 + 0.3 * len(panel.rows))
    return WIDTH, HEIGHT


@singledispatch
def _draw(panel: Any, axes: Axes, looks: dict[str, Look]) -> None:
    """Draw a panel."""
    raise TypeError(f"no panel: {panel!r}")


@_draw.register(Lines)
def _lines(panel: Lines, axes: Axes, looks: dict[str, Look]) -> None:
    _plain(axes, panel.y, panel.x)
    if panel.x_log:
        axes.set_xscale("log")
    if panel.y_log:
        axes.set_yscale("log")
    crowded = len(legend(panel)) > MARKED
    for place, one in enumerate(panel.series):
        _line(axes, one, looks, place if crowded else None)
    for level in panel.references:
        colour, dash = looks[level.name][:2]
        line = axes.axvline if level.upright else axes.axhline
        line(level.value, color=VALUES[colour].light, linestyle=(0, dash or None), linewidth=1.2)
    axes.set_xlim(*panel.x_range)
    axes.set_ylim(*panel.y_range)
    _scale(axes, axes.xaxis, log=panel.x_log)
    _scale(axes, axes.yaxis, log=panel.y_log)


def _line(axes: Axes, one: Series, looks: dict[str, Look], place: int | None) -> None:
    """Draw a line with its band; `place` is which of the marked ones it is."""
    look = one.look or looks.get(one.name) or Look(palette.variable(one.method), ())
    ink = VALUES[look.colour].light
    x, y = np.asarray(one.x, float), np.asarray(one.y, float)
    step: Any = "post" if one.step else None
    if one.low is not None:
        axes.fill_between(x, one.low, one.high, step=step, color=ink, alpha=0.18, linewidth=0)
    if one.fill:
        axes.fill_between(x, y, step=step, color=ink, linewidth=0)
        return
    style: dict[str, Any] = {"linewidth": WIDE, "linestyle": (0, look.dash) if look.dash else "-"}
    if one.faint:
        style = {"linewidth": 0.7, "alpha": 0.35}
    elif place is not None and look.mark:
        style |= {"marker": look.mark, "markersize": 4, "markevery": (0.02 * (place % 5), 0.13)}
    if one.step:
        style["drawstyle"] = "steps-post"
    axes.plot(x, y, color=ink, **style)


@_draw.register(Bars)
def _bars(panel: Bars, axes: Axes, looks: dict[str, Look]) -> None:
    _plain(axes, "", panel.x)
    places = np.arange(len(panel.bars))
    values = np.array([bar.value for bar in panel.bars], float)
    inks = [VALUES[palette.variable(bar.method)].light for bar in panel.bars]
    axes.barh(places, values, color=inks, height=0.66)
    if panel.x_log:
        axes.set_xscale("log")
    ends = []
    for place, bar in zip(places, panel.bars, strict=True):
        if bar.low is not None and bar.high is not None:
            axes.plot([bar.low, bar.high], [place, place], color=palette.INK.light, linewidth=1)
        ends.append(bar.value if bar.high is None else max(bar.value, bar.high))
        if np.isfinite(bar.value):
            axes.annotate(
                panel.form.format(bar.value), (ends[-1], place), (4, 0), va="center",
                textcoords="offset points", fontsize=SMALL, color=palette.INK.light,
            )  # fmt: skip
    axes.set_yticks(places, [bar.label for bar in panel.bars])
    axes.tick_params(axis="y", length=0, labelcolor=palette.INK.light)
    axes.invert_yaxis()
    axes.grid(visible=False, axis="y")
    axes.set_xlim(*panel.x_range)
    if panel.x_range[1] is None:
        axes.margins(x=0.16)
    _scale(axes, axes.xaxis, log=panel.x_log)


@_draw.register(Scatter)
def _scatter(panel: Scatter, axes: Axes, looks: dict[str, Look]) -> None:
    _plain(axes, panel.y, panel.x)
    axes.set_xticks([])
    axes.set_yticks([])
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    points, groups = np.asarray(panel.points, float), np.asarray(panel.groups)
    for group in np.unique(groups):
        own, (turn, colour) = points[groups == group], divmod(int(group), len(palette.GROUPS))
        axes.plot(*own.T, linestyle="none", marker=palette.MARKS[turn % len(palette.MARKS)],
                  markersize=2.6, markeredgewidth=0, alpha=0.75,
                  color=palette.GROUPS[colour].light)  # fmt: skip
    if panel.numbered:
        names = {panel.name(int(g)): middle(points[groups == g]) for g in np.unique(groups)}
        for name, place in apart(names, np.ptp(points, axis=0)).items():
            _number(axes, name, place)


def _number(axes: Axes, text: str, place: tuple[float, float]) -> None:
    """Write a number a little above a place, so that it does not hide it."""
    box = {
        "boxstyle": "round,pad=0.1",
        "facecolor": palette.GROUND.light,
        "linewidth": 0,
        "alpha": 0.7,
    }
    axes.annotate(text, place, (0, 6), textcoords="offset points", ha="center", fontsize=TEXT,
                  fontweight="bold", color=palette.INK.light, bbox=box)  # fmt: skip


@_draw.register(Heat)
def _heat(panel: Heat, axes: Axes, looks: dict[str, Look]) -> None:
    _plain(axes, panel.y, panel.x)
    values = np.asarray(panel.values, float)
    low, high = panel.limits or (np.nanmin(values), np.nanmax(values))
    shares = (values - low) / ((high - low) or 1)
    steps = np.clip(np.nan_to_num(shares) * palette.STEPS, 0, palette.STEPS - 1).astype(int)
    for (row, column), step in np.ndenumerate(steps):
        axes.add_patch(Rectangle(
            (column, row), 1, 1, linewidth=0, facecolor=VALUES[f"heat-{step}"].light))  # fmt: skip
        if panel.form and values.size <= 144 and np.isfinite(values[row, column]):
            ink = palette.INK if step <= palette.STEPS // 2 + 1 else palette.GROUND
            axes.text(column + 0.5, row + 0.5, panel.form.format(values[row, column]),
                      ha="center", va="center", fontsize=6.5, color=ink.light)  # fmt: skip
    axes.set_xlim(0, len(panel.columns))
    axes.set_ylim(len(panel.rows), 0)
    every = -(-max(values.shape) // 24)
    axes.set_xticks(np.arange(len(panel.columns))[::every] + 0.5, list(panel.columns)[::every])
    axes.set_yticks(np.arange(len(panel.rows))[::every] + 0.5, list(panel.rows)[::every])
    axes.grid(visible=False)
    axes.tick_params(length=0)


def _legend(place: Any, names: Sequence[str], looks: dict[str, Look], **where: Any) -> None:
    """Put a legend outside of the axes."""
    marked = len(names) > MARKED
    handles = [
        Line2D([], [], color=VALUES[looks[name].colour].light, label=name,
               linewidth=4 * WIDE if looks[name].fill else WIDE,
               marker=looks[name].mark if marked else "", markersize=4,
               linestyle=(0, looks[name].dash) if looks[name].dash else "-")
        for name in names
    ]  # fmt: skip
    if handles:
        place.legend(handles=handles, fontsize=SMALL, frameon=False, borderaxespad=0.3,
                     labelcolor=palette.INK.light, **{"handlelength": 2.6, **where})  # fmt: skip


def _plain(axes: Axes, above: str, below: str) -> None:
    """Leave out what is not data; say what is on the axes."""
    faint, line = palette.FAINT.light, palette.LINE.light
    axes.set_title(above, fontsize=TEXT, color=palette.INK.light, loc="left", pad=5)
    axes.set_xlabel(below, fontsize=TEXT, color=faint)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(line)
    axes.tick_params(which="both", labelsize=SMALL, labelcolor=faint, color=line, length=3)
    axes.grid(visible=True, color=line, linewidth=0.6)
    axes.set_axisbelow(True)


def _scale(axes: Axes, axis: Any, *, log: bool) -> None:
    """Put numbers that people read on an axis, also on a logarithmic one that is short."""
    low, high = sorted(axis.get_view_interval())
    powers = log and (low < 1e-3 or high >= 1e6) and high > 300 * low
    axis.set_major_formatter(FuncFormatter(power if powers else tick))
    if not log or high < 4 * low:
        axis.set_major_locator(MaxNLocator(nbins=5, steps=(1, 2, 2.5, 5, 10)))
    else:
        between = (1.0,) if high > 300 * low else (1.0, 3.0) if high > 30 * low else (1.0, 2.0, 5.0)
        axis.set_major_locator(LogLocator(subs=between, numticks=7))
    if log:
        axis.set_minor_formatter(NullFormatter())
        axis.set_minor_locator(NullLocator())
