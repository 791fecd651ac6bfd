"""The picture of a federation: its sites side by side, largest first.

Three rows share that axis: how many samples a site has, of which classes, and how far its gradient
is from the pooled one. The colours of few classes are those of Okabe and Ito, which colour-blind
readers can tell apart; more classes are shaded by their share.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from fedmf.errors import ParameterError
from fedmf.files import write_atomically
from fedmf.partitions._text import many

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from fedmf.partitions._description import ClassMix, FederationDescription

COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
INK, GREY, BAR = "#222222", "#777777", "#4C6A88"
KINDS = (".pdf", ".png", ".svg")
FEW = 1000  # more sites than that are drawn as pixels: a vector for each would make a huge file


def write_picture(description: FederationDescription, path: str | Path) -> Path:
    """Draw the description and put the file in place in one step."""
    target = Path(path)
    kind = check_picture(target)
    undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}, ".png": {}}[kind]
    figure = _draw(description)
    write_atomically(
        target,
        lambda part: figure.savefig(part, format=kind[1:], dpi=160, metadata=undated),
    )
    return target


def check_picture(path: Path) -> str:
    """Return the kind of picture that a path names by its ending, or say which there are."""
    kind = path.suffix.lower()
    if kind not in KINDS:
        raise ParameterError(f"a picture's path must end in {', '.join(KINDS)}, got {path.name}")
    return kind


def _draw(description: FederationDescription) -> Figure:
    """Return the figure, without a window and without matplotlib's global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    mix = description.mix
    heights = [1.0, 1.0] if mix is None else [1.0, 1.25, 0.8]
    figure = Figure(figsize=(7.2, 1.0 + 1.7 * sum(heights)), layout="constrained")
    FigureCanvasAgg(figure)
    rows = list(figure.subplots(len(heights), 1, sharex=True, height_ratios=heights))
    order = _order(description)
    _draw_sizes(rows[0], description.sizes[order])
    if mix is not None:
        _draw_mix(rows[1], mix, order)
    _draw_zeta(rows[-1], description, order)
    rows[-1].set_xlim(0, description.n_sites)
    _mark_sites(rows[-1], description.n_sites)
    figure.suptitle(_title(description), fontsize=10, color=INK, x=0.01, ha="left")
    return figure


def _order(description: FederationDescription) -> NDArray[Any]:
    """Return the sites, largest first, those of one size by the class that they have most of."""
    by_size = -description.sizes
    if description.mix is None:
        return np.argsort(by_size, kind="stable")
    return np.lexsort((description.mix.counts.argmax(axis=1), by_size))


def _title(description: FederationDescription) -> str:
    excess = description.zeta_excess
    parts = [many(description.n_sites, "site"), many(description.n_samples, "sample")]
    if description.mix is not None:
        parts.append(f"{description.mix.distance:.0%} off the pooled class mix")
    if excess is not None:
        parts.append(f"zeta² {excess:.3g} times that of random sites")
    return ", ".join(parts)


def _draw_sizes(axes: Axes, sizes: NDArray[Any]) -> None:
    """Draw the samples of each site, on a logarithmic scale where they differ much."""
    from matplotlib.ticker import MaxNLocator

    uneven = sizes[0] >= 30 * sizes[-1]
    floor = 0.7 if uneven else 0
    axes.stairs(sizes, np.arange(len(sizes) + 1), baseline=floor, fill=True, color=BAR)
    if uneven:
        axes.set_yscale("log")
    else:
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))
    axes.set_ylim(floor, sizes[0] * (1.5 if uneven else 1.08))
    axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.6g}")
    _plain(axes, "samples")
    _part_sites(axes, len(sizes))


def _draw_mix(axes: Axes, mix: ClassMix, order: NDArray[Any]) -> None:
    """Draw the class mix of each site: stacked for a few classes, else shaded by share."""
    counts = mix.counts[order]
    shares = counts / counts.sum(axis=1, keepdims=True)
    _plain(axes, "class mix")
    if len(mix.names) <= len(COLOURS):
        _stack(axes, shares, mix.names)
    else:
        _shade(axes, shares, mix.names)
    _part_sites(axes, len(shares))


