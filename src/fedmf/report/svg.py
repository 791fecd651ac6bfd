"""A panel as an <svg> element of a page, which chooses the colours and the typeface.

Text stays text. Every identifier gets a prefix, since a page holds several panels; every colour of
the palette becomes a variable of the page; styles become attributes, so that a page may forbid
inline styles; and figures are cut to a hundredth of a point.
"""

from __future__ import annotations

import re
from html import escape
from io import StringIO

from fedmf.report.draw import UNDATED, drawing
from fedmf.report.figure import Panel
from fedmf.report.looks import Look
from fedmf.report.palette import variables

DROPPED = (
    r"<metadata>.*?</metadata>",
    r"<style[^>]*>.*?</style>",
    r"<!--.*?-->",
    r' transform="rotate\(-0 [^"]*\)"',
    r"<defs>\s*</defs>",
)
FONT = re.compile(r"(?:(bold|\d+) )?([\d.]+)px .*")
TAG = re.compile(r"<[^>]*>")
REFERENCE = re.compile(r'(url\(#|href="#)([^)"]+)')
MARK = re.compile(r'<use (href="[^"]*") (x="[^"]*" y="[^"]*") ?([^/]*)/>')


def inline(panel: Panel, looks: dict[str, Look], prefix: str, title: str) -> str:
    """Return a panel as an <svg> element with a title and a description."""
    out = StringIO()
    with drawing(panel, looks) as figure:
        figure.savefig(out, format="svg", transparent=True, metadata=UNDATED["svg"])
    text = out.getvalue()
    opening = re.search(r"<svg [^>]*(viewBox=\"[^\"]*\")[^>]*>", text)
    if opening is None:
        raise ValueError("matplotlib wrote no <svg> element")
    inner = _inside(text[opening.end() :], prefix)
    return (
        f'<svg {opening[1]} role="img" aria-labelledby="{prefix}-t {prefix}-d"'
        f' stroke-linejoin="round"><title id="{prefix}-t">{escape(title)}</title>'
        f'<desc id="{prefix}-d">{escape(panel.said())}</desc>{inner}'
    )


def _inside(text: str, prefix: str) -> str:
    """Return what is inside the element; only tags are changed, never the texts between them."""
    for pattern in DROPPED:
        text = re.sub(pattern, "", text, flags=re.DOTALL)
    text = TAG.sub(lambda found: found[0].replace("xlink:href", "href"), text)
    tags = "".join(TAG.findall(text))
    used = dict.fromkeys(found[1] for found in REFERENCE.findall(tags))
    names = {name: f"{prefix}-{place}" for place, name in enumerate(used)}
    text = TAG.sub(lambda found: _short(_coloured(_named(found[0], names))), text)
    text = re.sub(r"\s*\n\s*", "\n", text).rstrip()
    return re.sub(r"(?:<use [^>]*/>\s*){3,}", lambda found: _marks(found[0]), text)


def _named(tag: str, names: dict[str, str]) -> str:
    """Leave the identifiers that are used, and give them short names that no other panel has."""
    tag = re.sub(r' id="([^"]*)"', lambda m: f' id="{names[m[1]]}"' if m[1] in names else "", tag)
    return REFERENCE.sub(lambda m: m[1] + names[m[2]], tag)


def _coloured(tag: str) -> str:
    """Turn styles into attributes and colours into variables."""
    names = {colour.light: name for name, colour in variables().items()}
    tag = re.sub(r'style="([^"]*)"', lambda found: _attributes(found[1]), tag)
    return re.sub(r"#[0-9a-f]{6}\b", lambda found: _variable(found[0], names), tag)


def _short(tag: str) -> str:
    """Cut numbers to a hundredth and white space to what is needed."""
    tag = re.sub(r"-?\d+\.\d+", lambda m: f"{float(m[0]):.2f}".rstrip("0").rstrip("."), tag)
    return re.sub(r'\bd="([^"]*)"', lambda m: f'd="{_path(m[1])}"', tag)


def _path(path: str) -> str:
    return re.sub(r"\s*([A-Za-z])\s*", r"\1", path).strip()


def _marks(text: str) -> str:
    """Return marks in a row with their common attributes in a group around them."""
    marks = MARK.findall(text)
    alike = {(shape, style) for shape, _, style in marks}
    if len(alike) != 1:
        return text
    style = marks[0][2].strip()
    return f"<g {style}>{''.join(f'<use {shape} {place}/>' for shape, place, _ in marks)}</g>\n"


def _variable(found: str, names: dict[str, str]) -> str:
    return f"var(--{names[found]})" if found in names else found


def _attributes(style: str) -> str:
    """Return a style as attributes; the typeface is the page's."""
    pairs = (part.partition(":")[::2] for part in style.split(";") if ":" in part)
    written = []
    for name, value in ((name.strip(), value.strip()) for name, value in pairs):
        font = FONT.fullmatch(value) if name == "font" else None
        if font is not None:
            written.append(f'font-size="{font[2]}"')
            written += ['font-weight="bold"'] if font[1] else []
        elif name != "font-family":
            written.append(f'{name}="{value}"')
    return " ".join(written)
