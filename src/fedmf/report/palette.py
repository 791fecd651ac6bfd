"""The colours: one for each method wherever it is shown, told apart by colour-blind readers too.

Each has a light and a dark form. Figures are drawn with the light ones; a page replaces each by a
variable, which has the dark form where the reader prefers dark.
"""

from __future__ import annotations

from typing import NamedTuple


class Colour(NamedTuple):
    """A colour on a light and on a dark ground."""

    light: str
    dark: str


INK = Colour("#1b1f24", "#e6e8eb")  # text
FAINT = Colour("#656d76", "#9aa4af")  # axes, notes
LINE = Colour("#d5d9de", "#3a4149")  # grids, rules
BAR = Colour("#8c9aa8", "#66727f")  # what belongs to no method

# Okabe and Ito's colours, the dark forms lightened where they would be lost.
METHODS = {
    "fedmgs": Colour("#0072b2", "#56b4e9"),
    "fedmavg": Colour("#d55e00", "#ff9440"),
    "fedpalm": Colour("#009e73", "#2fc79b"),
}
OTHERS = (Colour("#cc79a7", "#e39ac2"), Colour("#a08a00", "#f0e442"))
NAMES = {"fedmgs": "FedMGS", "fedmavg": "FedMAvg", "fedpalm": "FedPALM"}


def colour(method: str) -> Colour:
    """Return a method's colour; one that is not listed has the same one every time."""
    return METHODS.get(method) or OTHERS[sum(method.encode()) % len(OTHERS)]


def variables() -> dict[str, Colour]:
    """Return every colour by the name of its variable in a page."""
    fixed = {"ink": INK, "faint": FAINT, "line": LINE, "bar": BAR}
    others = {f"other-{place}": one for place, one in enumerate(OTHERS)}
    return {**fixed, **METHODS, **others}
