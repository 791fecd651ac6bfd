"""The record of what left a site: one line for each upload, each bound to the line before.

A line is JSON and holds the digest of the line before it and its own, so that a line that is
changed, removed or put in shows. Lines are only ever added, and before the upload leaves.
`egress.head`, beside it, holds number and digest of the last line: without it lines that are cut
off at the end would not show.
"""

from __future__ import annotations

import json
import logging
import os
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from safetensors.numpy import load

from fedmf.errors import FileFormatError, RefusedError
from fedmf.files import write_text

NAME, HEAD = "egress.jsonl", "egress.head"
FIRST = "0" * 64
CHANGED = "its record of what left it was changed: `fedmf egress verify` says where"
log = logging.getLogger("fedmf.site")


class Egress:
    """A site's record."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        _drop_half_a_line(path)
        self._count, self._last = self._verified()
        self._stands = self._now()

    def record(self, body: bytes, **about: Any) -> None:
        """Write down one upload, and make sure that it is on the disk."""
        self._unchanged()
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
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError:  # a full disk, say: the upload does not leave, so its line goes
            if self._path.exists():
                os.truncate(self._path, self._stands[0] if self._stands else 0)
            self._stands = self._now()
            raise
        self._count, self._last = line["number"], line["digest"]
        self._stands = self._now()
        head = json.dumps([self._count, self._last])
        write_text(self._path.with_name(HEAD), head, flushed=False)

    def _unchanged(self) -> None:
        """Refuse to add to a record that somebody else has touched and changed."""
        if self._now() != self._stands:
            if self._verified() != (self._count, self._last):
                raise RefusedError(CHANGED)
            self._stands = self._now()

    def _now(self) -> tuple[int, int, int] | None:
        """Return by what a change of the file shows."""
        if not self._path.exists():
            return None
        found = self._path.stat()
        return found.st_size, found.st_mtime_ns, found.st_ino

    def _verified(self) -> tuple[int, str]:
        try:
            return verify(self._path)
        except FileFormatError as error:
            log.error("%s", error)  # noqa: TRY400 - the place is for this site's eyes only
            raise RefusedError(CHANGED) from None


def verify(path: Path) -> tuple[int, str]:
    """Return how many lines there are and the last one's digest; refuse a record that was changed.

    Whoever cuts off the end of both files leaves no trace in them: compare the last digest with
    one that was noted elsewhere.
    """
    count, digests = 0, [FIRST]
    if path.exists():
        with path.open(encoding="utf-8", errors="replace") as file:
            for count, text in enumerate(file, start=1):
                digests.append(_checked(path, count, text, digests[-1]))
    head = path.with_name(HEAD)
    if head.exists() and not _leads_to(head, digests):
        raise FileFormatError(f"{path}, line {count}: lines were cut off, {head.name} knows more")
    return count, digests[-1]


def _checked(path: Path, count: int, text: str, last: str) -> str:
    """Return the digest of a line that is as it was written."""
    try:
        line = json.loads(text)
        found: str = line.pop("digest")
        right = line["previous"] == last and line["number"] == count
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FileFormatError(f"{path}, line {count}: not a line of this record") from None
    if not right or _digest(line) != found:
        raise FileFormatError(
            f"{path}, line {count}: the record was changed here or before this line"
        )
    return found


def _leads_to(head: Path, digests: list[str]) -> bool:
    """Whether the line that the head knows of is there; a kill may have come before the head.

    It is empty where the machine itself went down a moment later.
    """
    text = head.read_text(encoding="utf-8", errors="replace").strip("\0\n ")
    if not text:
        return True
    try:
        number, digest = json.loads(text)
        return bool(digests[number] == digest)
    except (ValueError, TypeError, IndexError):
        return False


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
