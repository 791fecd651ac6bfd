"""What travels: a header of plain values, then the arrays of a message.

    length of the header, 4 bytes | header, JSON | body: a message of `fedmf.wire`, or nothing

Python writes floats so that they come back exactly. Nothing here can hold code.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, NamedTuple

from fedmf.errors import RefusedError

LENGTH = 4
MOST_HEADER = 2**20  # bytes


class Frame(NamedTuple):
    """One thing sent."""

    header: dict[str, Any]
    body: bytes = b""


def pack(frame: Frame) -> bytes:
    """Return a frame as bytes."""
    header = _text(frame.header)
    return b"".join((len(header).to_bytes(LENGTH), header, frame.body))


def unpack(data: bytes) -> Frame:
    """Return the frame that the bytes hold; refuse anything else."""
    length = int.from_bytes(data[:LENGTH])
    if len(data) < LENGTH + length or length > MOST_HEADER:
        raise RefusedError("what came is not a message of this software: its header is cut off")
    try:
        header = json.loads(data[LENGTH : LENGTH + length])
    except (ValueError, RecursionError):
        raise RefusedError(
            "what came is not a message of this software: its header is no JSON"
        ) from None
    if not isinstance(header, dict):
        raise RefusedError("what came is not a message of this software: its header is no table")
    return Frame(header, data[LENGTH + length :])


def stamp(frame: Frame, without: tuple[str, ...] = ()) -> str:
    """Return a digest of a frame, some of its header's entries left out."""
    header = {name: value for name, value in frame.header.items() if name not in without}
    digest = sha256(_text(header))
    digest.update(frame.body)
    return digest.hexdigest()


def _text(header: dict[str, Any]) -> bytes:
    return json.dumps(header, sort_keys=True).encode()
