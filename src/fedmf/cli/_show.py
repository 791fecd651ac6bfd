"""What a command shows: tables, numbers in words, and the progress of a run."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event, current_thread, main_thread
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from types import FrameType

    from rich.console import Console
    from rich.progress import Progress

    from fedmf.engine import Position

REFRESH = 0.1  # seconds between two looks at the progress
LINES = 10.0  # seconds between two lines where there is no terminal


def console(*, error: bool = False) -> Console:
    """Return a console on the stream as it is now; 110 wide where it is no terminal."""
    from rich.console import Console

    stream = sys.stderr if error else sys.stdout
    width = None if stream.isatty() else 110
    return Console(file=stream, width=width, highlight=False)


def table(title: str, headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table; columns after the first are numbers and stand to the right."""
    from rich import box
    from rich.table import Table

    drawn = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, collapse_padding=True)
    for place, heading in enumerate(headings):
        word = max(map(len, heading.split()), default=0)
        drawn.add_column(
            heading, justify="right" if place else "left", no_wrap=not place, min_width=word
        )
    for row in rows:
        drawn.add_row(*map(str, row))
    console().print(drawn)


def pairs(title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Print names and what they are, a line each; nothing is ever cut."""
    width = max(len(name) for name, _ in rows)
    out = console()
    out.print(f"[bold]{title}[/bold]")
    for name, value in rows:
        out.print(f"  {name:<{width}}  {value}", markup=False, soft_wrap=True)


class Watch:
    """Shows a run's progress; called with the position after each round."""

    def __init__(self, name: str, rounds: int, bar: Progress | None, done: int = 0) -> None:
        self._name, self._rounds, self._bar = name, rounds, bar
        self._shown = perf_counter()
        self._last: Position | None = None
        self._task = None
        if bar is not None:
            self._task = bar.add_task(name, total=rounds, completed=done, facts="")

    def __call__(self, position: Position) -> None:
        """Show where the run stands, unless that was just shown."""
        heed()
        now, self._last = perf_counter(), position
        if now - self._shown >= (LINES if self._bar is None else REFRESH):
            self._shown = now
            self.show(position)

    def show(self, position: Position) -> None:
        """Show where the run stands."""
        facts = f"F {position.objective:.6g}  change {position.change:.1e}"
        if self._bar is not None and self._task is not None:
            self._bar.update(self._task, completed=position.round, facts=facts)
        else:
            print(f"{self._name}: round {position.round} of {self._rounds}  {facts}",
                  file=sys.stderr, flush=True)  # fmt: skip

    def finish(self) -> None:
        """Show the last position, on a terminal."""
        if self._bar is not None and self._last is not None:
            self.show(self._last)


_heard = Event()  # a signal to stop was heard by `stoppable`


@contextmanager
def stoppable() -> Iterator[None]:
    """Let Ctrl-C, or a polite kill, stop the work once; saving it after that is not disturbed.

    Whoever presses Ctrl-C again while the run is being saved would lose the rounds since the last
    save; a hard kill still ends it at any time.
    """
    now = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {n: handler for n, handler in now.items() if handler != signal.SIG_IGN}

    def stop(number: int, frame: FrameType | None) -> None:
        for every in before:
            signal.signal(every, _already)
        _heard.set()
        raise KeyboardInterrupt

    if current_thread() is not main_thread():  # whoever runs us there decides
        yield
        return
    try:
        for number in before:
            signal.signal(number, stop)
        yield
    finally:
        _heard.clear()
        for number, handler in before.items():
            signal.signal(number, handler)


def heed() -> None:
    """Raise Ctrl-C's interrupt once more where the work goes on although it was raised.

    A signal may come while something runs that swallows whatever is raised in it: a finaliser, or
    a function that C code calls.
    """
    if _heard.is_set():
        raise KeyboardInterrupt


def _already(number: int, frame: FrameType | None) -> None:
    """Say that a signal was heard already."""
    os.write(2, b"stopping; the run is being saved\n")  # a print could break into another one


@contextmanager
def progress() -> Iterator[Progress | None]:
    """Give a progress display on the error stream where that is a terminal."""
    out = console(error=True)
    if not out.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeRemainingColumn as Left

    columns = (
        "[bold]{task.description}",
        BarColumn(24),
        MofNCompleteColumn(),
        "{task.fields[facts]}",
    )
    texts = [TextColumn(c) if isinstance(c, str) else c for c in columns]
    with Progress(*texts, TextColumn("ETA"), Left(), console=out) as bar:
        yield bar


@contextmanager
def working(text: str) -> Iterator[None]:
    """Say what is being done, while it is done, on a terminal."""
    out = console(error=True)
    if not out.is_terminal:
        yield
        return
    with out.status(text):
        yield
