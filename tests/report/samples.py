"""A page with a figure of every kind, and names that would break one that does not escape them."""

import numpy as np

from fedmf.report import (
    Bar,
    Bars,
    Beside,
    Cell,
    Details,
    Figure,
    Heat,
    Html,
    Lines,
    Page,
    Reference,
    Scatter,
    Section,
    Series,
    Table,
    Text,
)

EVIL = "<b onclick='x'>$\\alpha$ & \"co\""


def lines():
    """Two panels with the same lines, one of which has a band, and a level."""
    s = np.arange(1, 31)
    F = 1 + np.exp(-s / 9)
    both = [
        Series("FedMGS", s, F, 0.9 * F, 1.1 * F, method="fedmgs"),
        Series(EVIL, s, 2 * F, method="fedmavg"),
    ]
    level = [Reference("pooled", 0.9, "central-sncp"), Reference("half", 15, upright=True)]
    return Figure(
        "Convergence",
        [
            Lines(both, title="(a)", y_log=True, references=level),
            Lines([*both, Series("", s, F, faint=True)], title="(b)", x_log=True),
        ],
        caption=EVIL,
        key="lines",
    )


def sweep():
    """Six lines of a method in one panel, other lines in the other."""
    s = np.arange(1, 31)
    many = [Series(f"Q₂ = {q}", s, 1 + np.exp(-q * s / 30), method="fedmgs") for q in range(6)]
    steps = Series("steps", s, s, method="bel", step=True, fill=True)
    return Figure("Sweep", [Lines(many), Lines([steps], y="samples")])


def pictures():
    """Points, bars and a heat map."""
    random = np.random.default_rng(0)
    points, groups = random.normal(size=(60, 2)), np.arange(60) % 12
    bars = [Bar(EVIL, 0.9, "fedmgs", 0.8, 0.95), Bar("CAL", 0.3, "cal"), Bar("none", np.nan)]
    return Figure(
        "Pictures",
        [
            Scatter(points, groups, names=[EVIL], title="map"),
            Bars(bars, x="accuracy", form="{:.0%}"),
            Heat(random.uniform(size=(3, 4)), ["a", "b", EVIL], list("wxyz"), title="heat"),
        ],
    )


def table():
    """A table with every kind of cell."""
    ours, best = Cell("FedMGS", method="fedmgs"), Cell("91 %", 0.91, best=True)
    rows = [
        (ours, best, 12, Cell("ok", tone="good")),
        (Cell(EVIL, method="cal"), Cell("100 %", 1.0), None, Cell("does not", tone="bad")),
        ("k-FED & co", Cell("9 %", 0.09), 3.5, Cell("cannot be told", tone="open")),
    ]
    return Table(("method", "accuracy", "time", EVIL), rows, "Table I", key="table1", data=True)


def page():
    """All of it."""
    sections = [
        Section("Lines", [Text("A sentence."), lines(), sweep()]),
        Section(EVIL, [pictures()]),
        Section("Table", [table(), Details("More", [Beside([Text(EVIL), Html("<p>own</p>")])])]),
        Section("End", [Text("Nothing.", note=True)]),
    ]
    return Page(f"A page of {EVIL}", sections, [Text("What it is.")])
