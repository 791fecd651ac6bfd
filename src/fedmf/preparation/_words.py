"""Lists of words as arrays of bytes, since a message holds nothing but arrays."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]


def pack(words: Iterable[Any]) -> Bytes:
    """Return words and numbers as the bytes of a JSON list."""
    return np.frombuffer(json.dumps(list(words)).encode(), dtype=np.uint8)


def unpack(text: Bytes) -> list[Any]:
    """Return the words and numbers that `pack` packed."""
    return list(json.loads(bytes(text)))
