"""A site's private states, each under the number of the request that led to it.

A request says from which state to start (`after`) and which is the oldest that the server may
still come back to (`durable`). So a server that was killed and goes on from its last checkpoint
needs no word to the sites: it asks from an older state. State and answer are one file, so there is
both or neither. The file is there twice: without its H and its baselines a site could not go on.
"""

from __future__ import annotations

import json
from pathlib import Path
from shutil import rmtree
from typing import Any, NamedTuple

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import save

from fedmf.errors import FileFormatError, MissingDataError
from fedmf.network import twice
from fedmf.network.frames import Frame, pack, unpack
from fedmf.private import laid_out
from fedmf.wire import arrays, read_file

ENDING = ".state"


class Stored(NamedTuple):
    """What a file holds."""

    stamp: str  # of the request
    private: Any
    answer: Frame


class States:
    """The states of one run, in a folder of their own; state 0 is none at all.

    Parameters
    ----------
    folder : where.
    kinds : the private states that there may be, by name.
    """

    def __init__(self, folder: Path, kinds: dict[str, type[tuple[Any, ...]]]) -> None:
        self._folder, self._kinds = folder, kinds
        self._last: tuple[int, Any] = (0, None)
        for left in folder.rglob(f".*{ENDING}"):  # by a kill
            left.unlink()

    def answered(self, seq: int, stamp: str) -> Frame | None:
        """Return the answer to this very request, if it was given before."""
        try:
            found = self._read(seq)
        except (FileFormatError, MissingDataError):
            return None  # then it is worked out again
        return found.answer if found.stamp == stamp else None

    def state(self, seq: int) -> Any:
        """Return the private state with this number."""
        if seq == 0:
            return None
        if self._last[0] != seq:
            self._last = (seq, self._read(seq).private)
        return self._last[1]

    def store(self, seq: int, stored: Stored) -> None:
        """Keep a state with the answer that led to it."""
        private = stored.private
        name = "" if private is None else type(private).__name__
        tensors = {} if private is None else arrays(private)
        about = {"stamp": stored.stamp, "kind": name}
        tensors["answer of the site"] = np.frombuffer(pack(stored.answer), dtype=np.uint8)
        twice.write(self._path(seq), save(tensors, metadata={"fedmf": json.dumps(about)}))
        self._last = (seq, None if private is None else laid_out(private))

    def forget(self, durable: int) -> None:
        """Remove what is older than the oldest state that may be needed."""
        for path in self._folder.glob(f"[0-9]*{ENDING}"):
            if int(path.stem) < durable:
                twice.remove(path)

    def clear(self) -> None:
        """Remove everything."""
        rmtree(self._folder, ignore_errors=True)

    def _path(self, seq: int) -> Path:
        return self._folder / f"{seq:08d}{ENDING}"

    def _read(self, seq: int) -> Stored:
        path = self._path(seq)
        return self._parsed(twice.read(path), path)

    def _parsed(self, data: bytes, path: Path) -> Stored:
        try:
            tensors, about = read_file(data)
            answer = unpack(tensors["answer of the site"].tobytes())
            private = None
            if about["kind"]:
                kind = self._kinds[about["kind"]]
                fields = kind._fields  # type: ignore[attr-defined]
                private = laid_out(kind(*(tensors[name] for name in fields)))
        except (SafetensorError, KeyError, ValueError) as error:
            raise FileFormatError(f"{path} is of another version of fedmf: {error}") from None
        return Stored(about["stamp"], private, answer)
