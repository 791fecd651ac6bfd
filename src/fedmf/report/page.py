"""A page: one HTML file that needs nothing else, light or dark, on a desk, a phone and on paper.

    page = Page("Title", [Section("Convergence", [Text("What is seen."), figure, table])])
    page.write(Path("page.html"))

A page forbids itself every request: its policy allows its own style sheet and its own script by
their digests and nothing besides. The script sorts tables and opens details for print; without it
all is there to be read. Whatever is not `Html` is escaped.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

from fedmf.files import write_text
from fedmf.report import palette
from fedmf.report.figure import Figure, legend
from fedmf.report.keys import keys, swatch
from fedmf.report.table import Cell, Table

FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<main>
{body}
</main>
<script>{script}</script>
</body>
</html>
"""
SIGNS = {"good": "✓", "bad": "✗", "open": "?"}


@dataclass(frozen=True)
class Text:
    """A paragraph; a note stands back."""

    text: str
    note: bool = False


@dataclass(frozen=True)
class Html:
    """HTML as it is: whoever makes it escapes what is not his own."""

    html: str


@dataclass(frozen=True, eq=False)
class Details:
    """Parts that are folded away until they are asked for; on paper they are open."""

    summary: str
    parts: Sequence[Part]
    open: bool = False


@dataclass(frozen=True, eq=False)
class Beside:
    """Parts side by side where there is room."""

    parts: Sequence[Part]


Part: TypeAlias = "Figure | Table | Text | Html | Details | Beside"


@dataclass(frozen=True, eq=False)
class Section:
    """Parts under a heading."""

    title: str
    parts: Sequence[Part]


@dataclass(frozen=True, eq=False)
class Page:
    """A title, what stands below it, and sections; over three of them get a table of contents."""

    title: str
    sections: Sequence[Section]
    lead: Sequence[Part] = ()

    def html(self) -> str:
        """Return the page."""
        anchors = [f"section-{place}" for place in range(1, len(self.sections) + 1)]
        writer = _Writer()
        parts = [f"<h1>{escape(self.title)}</h1>", *map(writer.part, self.lead)]
        if len(anchors) > 3:
            parts.append(_contents(self.sections, anchors))
        for section, anchor in zip(self.sections, anchors, strict=True):
            inner = "\n".join(map(writer.part, section.parts))
            parts.append(
                f"<section aria-labelledby='{anchor}'><h2 id='{anchor}'>{escape(section.title)}"
                f"</h2>\n{inner}\n</section>"
            )
        body = "\n".join(parts)
        style, script = _style(body), _file("page.js")
        policy = (
            f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
            "base-uri 'none'; form-action 'none'"
        )
        return FRAME.format(
            policy=policy, title=escape(self.title), style=style, body=body, script=script
        )

    def write(self, path: Path) -> Path:
        """Write the page; return its path."""
        write_text(path, self.html())
        return path


