"""The same as the page in Markdown, with its pictures beside it: for a folder of documents."""

from __future__ import annotations

from collections.abc import Sequence

from fedmf.paper import scores
from fedmf.paper.page import (
    ABOUT,
    CLAIMS,
    NOTHING,
    OTHERS,
    QUICK,
    RULE,
    TITLE,
    alone,
    glance,
    notes,
)
from fedmf.paper.shown import Shown, machines, once, versions
from fedmf.report import Table
from fedmf.report.words import time

SIGNS = {"good": "✓", "bad": "✗", "open": "?"}


def document(shown: Sequence[Shown], command: str, pictures: dict[str, str]) -> str:
    """Return the Markdown; `pictures` are the files of the figures, by exhibit."""
    quick = [QUICK] if any(one.exhibit.quick for one in shown) else []
    blocks = [f"# {TITLE}", ABOUT, *quick, *_computed(shown, command)]
    blocks += ["## All at a glance", table(glance(shown)), RULE, OTHERS]
    for one in shown:
        blocks += _section(one, pictures.get(one.name))
    return "\n\n".join(blocks) + "\n"


def _computed(shown: Sequence[Shown], command: str) -> list[str]:
    """Return the command, the time, the machines and the versions."""
    found = once(result for one in shown for result in one.found)
    seconds, missing = sum(one.seconds for one in found), sum(one.missing for one in shown)
    told = [f"{words}: {count:,} runs, {time(spent)}" for words, count, spent in machines(found)]
    used = ", ".join(f"{name} {version}" for name, version in versions(found).items())
    left = f" {missing:,} runs are not done yet." if missing else ""
    return [
        f"The runs were computed by\n\n```sh\n{command}\n```",
        f"{len(found):,} runs, {time(seconds)} of work in all on one core each.{left}",
        "\n".join(f"- {line}" for line in told),
        f"Versions: {used}.",
    ]


def _section(one: Shown, picture: str | None) -> list[str]:
    """Return an exhibit's blocks."""
    blocks = [f"## {one.heading}", one.exhibit.caption]
    if picture is not None:
        blocks.append(f"![{one.exhibit.title}]({picture})")
    elif one.exhibit.kind == "table":
        blocks.append(table(scores.shown(one.exhibit, one.results)))
    else:
        blocks.append(NOTHING)
    rows = [
        (v.claim.says, f"{SIGNS[v.tone]} {v.words}", alone(v), "<br>".join(v.seen))
        for v in one.verdicts
    ]
    return [*blocks, table(Table(CLAIMS, rows)), " ".join(notes(one))]


def table(made: Table) -> str:
    """Return a table in Markdown, the best in bold."""
    kinds = ["---:" if number else "---" for number in made.numeric()]
    rows = [
        [f"**{_safe(cell.text)}**" if cell.best else _safe(cell.text) for cell in row]
        for row in made.cells()
    ]
    return "\n".join(_line(cells) for cells in [list(map(_safe, made.headings)), kinds, *rows])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _safe(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
