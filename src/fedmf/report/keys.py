"""The keys of a page: a piece of each line with its name, and patches of colour in tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from fedmf.report.figure import MARKED
from fedmf.report.looks import Look

MARKS = {  # as matplotlib draws them, around (15, 5)
    "o": "M11.8 5a3.2 3.2 0 1 0 6.4 0a3.2 3.2 0 1 0-6.4 0z",
    "s": "M12 2h6v6h-6z",
    "^": "M15 1.5l3.5 6.5h-7z",
    "D": "M15 1l4 4l-4 4l-4-4z",
    "v": "M15 8.5l3.5-6.5h-7z",
    "P": "M14 1.5h2v2.5h2.5v2h-2.5v2.5h-2v-2.5h-2.5v-2h2.5z",
    "X": "M12.5 1.5l2.5 2l2.5-2l1.5 1.5l-2.5 2l2.5 2l-1.5 1.5l-2.5-2l-2.5 2l-1.5-1.5l2.5-2l-2.5-2z",
}


def swatch(variable: str) -> str:
    """Return a patch of a colour."""
    return (
        "<svg class='swatch' viewBox='0 0 10 10' aria-hidden='true'>"
        f"<rect width='10' height='10' rx='2' fill='var(--{variable})'/></svg>"
    )


def keys(names: Sequence[str], looks: dict[str, Look]) -> str:
    """Return a legend with a piece of each line."""
    marked = len(names) > MARKED
    entries = (f"<li>{_piece(looks[name], marked)}{escape(name)}</li>" for name in names)
    return f"<ul class='legend'>{''.join(entries)}</ul>" if names else ""


def _piece(look: Look, marked: bool) -> str:
    """Return a piece of a line, perhaps with its mark."""
    ink = f"var(--{look.colour})"
    dash = f" stroke-dasharray='{' '.join(f'{1.7 * one:g}' for one in look.dash)}'"
    mark = f"<path d='{MARKS[look.mark]}' fill='{ink}'/>" if marked and look.mark else ""
    return (
        f"<svg class='key' viewBox='0 0 30 10' aria-hidden='true'><path d='M1 5h28' fill='none' "
        f"stroke='{ink}' stroke-width='{9 if look.fill else 2.4}'{dash if look.dash else ''}/>"
        f"{mark}</svg>"
    )
