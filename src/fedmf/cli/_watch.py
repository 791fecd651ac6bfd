"""`fedmf status --watch`: a federation in the terminal, brought up to date until it is enough."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import isfinite, log
from typing import TYPE_CHECKING

from fedmf.cli._show import LINES, console
from fedmf.monitor.scene import ANSWERED, MISSING, Course, Scene, Site, Watcher
from fedmf.monitor.words import clock, facts, heard, presence, state_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

EVERY = 1.0  # seconds between two looks at the federation
WARNINGS = 5  # that are shown
MARKS = {ANSWERED: "█", MISSING: "x"}
COLOURS = {
    **dict.fromkeys(("running", "done", "there", "at work"), "green"),
    **dict.fromkeys(("queued", "stopping", "stopped", "never"), "yellow"),
    **dict.fromkeys(("failed", "away"), "red"),
}
BARS = "▁▂▃▄▅▆▇█"
CURVE = 46  # characters of a curve, and of the progress


def watch(watcher: Watcher, run: str | None) -> None:
    """Show a federation until Ctrl-C, or until the run that is named has ended."""
    with suppress(KeyboardInterrupt), display(console()) as show:
        while True:
            scene = watcher.look(run)
            ended = run is not None and scene.course is not None and not scene.course.going
            show(scene, ended)
            if ended:
                return
            time.sleep(EVERY)


@contextmanager
def display(out: Console) -> Iterator[Callable[[Scene, bool], None]]:
    """Give what shows a scene: on a terminal in its place, elsewhere below, every ten seconds."""
    if not out.is_terminal:
        printed = -LINES

        def show(scene: Scene, last: bool) -> None:
            nonlocal printed
            if last or time.monotonic() - printed >= LINES:
                printed = time.monotonic()
                out.print(drawn(scene, out.width))

        yield show
        return
    from rich.live import Live

    with Live(console=out, auto_refresh=False) as live:
        yield lambda scene, _: live.update(drawn(scene, out.width), refresh=True)


def drawn(scene: Scene, width: int) -> RenderableType:
    """Return a scene as rich shows it."""
    from rich.console import Group
    from rich.text import Text

    parts: list[RenderableType] = []
    if scene.trouble:
        parts.append(Text(scene.trouble, "bold red"))
    parts += [Text(f"{scene.name}", "bold"), _sites(scene.sites, width)]
    if scene.course is not None:
        parts += _course(scene.course)
    waiting = [run["run"] for run in scene.runs if run["state"] == "queued"]
    if waiting:
        parts.append(Text(f"queued: {', '.join(waiting)}", "yellow"))
    return Group(*parts)


def _sites(sites: Sequence[Site], width: int) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    room = max(width - 60, 8)
    for site in sites:
        marks = "".join(MARKS.get(mark, "·") for mark in site.marks[-room:])
        told = Text(presence(site), COLOURS[site.presence])
        answered = f"answered {site.answered} of {site.asked}" if site.marks else ""
        table.add_row(f"  {site.name}", told, heard(site), answered, marks)
    return table


def _course(course: Course) -> list[RenderableType]:
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    about, state = course.about, state_of(course.about)
    title = Text.assemble(
        ("\n" + course.name, "bold"),
        f" {about['label']}  {about['algorithm']}  ",
        (state, COLOURS[state]),
        f"  {about['status']}",
    )
    table = Table.grid(padding=(0, 2))
    table.add_row("", ProgressBar(total=about["rounds"], completed=course.round, width=CURVE))
    for name, value in facts(course):
        table.add_row(f"  {name}", Text(value))
    table.add_row("  F by round", sparkline(course.objectives))
    table.add_row("  change by round", sparkline([one for one in course.changes if one > 0]))
    lines = [
        Text(f"  {clock(when)}  {text}", "yellow") for when, text in about["warnings"][-WARNINGS:]
    ]
    return [title, table, *lines]


def sparkline(values: Sequence[float]) -> str:
    """Return a curve of one line, on a logarithmic scale where all values are positive."""
    from fedmf.monitor.chart import thinned

    shown = [value for _, value in thinned(list(enumerate(values)), CURVE) if isfinite(value)]
    if shown and min(shown) > 0:
        shown = [log(value) for value in shown]
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    scale = (len(BARS) - 1) / (high - low) if high > low else 0.0
    return "".join(BARS[round((value - low) * scale)] for value in shown)
