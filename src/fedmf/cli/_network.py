"""How a federation's runs are shown."""

from __future__ import annotations

import sys
from time import perf_counter
from typing import Any

from fedmf.cli._show import LINES, pairs, progress, table


class Progress:
    """Shows a run's status while it goes on."""

    def __enter__(self) -> Progress:
        self._display = progress()
        self._bar = self._display.__enter__()
        self._task: Any = None
        self._shown = -LINES
        self._line = ""
        return self

    def __exit__(self, *failure: Any) -> None:
        self._display.__exit__(*failure)

    def __call__(self, found: dict[str, Any]) -> None:
        """Show where a run stands."""
        number, facts = found["last"].get("round", 0), told(found)
        if self._bar is None:
            self._print(f"{found['run']}: round {number} of {found['rounds']}  {facts}")
            return
        if self._task is None:
            self._task = self._bar.add_task(found["algorithm"], total=found["rounds"], facts="")
        self._bar.update(self._task, completed=number, facts=facts)

    def _print(self, line: str) -> None:
        if line != self._line and perf_counter() - self._shown >= LINES:
            self._shown, self._line = perf_counter(), line
            print(line, file=sys.stderr, flush=True)


def told(found: dict[str, Any]) -> str:
    """Return in a few words where a run stands."""
    last, waiting = found["last"], found["waiting"]
    facts = f"F {last['objective']:.6g}  change {last['change']:.1e}" if last else found["state"]
    return f"{facts}  waiting for {', '.join(waiting)}" if waiting else facts


def show_status(found: dict[str, Any]) -> None:
    """Print sites and runs."""
    from fedmf.monitor.scene import seen
    from fedmf.monitor.words import heard, presence

    rows = [(site.name, f"{presence(site)}, heard of: {heard(site)}") for site in seen(found, [])]
    pairs(f"{found['federation']}, sites", rows)
    runs = [
        (run["run"], run["state"], f"{run['last'].get('round', '-')} of {run['rounds']}",
         run["algorithm"], run["status"] or told(run))
        for run in found["runs"]
    ]  # fmt: skip
    table("runs", ("run", "state", "round", "algorithm", ""), runs)
