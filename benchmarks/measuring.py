"""What the benchmarks share: peaks of anonymous memory, medians, the machine, tables and JSON."""

from __future__ import annotations

import json
import os
import platform
import threading
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

PACKAGES = ("fedmf", "numpy", "scipy", "scikit-learn", "threadpoolctl")


def anonymous_mb() -> float:
    """Return the anonymous memory of this process (Linux): without the pages of mapped files."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise SystemExit("this benchmark reads RssAnon in /proc/self/status: Linux only")


def peak_of(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Return what `work` gives, its seconds, and the peak of anonymous memory, every 5 ms."""
    done = threading.Event()
    peak = [anonymous_mb()]

    def watch() -> None:
        while not done.wait(0.005):
            peak.append(max(peak.pop(), anonymous_mb()))

    watcher = threading.Thread(target=watch)
    watcher.start()
    start = time.perf_counter()
    try:
        found = work()
    finally:
        seconds = time.perf_counter() - start
        done.set()
        watcher.join()
    return found, seconds, peak[0]


def machine() -> dict[str, Any]:
    """Return what the figures depend on."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if os.name == "posix" else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return {
        "processor": models[0] if models else platform.processor(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{package: version(package) for package in PACKAGES},
    }


def show(title: str, rows: list[dict[str, Any]]) -> None:
    """Print rows of figures as a table."""
    table = Table(title=title, title_justify="left")
    for name in rows[0]:
        right = not isinstance(rows[0][name], str)
        table.add_column(name, justify="right" if right else "left")
    for row in rows:
        table.add_row(*(_text(value) for value in row.values()))
    Console().print(table)


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def report(title: str, rows: list[dict[str, Any]], out: Path | None, **more: Any) -> None:
    """Print the rows, and write them, the machine and `more` to a JSON file if one is named."""
    show(title, rows)
    for name, value in machine().items():
        print(f"{name}: {value}")
    if out is not None:
        out.write_text(json.dumps({"machine": machine(), "rows": rows, **more}, indent=1) + "\n")
