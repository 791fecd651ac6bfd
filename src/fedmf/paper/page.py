"""The page: every figure and the table, each next to what the paper says about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from fedmf.paper import scores
from fedmf.paper.shown import KINDS, Shown, machines, once, versions
from fedmf.paper.verdict import MISSING, STAND_IN, Verdict
from fedmf.report import Cell, Details, Html, Page, Section, Table, Text
from fedmf.report.page import Part
from fedmf.report.words import time

TITLE = "Federated matrix factorisation: the paper's figures and table, from runs of our own"
ABOUT = (
    "Each figure and the table of “Federated Matrix Factorization: Algorithm Design and "
    "Application to Data Clustering” with its supplement, computed anew. All methods of a figure "
    "begin at the same starting points; curves are means over these, with a band from the "
    "smallest to the largest."
)
RULE = (
    "What the paper says is in our words. It holds if it is so in the mean over the starting "
    "points, at each level that is looked at, and in more than half of the starting points taken "
    "alone; it holds in part if some of that is so. Speed is looked at at three levels of F: "
    "those that the curve which ends highest has reached after a tenth, three tenths and all of "
    "its rounds; accuracy at the same cost after a tenth, three tenths and all of what the "
    "cheaper method sends. “Alone” counts the starting points that say the same by themselves."
)
OTHERS = (
    "The paper's TCGA data could not be had. What is said of how algorithms converge is tested on "
    "other data and says so; what is said of the paper's very data, such as an accuracy, cannot "
    "be tested on others, and the figures show only what was seen there."
)
QUICK = (
    "These are quick runs: smaller data, at most 60 rounds and two starting points. They show "
    "that all of it works, and nothing about the paper: each verdict is about these runs alone."
)
COMMON = "Settings that all figures share: settings.toml"
CLAIMS = ("what the paper says", "verdict", "alone", "what was seen")
SHORT = {STAND_IN: "cannot be tested", MISSING: "not yet tested"}
NOTHING = "Nothing to draw yet: no results are in the store."


def page_of(
    shown: Sequence[Shown], shared: str, links: dict[str, list[tuple[str, str]]] | None = None
) -> Page:
    """Return the page; `links` are the files of each exhibit, beside the page."""
    links = links or {}
    quick = any(one.exhibit.quick for one in shown)
    lead: list[Part] = [Text(ABOUT), *([Text(QUICK)] if quick else [])]
    found = once(result for one in shown for result in one.found)
    missing = sum(one.missing for one in shown)
    if missing:
        lead.append(Text(f"Not complete: {missing:,} runs of the figures below are not done yet."))
    sections = [
        Section("All at a glance", [glance(shown), Text(RULE, note=True), Text(OTHERS, note=True)]),
        *(section(one, links.get(one.name, [])) for one in shown),
        Section("How it was computed", [*computed(shown), Details(COMMON, _settings(shared))]),
    ]
    return Page(TITLE, sections, lead if found else [*lead, Text(NOTHING)])


def glance(shown: Sequence[Shown]) -> Table:
    """Return a line for each exhibit: how many of its claims hold, ..."""
    rows = []
    for one in shown:
        cells = [Cell(f"{count}", count) if (count := one.counts[kind]) else "" for kind in KINDS]
        rows.append((one.heading, one.points, len(one.found), one.missing or "", *cells))
    headings = ("figure", "starting points", "runs", "missing", *(SHORT.get(k, k) for k in KINDS))
    kept = [
        place
        for place in range(len(headings))
        if place < 3 or any(row[place] != "" for row in rows)
    ]
    return Table(
        [headings[place] for place in kept],
        [[row[place] for place in kept] for row in rows],
        "What the paper says, and what was seen",
        "glance",
        wrap=("figure",),
        data=True,
    )


def section(one: Shown, links: Sequence[tuple[str, str]]) -> Section:
    """Return an exhibit's section."""
    parts: list[Part] = []
    if one.figure is not None:
        parts.append(replace(one.figure, links=links))
    elif one.exhibit.kind == "table":
        table = scores.shown(one.exhibit, one.results)
        parts += [Text(one.exhibit.caption), replace(table, links=links, data=True)]
    else:
        parts.append(Text(NOTHING))
    parts += [claims(one), Text(" ".join(notes(one)), note=True)]
    parts.append(Details(f"Settings: {one.name}.toml", _settings(one.settings)))
    return Section(one.heading, parts)


def notes(one: Shown) -> list[str]:
    """Return what has to be said about an exhibit."""
    said = [f"Starting points: {one.points}.", *one.exhibit.notes, *one.stand_ins]
    if one.missing:
        said.append(f"{one.missing} of {len(one.exhibit.trials)} runs are missing.")
    return said


def claims(one: Shown) -> Table:
    """Return what the paper says, with the verdicts and the figures that decide them."""
    rows = [
        (
            verdict.claim.says,
            Cell(verdict.words, tone=verdict.tone),
            Cell(alone(verdict), verdict.alone if alone(verdict) else None),
            "\n".join(map(_kept, verdict.seen)),
        )
        for verdict in one.verdicts
    ]
    wrap = (CLAIMS[0], CLAIMS[1], CLAIMS[3])
    return Table(CLAIMS, rows, f"Claims about {one.exhibit.paper}", f"{one.name}-claims",
                 wrap=wrap, data=True)  # fmt: skip


def alone(verdict: Verdict) -> str:
    """Return how many starting points say the same, where there is something to say."""
    told = verdict.points and verdict.found != STAND_IN
    return f"{verdict.alone} of {verdict.points}" if told else ""


def _kept(line: str) -> str:
    """Return a line that does not break within a name or before a unit."""
    return line.replace(" = ", "\u00a0=\u00a0").replace(" %", "\u00a0%")


def computed(shown: Sequence[Shown]) -> list[Part]:
    """Return how long it took, and on what."""
    found = once(result for one in shown for result in one.found)
    seconds = sum(result.seconds for result in found)
    told = (
        f"{len(found):,} runs, {time(seconds)} of work in all, each run on one core. The time is "
        "that of the methods; what measures them on the way is not in it."
    )
    machine = Table(
        ("machine", "runs", "time of one core, h"),
        [(words, count, round(spent / 3600, 2)) for words, count, spent in machines(found)],
        wrap=("machine",),
    )
    used = Table(("package", "version"), list(versions(found).items()), sortable=False)
    return [Text(told), machine, Details("Versions", [used])]


def _settings(text: str) -> list[Part]:
    return [Html(f"<pre tabindex='0'><code>{escape(text)}</code></pre>")]
