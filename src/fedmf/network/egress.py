"""The record of what left a site: one line for each upload, each bound to the line before.

A line is JSON and holds the digest of the line before it and its own, so that a line that is
changed, removed or put in shows. Lines are only ever added, and before the upload leaves.
"""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from safetensors.numpy import load

from fedmf.errors import FileFormatError

NAME = "egress.jsonl"
FIRST = "0" * 64


class Egress:
    """A site's record."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        _drop_half_a_line(path)
        self._count, self._last = verify(path) if path.exists() else (0, FIRST)

    def record(self, body: bytes, **about: Any) -> None:
        """Write down one upload, and make sure that it is on the disk."""
        line = {
            "number": self._count + 1,
            "time": datetime.now(UTC).isoformat(timespec="milliseconds"),
            **about,
            "arrays": _described(body),
            "bytes": len(body),
            "sha256": sha256(body).hexdigest(),
            "previous": self._last,
        }
        line["digest"] = _digest(line)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())
        self._count, self._last = line["number"], line["digest"]


def verify(path: Path) -> tuple[int, str]:
    """Return how many lines there are and the last one's digest; refuse a record that was changed.

    Lines cut off at the end do not show in the record alone: compare the last digest with one
    that was noted before.
    """
    last, count = FIRST, 0
    with path.open(encoding="utf-8", errors="replace") as file:
        for count, text in enumerate(file, start=1):
            try:
                line = json.loads(text)
                found = line.pop("digest")
                right = line["previous"] == last and line["number"] == count
            except (ValueError, KeyError, TypeError, AttributeError):
                raise FileFormatError(f"{path}, line {count}: not a line of this record") from None
            if not right or _digest(line) != found:
                raise FileFormatError(
                    f"{path}, line {count}: the record was changed here or before this line"
                )
            last = found
    return count, last


def _described(body: bytes) -> dict[str, Any]:
    """Return type and shape of each array, read from the very bytes that leave."""
    found = load(body) if body else {}
    return {name: [value.dtype.name, *value.shape] for name, value in sorted(found.items())}


def _digest(line: dict[str, Any]) -> str:
    return sha256(json.dumps(line, sort_keys=True).encode()).hexdigest()


def _drop_half_a_line(path: Path) -> None:
    """Cut off what a kill left of a line; its upload did not leave."""
    if path.exists():
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(path, whole)
