"""A run at the coordinator, saved after every round.

    rounds.jsonl              a line a round: its row of the history, its entries of the ledger
    checkpoint.safetensors    the server's state, the marks of the conversation with the sites, and
                              how much of rounds.jsonl belongs to it

Lines are only added, then the checkpoint is replaced by a rename: what a round costs does not grow
with their number. What a kill left behind the checkpoint's end of rounds.jsonl is cut off.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from fedmf.files import write_bytes
from fedmf.ledger import Entry, Ledger
from fedmf.network.runtime import Marks
from fedmf.run import Run
from fedmf.storage import pack, read_model, unpack

CHECKPOINT, ROUNDS = "checkpoint.safetensors", "rounds.jsonl"
ARRAYS = ("sites", "uploads", "up_reals", "up_bytes")


class Checkpoints:
    """The checkpoints of one run, in its folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._length = 0  # of rounds.jsonl
        self._entries = 0  # of the ledger, that are in it

    def save(self, run: Run, marks: Marks) -> None:
        """Save a run that stands after a complete round."""
        new = [_plain(entry) for entry in run.ledger.entries[self._entries :]]
        line = {"row": run.rows[-1] if run.rows else None, "ledger": new}
        with (self._folder / ROUNDS).open("ab") as file:
            file.truncate(self._length)
            file.write(json.dumps(line).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
            self._length = file.tell()
        self._entries = len(run.ledger.entries)
        about = {**marks._asdict(), "payload": None, "length": self._length}
        payload = np.frombuffer(marks.payload, dtype=np.uint8)
        data = pack(run, {"marks.payload": payload}, marks=about)
        write_bytes(self._folder / CHECKPOINT, data)

    def load(self) -> tuple[Run, Marks] | None:
        """Return the run as it was saved last; None where it was not."""
        path = self._folder / CHECKPOINT
        if not path.is_file():
            return None
        tensors, state = read_model(path)
        about = state.pop("marks")
        self._length = about.pop("length")
        payload = tensors.pop("marks.payload").tobytes()
        rows, ledger = self._journal()
        self._entries = len(ledger.entries)
        marks = Marks(**{**about, "payload": payload})
        return unpack(tensors, state, rows, ledger), marks

    def _journal(self) -> tuple[list[dict[str, Any]], Ledger]:
        """Return rows and ledger as far as the checkpoint goes."""
        with (self._folder / ROUNDS).open("rb") as file:
            lines = [json.loads(line) for line in file.read(self._length).splitlines()]
        rows = [line["row"] for line in lines if line["row"] is not None]
        return rows, Ledger([_entry(entry) for line in lines for entry in line["ledger"]])


def _plain(entry: Entry) -> dict[str, Any]:
    table = entry._asdict()
    return {**table, **{name: table[name].tolist() for name in ARRAYS}}


def _entry(table: dict[str, Any]) -> Entry:
    return Entry(**{**table, **{name: np.array(table[name], dtype=np.int64) for name in ARRAYS}})
