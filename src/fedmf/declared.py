"""What a site may send: every update declares its arrays, and nothing else gets through.

An update is a named tuple whose fields say kind and shape, in letters for what depends on the run:
M features, K columns of W; another letter stands for a count of at most K (G: of at most 3 K) that
is the same wherever it occurs in the message, and * for any length. A field without a declaration
is a single number. What is looked at: the names, the types, the shapes, and that every number is
finite.
"""

from __future__ import annotations

from functools import cache
from inspect import signature
from typing import Annotated, Any, NamedTuple, TypeAlias, get_type_hints

import numpy as np
from numpy.typing import NDArray

from fedmf.arrays import Array, IntArray
from fedmf.errors import RefusedError
from fedmf.messages import Message, Task

MOST_GROUPS = 3  # times K: how many groups of its samples a site may tell of
KINDS = {"f": ("float32", "float64"), "i": ("int64",), "u": ("uint8",)}


class Layout(NamedTuple):
    """How a field's array looks."""

    kind: str  # numpy's letter: f, i or u
    shape: tuple[str | int, ...]


ONE = Layout("f", ())

Square: TypeAlias = Annotated[Array, Layout("f", ("K", "K"))]
Tall: TypeAlias = Annotated[Array, Layout("f", ("M", "K"))]
Curved: TypeAlias = Annotated[Array, Layout("f", ("k", "k"))]
CountEach: TypeAlias = Annotated[IntArray, Layout("i", ("g",))]
GroupRows: TypeAlias = Annotated[Array, Layout("f", ("G", "M"))]
GroupCounts: TypeAlias = Annotated[IntArray, Layout("i", ("G",))]
Digest: TypeAlias = Annotated[NDArray[np.uint8], Layout("u", (32,))]
Text: TypeAlias = Annotated[NDArray[np.uint8], Layout("u", ("*",))]


def payload_of(task: Task) -> type[Message]:
    """Return the kind of message that a task takes: the type of its third argument."""
    name = list(signature(task.run).parameters)[2]
    kind: type[Message] = get_type_hints(task.run)[name]
    return kind


@cache
def layouts(kind: type[tuple[Any, ...]]) -> dict[str, Layout]:
    """Return how each field of a message looks."""
    hints = get_type_hints(kind, include_extras=True)
    fields = kind._fields  # type: ignore[attr-defined]
    return {name: _layout(hints[name]) for name in fields}


def _layout(hint: Any) -> Layout:
    found = [own for own in getattr(hint, "__metadata__", ()) if isinstance(own, Layout)]
    return found[0] if found else ONE


def dimensions(goal: Any) -> dict[str, int]:
    """Return M and K, where they are known."""
    return {} if goal is None else {"M": goal.known.features, "K": goal.rank}


def check_declared(update: tuple[Any, ...], kind: Any, known: dict[str, int]) -> None:
    """Refuse an update that is not what a task declares; `known` holds M and K where they are."""
    if kind is None or type(update) is not kind:
        raise RefusedError(f"{type(update).__name__} is not among the declared messages")
    sizes = dict(known)
    for (name, layout), value in zip(layouts(kind).items(), update, strict=True):
        array, what = np.asarray(value), f"{kind.__name__}.{name}"
        if array.dtype.name not in KINDS[layout.kind]:
            allowed = " or ".join(KINDS[layout.kind])
            raise RefusedError(f"{what} is declared as {allowed}, got {array.dtype.name}")
        if len(array.shape) != len(layout.shape) or not all(
            _fits(wanted, got, sizes) for wanted, got in zip(layout.shape, array.shape, strict=True)
        ):
            shape = ", ".join(map(str, layout.shape))
            raise RefusedError(f"{what} is declared with the shape ({shape}), got {array.shape}")
        if not np.isfinite(array).all():
            raise RefusedError(f"{what} holds a number that is not finite")


def _fits(wanted: str | int, got: int, sizes: dict[str, int]) -> bool:
    """Whether a length is as declared; a letter's first occurrence decides the others."""
    if wanted == "*":
        return True
    if isinstance(wanted, int):
        return got == wanted
    if wanted not in sizes and wanted not in ("M", "K"):
        sizes[wanted] = got
        return got <= sizes.get("K", 0) * (MOST_GROUPS if wanted == "G" else 1)
    return got == sizes.get(wanted)
