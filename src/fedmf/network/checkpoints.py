"""A run at the coordinator, saved after every round.

    rounds.jsonl              a line a round: its row of the history, its entries of the ledger
    checkpoint.state          the server's state, the marks of the conversation with the sites, and
                              how much of rounds.jsonl belongs to it, with a digest of that

Lines are only added, then the checkpoint is replaced by a rename: what a round costs does not grow
with their number. What a kill left behind the checkpoint's end of rounds.jsonl is cut off. Both
are there twice, the second in copy/.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from fedmf.errors import FileFormatError
from fedmf.files import write_bytes
from fedmf.ledger import Entry, Ledger
from fedmf.network import twice
from fedmf.network.runtime import Marks
from fedmf.network.twice import copy_of
from fedmf.run import Run
from fedmf.storage import pack, read_packed, unpack

CHECKPOINT, ROUNDS = "checkpoint.state", "rounds.jsonl"
ARRAYS = ("sites", "uploads", "up_reals", "up_bytes")


class Checkpoints:
    """The checkpoints of one run, in its folder."""

    def __init__(self, folder: Path) -> None:
        self._path, self._journals = (
            folder / CHECKPOINT,
            (folder / ROUNDS, copy_of(folder / ROUNDS)),
        )
        self._length, self._digest = 0, sha256()  # of rounds.jsonl
        self._sound: Path | None = None  # the journal that was read: the other is made like it
        self._entries = 0  # of the ledger, that are in it

    def save(self, run: Run, marks: Marks) -> None:
        """Save a run that stands after a complete round."""
        new = [_plain(entry) for entry in run.ledger.entries[self._entries :]]
        line = {"row": run.rows[-1] if run.rows else None, "ledger": new}
        text = json.dumps(line).encode() + b"\n"
        for journal in self._journals:
            self._add(journal, text)
        self._sound = None
        self._length += len(text)
        self._digest.update(text)
        self._entries = len(run.ledger.entries)
        about = {**marks._asdict(), "payload": None, "length": self._length,
                 "digest": self._digest.hexdigest()}  # fmt: skip
        payload = np.frombuffer(marks.payload, dtype=np.uint8)
        twice.write(self._path, pack(run, {"marks.payload": payload}, marks=about))

    def load(self) -> tuple[Run, Marks] | None:
        """Return the run as it was saved last; None where it was not."""
        if not self._path.is_file() and not copy_of(self._path).is_file():
            return None
        tensors, state = read_packed(twice.read(self._path), self._path)
        about = state.pop("marks")
        self._length, digest = about.pop("length"), about.pop("digest")
        payload = tensors.pop("marks.payload").tobytes()
        rows, ledger = self._read(digest)
        self._entries = len(ledger.entries)
        marks = Marks(**{**about, "payload": payload})
        return unpack(tensors, state, rows, ledger), marks

    def _add(self, journal: Path, text: bytes) -> None:
        """Write a line after those that belong to the checkpoint."""
        journal.parent.mkdir(exist_ok=True)
        if self._sound is not None and journal != self._sound:
            write_bytes(journal, self._sound.read_bytes()[: self._length])
        with journal.open("ab") as file:
            file.truncate(self._length)
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def _read(self, digest: str) -> tuple[list[dict[str, Any]], Ledger]:
        """Return rows and ledger as far as the checkpoint goes, from a journal that is as it was.

        Nothing is written: who only looks does not come between who writes.
        """
        for journal in self._journals:
            data = journal.read_bytes()[: self._length] if journal.is_file() else b""
            self._digest, self._sound = sha256(data), journal
            if self._digest.hexdigest() == digest:
                break
        else:
            raise FileFormatError(f"{self._journals[0]} is damaged, and so is its copy")
        lines = [json.loads(line) for line in data.splitlines()]
        rows = [line["row"] for line in lines if line["row"] is not None]
        return rows, Ledger([_entry(entry) for line in lines for entry in line["ledger"]])


def _plain(entry: Entry) -> dict[str, Any]:
    table = entry._asdict()
    return {**table, **{name: table[name].tolist() for name in ARRAYS}}


def _entry(table: dict[str, Any]) -> Entry:
    return Entry(**{**table, **{name: np.array(table[name], dtype=np.int64) for name in ARRAYS}})
