"""The page of one run or of several: a single HTML file, light and dark, without scripts.

A page is a list of parts; a part is a function from records to HTML. Whatever comes from a run is
escaped where it is put in.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fedmf.errors import ParameterError
from fedmf.files import write_text
from fedmf.report import figures, palette
from fedmf.report.record import Record, communication, read_all
from fedmf.report.svg import inline
from fedmf.report.words import count, data_size, time

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GROUND = palette.Colour("#ffffff", "#16191d")
HEADINGS = (
    *("run", "K", "rounds", "objective F", "uplink, reals", "uplink", "downlink", "time"),
    "outcome",
)
FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<style>
{style}
</style>
</head>
<body>
{body}
</body>
</html>
"""


def write_page(folders: Sequence[Path], target: Path) -> Path:
    """Write the page of the runs in these folders; return its path."""
    if not folders:
        raise ParameterError("a report needs at least one run")
    write_text(target, page(read_all(folders)))
    return target


def page(records: Sequence[Record]) -> str:
    """Return the page of these runs."""
    alone = len(records) == 1
    each = [own(record, f"s{place}", unfolded=alone) for place, record in enumerate(records)]
    parts = [head(records), overview(records), course(records), *each]
    return FRAME.format(title=escape(_title(records)), style=style(), body="\n".join(parts))


def style() -> str:
    """Return the style sheet with the colours as variables, light and dark."""
    named = {**palette.variables(), "ground": GROUND}
    light = "".join(f"--{name}: {colour.light}; " for name, colour in named.items())
    dark = "".join(f"--{name}: {colour.dark}; " for name, colour in named.items())
    sheet = files("fedmf.report").joinpath("page.css").read_text("utf-8")
    media = f"@media (prefers-color-scheme: dark) {{ :root {{ {dark}}} }}"
    return f":root {{ {light}}}\n{media}\n{sheet}"


def head(records: Sequence[Record]) -> str:
    """Return the title and what was factorised."""
    known = records[0].run.goal.known
    same = all(record.run.goal.known == known for record in records)
    about = (
        f"{known.samples:,} samples at {len(records[0].run.sizes):,} sites, "
        f"{known.features:,} features"
        if same
        else "The runs are not on the same data: their objectives cannot be compared."
    )
    return f"<h1>{escape(_title(records))}</h1>\n<p class='note'>{escape(about)}</p>"


def overview(records: Sequence[Record]) -> str:
    """Return the table with a line for each run."""
    rows = "".join(_line(record) for record in records)
    headings = "".join(f"<th scope='col'>{heading}</th>" for heading in HEADINGS)
    notes = [
        "Reals are counted as in the paper (the matrices that are uploaded); uplink and downlink "
        "are the bytes of all messages, the set-up and the first upload included."
    ]
    if any(_penalty_grows(record) for record in records):
        notes.append("F has the penalty of its round, which grew: a later F may be the larger one.")
    return (
        "<h2>At a glance</h2>\n<div class='wide' tabindex='0' role='region' aria-label='all runs'>"
        f"<table><thead><tr>{headings}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>\n<p class='note'>{' '.join(notes)}</p>"
    )


def course(records: Sequence[Record]) -> str:
    """Return the figures of all runs together."""
    if not any(record.run.rows for record in records):
        return "<p>No round was played.</p>"
    curves = [figures.curve(record) for record in records if record.run.rows]
    return "\n".join(
        [
            "<h2>Course</h2>",
            _figure(figures.progress(curves), "f1", "The objective by round and by upload."),
            _figure(figures.settling(curves), "f2", "How far it still moved in each round."),
        ]
    )


def own(record: Record, prefix: str, *, unfolded: bool) -> str:
    """Return one run's part: its sites, its settings, what computed it."""
    resolved = record.resolved
    machine = {**resolved.get("machine", {}), **resolved.get("versions", {})}
    settings = "".join(_settings(name, table) for name, table in record.config.items())
    return "\n".join(
        [
            f"<h2>{escape(record.label)}</h2>",
            f"<p class='note'>{escape(str(record.folder))}: {escape(record.run.status)}.</p>",
            _figure(figures.sites(record), prefix, "The sites, and how often each was drawn."),
            f"<details{' open' if unfolded else ''}><summary>Settings</summary>",
            f"<div class='side'>{settings}</div></details>",
            "<details><summary>Versions and machine</summary>",
            f"<div class='side'>{_settings('computed by', machine)}</div></details>",
        ]
    )


def _title(records: Sequence[Record]) -> str:
    return records[0].label if len(records) == 1 else f"{len(records)} runs"


def _line(record: Record) -> str:
    run, sent = record.run, communication(record.run)
    name = next(n for n, c in palette.variables().items() if c == palette.colour(record.method))
    cells = (
        f"{run.goal.rank}",
        f"{run.position.round:,}",
        f"{run.position.objective:.6g}",
        count(sent.reals),
        data_size(sent.up),
        data_size(sent.down),
        time(float(record.column("seconds").sum())),
        "converged" if run.converged else "not converged",
    )
    key = f"<span class='key' style='background: var(--{name})'></span>"
    rest = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    return f"<tr><td>{key}{escape(record.label)}</td>{rest}</tr>"


def _figure(figure: Figure, prefix: str, caption: str) -> str:
    words = escape(caption)
    drawn = inline(figure, prefix, words)
    return f"<figure tabindex='0'>{drawn}<figcaption>{words}</figcaption></figure>"


def _settings(name: str, table: dict[str, Any]) -> str:
    rows = "".join(
        f"<tr><td>{escape(key)}</td><td class='words'>{escape(_plain(value))}</td></tr>"
        for key, value in table.items()
    )
    head = f"<thead><tr><th scope='colgroup' colspan='2'>{escape(name)}</th></tr></thead>"
    return f"<table>{head}<tbody>{rows}</tbody></table>"


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(part)}" for key, part in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _penalty_grows(record: Record) -> bool:
    return len(set(record.column("rho"))) > 1
