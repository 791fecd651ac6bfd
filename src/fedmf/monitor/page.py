"""The page: a federation at one moment as HTML, in parts that a script exchanges when they change.

Whatever comes from the server is escaped where it is put in. There is no style in the elements and
no script in the page: the browser is told to accept neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from fedmf.monitor.chart import curve, strip
from fedmf.monitor.scene import ANSWERED, MISSING, WINDOW, Course, Scene, Site
from fedmf.monitor.words import clock, facts, heard, presence, state_of

LAST_RUNS = 12  # of the runs that are listed
FRAME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="page.css">
<script src="page.js" defer></script>
<noscript><meta http-equiv="refresh" content="5"></noscript>
</head>
<body>
<main>
<h1>{name}</h1>
<p id="gone" class="trouble" role="alert" hidden>This page is no longer brought up to date: \
<code>fedmf monitor</code> has ended.</p>
{parts}
</main>
</body>
</html>
"""


def page(scene: Scene) -> str:
    """Return the page."""
    course = scene.course
    parts = [
        _part("p", "trouble", _trouble(scene), "class='trouble' role='status'"),
        _part("div", "run", _run(course), ""),
        _part("div", "curves", _curves(course), ""),
        "<h2 id='sites-head'>Sites</h2>",
        _part("div", "sites", _sites(scene.sites, course), _scrolls("sites-head")),
        _legend(),
        _part("div", "warnings", _warnings(course), ""),
        "<h2 id='runs-head'>Runs</h2>",
        _part("div", "runs", _runs(scene.runs, course), _scrolls("runs-head")),
    ]
    return FRAME.format(
        title=escape(_title(scene)), name=escape(scene.name), parts="\n".join(parts)
    )


def _title(scene: Scene) -> str:
    course = scene.course
    if course is None:
        return scene.name
    state = f"{course.round}/{course.about['rounds']}" if course.going else course.about["state"]
    return f"{state} {scene.name}"


def _part(tag: str, name: str, content: str, more: str) -> str:
    """Return an element that is exchanged when its content changes."""
    return f"<{tag} id='{name}' data-part {more}>{content}</{tag}>"


def _scrolls(heading: str) -> str:
    """Return what makes an element one that scrolls sideways, by keyboard too."""
    return f"class='wide' tabindex='0' role='region' aria-labelledby='{heading}'"


def _trouble(scene: Scene) -> str:
    if not scene.trouble:
        return ""
    before = "; what follows was seen before" if scene.sites else ""
    return f"{escape(scene.trouble)}{before}"


def _run(course: Course | None) -> str:
    """Return where the run stands."""
    if course is None:
        return ""
    about = course.about
    label = f" <span class='note'>{escape(about['label'])}</span>" if about["label"] else ""
    bar = (
        f"<progress value='{course.round}' max='{about['rounds']}' "
        "aria-label='rounds done'></progress>"
    )
    told = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>"
        for name, value in facts(course)
    )
    ending = f"<p>{escape(about['status'])}</p>" if about["status"] else ""
    return (
        f"<h2>{escape(course.name)}{label}</h2><p>{state(about)}, {escape(about['algorithm'])}</p>"
        f"{ending}{bar}<dl>{told}</dl>"
    )


def state(about: dict[str, Any]) -> str:
    """Return a run's state as a word with its colour."""
    return f"<span class='state {escape(about['state'])}'>{escape(state_of(about))}</span>"


def _curves(course: Course | None) -> str:
    """Return the figures of the objective and of its change."""
    if course is None or not course.rows:
        return ""
    F, first = course.objectives, course.round + 1 - len(course.objectives)
    fell = f"F was {F[0]:.6g} in round {first} and is {F[-1]:.6g} in round {course.round}"
    moved = [change if change > 0 else float("nan") for change in course.changes]
    last = f"The relative change of F was {course.changes[-1]:.1e} in round {course.round}"
    return curve(F, first, "Objective F", fell) + curve(moved, 1, "Relative change of F", last)


def _warnings(course: Course | None) -> str:
    """Return what somebody should see, the newest first."""
    found = [] if course is None else course.about["warnings"]
    lines = "".join(
        f"<li><time>{escape(clock(when))}</time> {escape(text)}</li>"
        for when, text in reversed(found)
    )
    return f"<h2>Warnings</h2><ol>{lines}</ol>" if lines else ""


def _sites(sites: Sequence[Site], course: Course | None) -> str:
    """Return the table of the sites, and in which of the last rounds each answered."""
    first = 1 if course is None else course.round - len(course.window) + 1
    rows = "".join(
        f"<tr><th scope='row'>{escape(site.name)}</th>"
        f"<td><span class='state {site.presence.replace(' ', '-')}'>"
        f"{presence(site)}</span></td>"
        f"<td>{heard(site)}</td><td>{site.answered} of {site.asked}</td>"
        f"<td class='marks'>{strip(site.marks, WINDOW, _marks(site, first))}</td></tr>"
        for site in sites
    )
    names = ("site", "", "last heard of", "answered", f"last {WINDOW} rounds")
    return _table(names, rows)


def _marks(site: Site, first: int) -> str:
    missing = [str(first + place) for place, mark in enumerate(site.marks) if mark == MISSING]
    words = f"{site.name} answered in {site.answered} of {site.asked} rounds"
    return f"{words}, not in {', '.join(missing)}" if missing else words


def _legend() -> str:
    keys = ((ANSWERED, "answered"), (MISSING, "asked in vain"))
    shown = ", ".join(f"{strip([mark], 1)} {word}" for mark, word in keys)
    return f"<p class='note legend'>{shown}; the newest round is at the right</p>"


def _runs(runs: Sequence[dict[str, Any]], course: Course | None) -> str:
    """Return the table of the runs, the newest first, each a link to its course."""
    if not runs:
        return "<p>None was handed in yet: <code>fedmf submit</code> does that.</p>"
    shown = "" if course is None else course.name
    rows = "".join(_line(run, run["run"] == shown) for run in reversed(runs[-LAST_RUNS:]))
    return _table(("run", "", "label", "algorithm", "outcome"), rows)


def _line(run: dict[str, Any], shown: bool) -> str:
    here = " aria-current='true'" if shown else ""
    name = escape(run["run"])
    cells = (run["label"], run["algorithm"], run["status"])
    rest = "".join(f"<td class='words'>{escape(cell)}</td>" for cell in cells)
    return (
        f"<tr><th scope='row'><a id='run-{name}' href='?{urlencode({'run': run['run']})}'{here}>"
        f"{name}</a></th><td>{state(run)}</td>{rest}</tr>"
    )


def _table(names: Sequence[str], rows: str) -> str:
    head = "".join(
        f"<th scope='col'>{escape(name)}</th>" if name else "<td></td>" for name in names
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
