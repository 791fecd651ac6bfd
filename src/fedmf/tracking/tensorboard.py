"""TensorBoard: a folder of event files for each run, written by tensorboardX, without torch.

tensorboard --logdir FOLDER
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fedmf.tracking.base import Tracker, package

FLUSH = 2  # seconds after which what was written can be seen


class TensorBoard(Tracker):
    """Writes to FOLDER/NAME."""

    name = "tensorboard"

    def _open(self, where: str) -> None:
        self._package = package("tensorboardX", self.name)
        self._folder = Path(where).expanduser()
        self._folder.mkdir(parents=True, exist_ok=True)
        self._writer: Any = None

    def _begin(self, name: str, settings: Mapping[str, str]) -> None:
        self._writer = self._package.SummaryWriter(
            str(self._folder / name),
            flush_secs=FLUSH,
            filename_suffix=f".{time.time_ns()}",  # a run that goes on adds a file of its own
        )
        lines = [f"| {key} | {value} |" for key, value in settings.items()]
        self._writer.add_text("settings", "\n".join(["| | |", "|---|---|", *lines]))

    def _log(self, number: int, figures: Mapping[str, float]) -> None:
        for name, value in figures.items():
            self._writer.add_scalar(name, value, number)

    def _end(self, status: str, well: bool) -> None:
        self._writer.add_text("status", status)
        self._writer.close()