class _Writer:
    """Turns parts into HTML and numbers figures and tables."""

    def __init__(self) -> None:
        self._count = 0

    def part(self, part: Part) -> str:
        """Return a part's HTML."""
        match part:
            case Text(text, note):
                return f"<p{_class('note' if note else '')}>{escape(text)}</p>"
            case Html(html):
                return html
            case Details(summary, parts):
                inner = "\n".join(map(self.part, parts))
                opened = " open" if part.open else ""
                return f"<details{opened}><summary>{escape(summary)}</summary>\n{inner}\n</details>"
            case Beside(parts):
                return f"<div class='beside'>{''.join(map(self.part, parts))}</div>"
            case Table():
                return self._table(part)
            case Figure():
                return self._figure(part)
        raise TypeError(f"no part of a page: {part!r}")

    def _key(self, given: str, kind: str) -> str:
        self._count += 1
        return given or f"{kind}-{self._count}"

    def _figure(self, figure: Figure) -> str:
        from fedmf.report.svg import inline

        key, looks = self._key(figure.key, "figure"), figure.looks()
        shared = figure.shared_legend() and len(figure.panels) > 1
        panels = []
        for place, panel in enumerate(figure.panels):
            prefix = f"f{self._count}-{place}"
            said = " ".join(filter(None, (figure.title, panel.title)))
            above = f"<p class='title'>{escape(panel.title)}</p>" if panel.title else ""
            below = "" if shared else keys(legend(panel), looks)
            panels.append(
                f"<div class='panel {type(panel).__name__.lower()}'>{above}"
                f"{inline(panel, looks, prefix, said)}{below}</div>"
            )
        names = max((legend(panel) for panel in figure.panels), key=len, default=[])
        links = list(figure.links)
        if figure.data:
            links.insert(0, (f"Data of “{figure.title}” (CSV)", _download(figure.csv())))
        counted = {1: " one", 2: " two"}.get(min(len(panels), figure.columns), "")
        grid = f"panels{counted}"
        return (
            f"<figure id='{escape(key)}'><figcaption><strong>{escape(figure.title)}</strong> "
            f"{escape(figure.caption)}</figcaption>{keys(names, looks) if shared else ''}"
            f"<div class='{grid}'>{''.join(panels)}</div>{_links(links, key)}</figure>"
        )

    def _table(self, table: Table) -> str:
        key, numeric = self._key(table.key, "table"), table.numeric()
        kinds = [
            "number" if number else "words" if heading in table.wrap else ""
            for number, heading in zip(numeric, table.headings, strict=True)
        ]
        heads = "".join(
            f"<th scope='col'{_class(kind)}>{escape(heading)}</th>"
            for heading, kind in zip(table.headings, kinds, strict=True)
        )
        rows = "".join(f"<tr>{''.join(map(_cell, row, kinds))}</tr>\n" for row in table.cells())
        caption = f"<caption>{escape(table.caption)}</caption>" if table.caption else ""
        sortable = " class='sortable'" if table.sortable and len(table.rows) > 1 else ""
        links = [*table.links]
        if table.data:
            links.insert(0, (f"{table.caption or 'Table'} (CSV)", _download(table.csv())))
        return (
            f"<div class='wide' id='{escape(key)}' tabindex='0' role='region' "
            f"aria-label='{escape(table.caption or 'table')}'><table{sortable}>{caption}"
            f"<thead><tr>{heads}</tr></thead><tbody>\n{rows}</tbody></table></div>"
            f"{_links(links, key)}"
        )


def _contents(sections: Sequence[Section], anchors: Sequence[str]) -> str:
    links = "".join(
        f"<li><a href='#{anchor}'>{escape(section.title)}</a></li>"
        for section, anchor in zip(sections, anchors, strict=True)
    )
    return f"<nav aria-label='contents'><ul>{links}</ul></nav>"


def _cell(cell: Cell, kind: str) -> str:
    value = "" if cell.value is None else f" data-value='{escape(str(cell.value))}'"
    text = f"<b>{escape(cell.text)}</b>" if cell.best else escape(cell.text)
    if cell.method:
        text = f"{swatch(palette.variable(cell.method))}{text}"
    if cell.tone:
        sign = f"<span aria-hidden='true'>{SIGNS[cell.tone]}</span> "
        text = f"<span class='verdict {cell.tone}'>{sign}{text}</span>"
    return f"<td{_class(kind)}{value}>{text}</td>"


def _class(kind: str) -> str:
    return f" class='{kind}'" if kind else ""


def _links(links: Sequence[tuple[str, str]], key: str) -> str:
    made = " · ".join(
        f"<a href='{escape(address)}'"
        + (f" download='{escape(key)}.csv'" if address.startswith("data:") else "")
        + f">{escape(text)}</a>"
        for text, address in links
    )
    return f"<p class='links'>{made}</p>" if made else ""


def _download(text: str) -> str:
    """Return a text as an address of its own."""
    return f"data:text/csv;charset=utf-8,{quote(text, safe=',+.:;()/')}"


def _style(body: str) -> str:
    """Return the style sheet with the colours that the page uses, light, dark and on paper."""
    sheet = _file("page.css")
    used = {
        name: colour
        for name, colour in palette.variables().items()
        if f"var(--{name})" in body or f"var(--{name})" in sheet
    }
    light = " ".join(f"--{name}: {colour.light};" for name, colour in used.items())
    dark = " ".join(f"--{name}: {colour.dark};" for name, colour in used.items())
    return (
        f":root {{ {light} }}\n"
        f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {dark} }} }}\n{sheet}"
    )


@cache
def _file(name: str) -> str:
    return files("fedmf.report").joinpath(name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
