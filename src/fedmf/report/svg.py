"""A figure as SVG: in a file of its own, or inline in a page that chooses the colours.

Text stays text. Inline, every identifier gets a prefix, since a page may hold several figures, and
every colour of the palette becomes a variable of the page.
"""

from __future__ import annotations

import re
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedmf.files import write_atomically
from fedmf.report.palette import variables

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS: Any = {"svg.fonttype": "none", "svg.hashsalt": "fedmf", "font.family": "sans-serif"}
UNDATED: dict[str, Any] = {"Date": None, "Creator": None}


def inline(figure: Figure, prefix: str, description: str) -> str:
    """Return a figure as an <svg> element, described for those who cannot see it."""
    text = _svg(figure)
    text = text[text.index("<svg") :].rstrip()
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r'\bid="', f'id="{prefix}-', text)
    text = re.sub(r"url\(#", f"url(#{prefix}-", text)
    text = re.sub(r'xlink:href="#', f'href="#{prefix}-', text)
    text = re.sub(r' xmlns(:xlink)?="[^"]*"', "", text)
    for name, colour in variables().items():
        text = text.replace(colour.light, f"var(--{name})")
    text = re.sub(r'<svg ([^>]*?)width="[^"]*"', r"<svg \1", text, count=1)
    text = re.sub(r'<svg ([^>]*?)height="[^"]*"', r"<svg \1", text, count=1)
    return text.replace("<svg ", f'<svg role="img" aria-label="{description}" ', 1)


def write(figure: Figure, path: Path) -> Path:
    """Write a figure as .svg, .png or .pdf."""
    from matplotlib import rc_context

    kind = path.suffix.lower()[1:]
    undated = {"svg": UNDATED, "pdf": {"CreationDate": None}}.get(kind, {})

    def draw(temporary: Path) -> None:
        figure.savefig(temporary, format=kind, dpi=130, metadata=undated)

    with rc_context(SETTINGS):
        write_atomically(path, draw)
    return path


def _svg(figure: Figure) -> str:
    from matplotlib import rc_context

    out = StringIO()
    with rc_context(SETTINGS):
        figure.savefig(out, format="svg", transparent=True, metadata=UNDATED)
    return out.getvalue()
