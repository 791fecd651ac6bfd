"""A folder of results, one file for each key: nothing in it is ever computed twice.

The files are DATA/NAME-KEY.json, written under another name and renamed, so several processes and
several machines may fill folders that are put together by copying.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fedmf.errors import FileFormatError
from fedmf.files import is_temporary, write_text
from fedmf.trials.result import Result
from fedmf.trials.trial import Trial


class Store:
    """Results in a folder."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def path(self, trial: Trial) -> Path:
        """Return where a trial's result is, or would be."""
        return self.folder / trial.source / f"{trial.name}-{trial.key}.json"

    def get(self, trial: Trial) -> Result | None:
        """Return a trial's result, or None where there is none; a damaged file is an error."""
        path = self.path(trial)
        if not path.is_file():
            return None
        result = read(path)
        if result.key != trial.key:
            raise FileFormatError(f"{path} holds the result of another trial, {result.key}")
        return result

    def has(self, trial: Trial) -> bool:
        """Whether a trial's result is there, whole."""
        try:
            return self.get(trial) is not None
        except FileFormatError:
            return False

    def put(self, trial: Trial, result: Result) -> Path:
        """Keep a result."""
        path = self.path(trial)
        write_text(path, result.to_json())
        return path

    def __iter__(self) -> Iterator[Result]:
        """Yield all results, by name; what a killed process left half written is none."""
        for path in sorted(self.folder.rglob("*.json")):
            if not is_temporary(path.name):
                yield read(path)


def read(path: Path) -> Result:
    """Return the result in a file."""
    try:
        return Result.from_json(path.read_text(encoding="utf-8"), path)
    except UnicodeDecodeError:
        raise FileFormatError(f"{path} is damaged: it is no text") from None
