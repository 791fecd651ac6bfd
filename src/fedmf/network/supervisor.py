"""Daemons: a small parent that starts a child again when it dies, and what a child needs.

The parent does nothing else, so it has no reason to die. A child that ends with a mistake of the
user's is not started again. A child whose parent is gone ends too: its standard input is a pipe
from the parent.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from time import monotonic

from fedmf.errors import ParameterError

DONE, FAILED, MISTAKE = 0, 1, 2
NAPS = (0.1, 10.0)  # seconds before the child is started again: at first, at most
LONG = 5.0  # a child that lived as long was no failure from the start
PATIENCE = 20.0  # seconds in which a child ends when asked to
log = logging.getLogger("fedmf.supervisor")


def supervise(command: Sequence[str]) -> int:
    """Run a command until it ends by itself or we are asked to stop; return the exit status."""
    stop, nap = stopping(), NAPS[0]
    while True:
        started = monotonic()
        with subprocess.Popen(command, stdin=subprocess.PIPE) as child:  # noqa: S603 - our own
            status = _watched(child, stop)
        if stop.is_set() or status in (DONE, MISTAKE):
            return DONE if stop.is_set() else status
        nap = NAPS[0] if monotonic() - started > LONG else min(2 * nap, NAPS[1])
        log.warning("the process ended with %d; starting it again in %.1f s", status, nap)
        if stop.wait(nap):
            return DONE


def _watched(child: subprocess.Popen[bytes], stop: Event) -> int:
    """Return how a child ended; end it when we are asked to stop."""
    ended = Event()

    def wait() -> None:
        child.wait()
        ended.set()

    Thread(target=wait, daemon=True).start()
    while not ended.wait(0.05):
        if stop.is_set():
            child.terminate()
            if not ended.wait(PATIENCE):
                child.kill()
            ended.wait()
    return child.returncode


def stopping() -> Event:
    """Return an event that SIGTERM and SIGINT set."""
    stop = Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


def end_with_parent(stop: Event, hurry: Callable[[], None] = lambda: None) -> None:
    """Set the event when the parent is gone."""

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        stop.set()
        hurry()

    Thread(target=watch, daemon=True).start()


@contextmanager
def alone(folder: Path, name: str) -> Iterator[None]:
    """Hold a kit for this process, and say its number in a file; refuse one that is held."""
    import fcntl

    path = folder / f"{name}.pid"
    with path.open("a+", encoding="utf-8") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise ParameterError(f"{folder} is in use: another {name} runs with this kit") from None
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
