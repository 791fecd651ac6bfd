"""Messages: named tuples of arrays, as bytes and back. Nothing read here can run code.

A message travels in the safetensors layout: a JSON header with names, shapes and types, then the
raw numbers.
"""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from fedmf.errors import FileFormatError

Message = TypeVar("Message", bound=tuple[Any, ...])


def encode(message: tuple[Any, ...]) -> bytes:
    """Return a named tuple of arrays and numbers as bytes."""
    return save(arrays(message))


def decode(data: bytes, kind: type[Message]) -> Message:
    """Return the message of this kind that the bytes hold; refuse any other."""
    try:
        found = load(data)
    except (SafetensorError, KeyError) as error:  # a KeyError: a type that numpy has not
        raise FileFormatError(f"not a message of this software: {error}") from None
    wanted = list(kind._fields)  # type: ignore[attr-defined]
    if sorted(found) != sorted(wanted):
        raise FileFormatError(
            f"a {kind.__name__} message has the arrays {', '.join(wanted)}; got {', '.join(found)}"
        )
    return kind(*(found[name] for name in wanted))


def read_file(data: bytes) -> tuple[dict[str, np.ndarray[Any, Any]], Any]:
    """Return the arrays in the bytes of one of our files, and the plain values beside them."""
    tensors, length = load(data), int.from_bytes(data[:8], "little")
    return tensors, json.loads(json.loads(data[8 : 8 + length])["__metadata__"]["fedmf"])


def arrays(message: tuple[Any, ...]) -> dict[str, np.ndarray[Any, Any]]:
    """Return the fields of a named tuple as contiguous arrays by name."""
    fields = message._fields  # type: ignore[attr-defined]
    return {
        name: np.ascontiguousarray(value).reshape(np.shape(value))
        for name, value in zip(fields, message, strict=True)
    }


def reals(message: tuple[Any, ...]) -> int:
    """Return how many real numbers a message holds; digests and counts are not among them."""
    floats = (value for value in map(np.asarray, message) if value.dtype.kind == "f")
    return sum(value.size for value in floats)


def size(message: tuple[Any, ...]) -> int:
    """Return how many bytes `encode` would make of a message, without making them."""
    fields = message._fields  # type: ignore[attr-defined]
    layout = tuple(
        (name, np.shape(value), np.asarray(value).dtype.str)
        for name, value in zip(fields, message, strict=True)
    )
    return _size_of(layout)


@lru_cache(maxsize=1024)
def _size_of(layout: tuple[tuple[str, tuple[int, ...], str], ...]) -> int:
    """Return the encoded size of arrays of this layout; it does not depend on their values."""
    return len(save({name: np.zeros(shape, kind) for name, shape, kind in layout}))