def _stack(axes: Axes, shares: NDArray[Any], names: NDArray[Any]) -> None:
    tops = np.hstack([np.zeros((len(shares), 1)), shares.cumsum(axis=1)])
    edges = np.arange(len(shares) + 1)
    for label, name in enumerate(names):
        axes.stairs(
            tops[:, label + 1], edges, baseline=tops[:, label], fill=True,
            color=COLOURS[label], label=_short(name), rasterized=len(shares) > FEW,
        )  # fmt: skip
    axes.set_ylim(0, 1)
    axes.yaxis.set_major_formatter("{x:.0%}")
    axes.legend(
        loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize=7, frameon=False,
        handlelength=0.8, reverse=True,
    )  # fmt: skip


def _shade(axes: Axes, shares: NDArray[Any], names: NDArray[Any]) -> None:
    from matplotlib.ticker import FixedLocator

    extent = (0, len(shares), len(names), 0)
    image = axes.imshow(
        shares.T, extent=extent, aspect="auto", cmap="Blues", vmin=0, interpolation="none"
    )
    step = -(-len(names) // 12)
    shown = np.arange(0, len(names), step)
    axes.yaxis.set_major_locator(FixedLocator(list(shown + 0.5)))
    axes.set_yticklabels([_short(names[label]) for label in shown])
    axes.tick_params(axis="y", length=0)
    bar = axes.figure.colorbar(image, ax=axes, pad=0.01, aspect=12, format="{x:.0%}")
    bar.ax.tick_params(labelsize=7, colors=INK, length=2)
    bar.outline.set_visible(False)
    bar.set_label("share of the site", fontsize=7, color=INK)


def _draw_zeta(axes: Axes, description: FederationDescription, order: NDArray[Any]) -> None:
    """Draw each site's zeta and what a random site of its size would have."""
    zeta, sizes = description.spread.zeta[order], description.sizes[order]
    samples, sites = description.n_samples, description.n_sites
    axes.plot(
        np.arange(sites) + 0.5, zeta, "o", markersize=float(np.clip(400 / sites, 1.5, 5)),
        color=COLOURS[5], markeredgewidth=0, label="this site", clip_on=False,
        rasterized=sites > FEW,
    )  # fmt: skip
    scatter = description.spread.random_square / max(sites - 1, 1)
    by_chance = np.sqrt(scatter * (samples - sizes) / sizes)
    axes.stairs(
        by_chance, np.arange(sites + 1), baseline=None, color=INK, linewidth=1,
        label="a random site of that size", zorder=3,
    )  # fmt: skip
    axes.legend(
        loc="lower right", bbox_to_anchor=(1, 0.98), ncols=2, fontsize=7, frameon=False,
        handlelength=1.2, borderaxespad=0,
    )  # fmt: skip
    axes.set_ylim(0, max(zeta.max(), by_chance.max()) * 1.08 or 1)
    _plain(axes, "zeta of the site")


def _mark_sites(axes: Axes, n_sites: int) -> None:
    """Number the sites from 1, each mark under the middle of its site."""
    from matplotlib.ticker import FixedLocator, MaxNLocator

    ticks = MaxNLocator(nbins=10, integer=True, min_n_ticks=1).tick_values(1, n_sites)
    ranks = np.unique([1, *(int(t) for t in ticks if 1 <= t <= n_sites)])
    axes.xaxis.set_major_locator(FixedLocator(list(ranks - 0.5)))
    axes.set_xticklabels([f"{rank:,}" for rank in ranks])
    axes.set_xlabel("sites, largest first", fontsize=8, color=INK)


def _part_sites(axes: Axes, n_sites: int) -> None:
    """Draw thin gaps between the sites, where they are few enough to see one by one."""
    if n_sites <= 60:
        across = axes.get_xaxis_transform()
        axes.vlines(np.arange(1, n_sites), 0, 1, color="white", linewidth=1, transform=across)


def _plain(axes: Axes, title: str) -> None:
    """Leave out what is not data."""
    axes.set_title(title, fontsize=8, color=INK, loc="left", pad=3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(GREY)
    axes.tick_params(labelsize=7, colors=INK, length=2)


def _short(name: object, width: int = 14) -> str:
    text = str(name)
    return text if len(text) <= width else text[: width - 1] + "…"
