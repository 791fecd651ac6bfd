"""Tells in lines where many trials stand, where there is no terminal."""

from __future__ import annotations

from typing import IO

from fedmf.trials.agenda import Progress

EVERY = 20.0  # seconds between two lines where nothing happens


class Printer:
    """Prints a line for each trial, and now and then where the work stands."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream, self._last = stream, 0.0

    def __call__(self, now: Progress) -> None:
        """Print what is worth a line."""
        if not now.event and now.seconds - self._last < EVERY:
            return
        self._last = now.seconds
        stand = f"[{now.done + now.failed}/{now.total}, about {now.left / 60:.0f} min left]"
        print(f"{now.seconds:7.1f} s {stand} {now.event}", file=self._stream, flush=True)
