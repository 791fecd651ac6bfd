"""The progress of many trials: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fedmf.cli._show import progress, stoppable
from fedmf.trials import Progress
from fedmf.trials.printer import Printer


@contextmanager
def following(name: str = "trials") -> Iterator[Callable[[Progress], None]]:
    """Give what `run_all` calls, and let a polite kill stop the work as Ctrl-C does."""
    with stoppable(), progress() as bar:
        if bar is None:
            yield Printer(sys.stderr)
            return
        task = bar.add_task(name, total=None, facts="")

        def show(now: Progress) -> None:
            if now.event:
                bar.console.print(now.event, markup=False)
            facts = f"about {now.left / 60:.0f} min left"
            bar.update(task, completed=now.done + now.failed, total=now.total, facts=facts)

        yield show
