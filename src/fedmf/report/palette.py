"""The colours: one for each method wherever it is shown, told apart by colour-blind readers too.

Each has a light and a dark form. Figures are drawn with the light ones; a page replaces each by a
variable, which has the dark form where the reader prefers dark. No two colours of a kind come
closer than a simulated loss of one cone leaves apart, and lines differ by dash and mark as well.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple


class Colour(NamedTuple):
    """A colour on a light and on a dark ground."""

    light: str
    dark: str


Dash = tuple[float, ...]  # on, off, ... in widths of the line; nothing: solid
SOLID: Dash = ()
DASHES: tuple[Dash, ...] = (SOLID, (4, 1.5), (1, 1.2), (5, 1, 1, 1), (8, 2))
MARKS = ("o", "s", "^", "D", "v", "P", "X")


class Method(NamedTuple):
    """How a method is shown."""

    colour: Colour
    dash: Dash = SOLID


METHODS = {
    "fedmgs": Method(Colour("#0072b2", "#56b4e9")),
    "fedmavg": Method(Colour("#d55e00", "#ff9440")),
    "fedpalm": Method(Colour("#009e73", "#12a67c")),
    "km-parallel": Method(Colour("#c274a6", "#faa8c4")),
    "bel": Method(Colour("#624600", "#8f7420")),
    "cal": Method(Colour("#af5049", "#c94f4f")),
    "k-fed": Method(Colour("#887ef3", "#8f80ff")),
    "kmeans++": Method(Colour("#24292f", "#f4f5f7"), DASHES[1]),
    "central-sncp": Method(Colour("#00485f", "#4be7f6"), DASHES[3]),
}
OTHERS = (Colour("#76507f", "#c79bd1"), Colour("#8a7a00", "#e6dc3c"))  # of methods not listed

GROUND = Colour("#ffffff", "#16191d")
INK = Colour("#1b1f24", "#e6e8eb")  # text
FAINT = Colour("#5d656e", "#9aa4af")  # axes, notes
LINE = Colour("#d5d9de", "#3a4149")  # grids, rules
BAR = Colour("#8c9aa8", "#66727f")  # what belongs to no method
GOOD = Colour("#116b3a", "#5fd68f")
BAD = Colour("#b3261e", "#ff8f86")
OPEN = Colour("#7a5900", "#e3b341")

GROUPS = (  # clusters and classes: numbers beside the groups say more than ten colours can
    Colour("#3b6fb6", "#7fb0f0"),
    Colour("#c4572b", "#ff9d6e"),
    Colour("#2b8a5f", "#5cc795"),
    Colour("#a8509a", "#e394d6"),
    Colour("#8c7a16", "#d6c44a"),
    Colour("#5a4bab", "#aa9cf5"),
    Colour("#1f8a99", "#55ccdc"),
    Colour("#7d4a22", "#c99465"),
    Colour("#b03a5b", "#f58aa6"),
    Colour("#5f6b34", "#a9b877"),
)
STEPS = 9  # of a heat map, from nothing to much
SHADES = (-0.62, -0.4, -0.2, 0.0, 0.22)  # for many lines of a method: from and to the ground


def variable(method: str, shade: int | None = None) -> str:
    """Return the name of a method's colour; one not listed has the same one every time."""
    if not method:
        return "bar"
    name = f"m-{method.replace('+', 'p')}"
    if method not in METHODS:
        name = f"other-{sum(method.encode()) % len(OTHERS)}"
    return name if shade is None or SHADES[shade] == 0 else f"{name}-{shade}"


def colour(method: str, shade: int | None = None) -> Colour:
    """Return a method's colour, or one of its shades."""
    return variables()[variable(method, shade)]


@cache
def variables() -> dict[str, Colour]:
    """Return every colour by the name of its variable in a page."""
    names = ("ground", "ink", "faint", "line", "bar", "good", "bad", "open")
    fixed = dict(zip(names, (GROUND, INK, FAINT, LINE, BAR, GOOD, BAD, OPEN), strict=True))
    own = {variable(name): method.colour for name, method in METHODS.items()}
    own |= {f"other-{place}": one for place, one in enumerate(OTHERS)}
    shades = {
        f"{name}-{place}": Colour(_mixed(one.light, towards), _mixed(one.dark, -towards))
        for name, one in own.items()
        for place, towards in enumerate(SHADES)
        if towards != 0
    }
    groups = {f"group-{place}": one for place, one in enumerate(GROUPS)}
    return {**fixed, **own, **shades, **groups, **_heat()}


def _heat() -> dict[str, Colour]:
    """Return the steps of a heat map: from the ground to a strong colour."""
    ends = Colour("#08457a", "#a8d4ff")
    return {
        f"heat-{step}": Colour(
            *(
                _between(ground, end, 0.03 + 0.97 * step / (STEPS - 1))
                for ground, end in zip(GROUND, ends, strict=True)
            )
        )
        for step in range(STEPS)
    }


def _mixed(colour: str, towards: float) -> str:
    """Return a colour mixed with black (below 0) or with white (above)."""
    return _between(colour, "#000000" if towards < 0 else "#ffffff", abs(towards))


def _between(first: str, second: str, share: float) -> str:
    channels = (
        round((1 - share) * int(first[i : i + 2], 16) + share * int(second[i : i + 2], 16))
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{value:02x}" for value in channels)
