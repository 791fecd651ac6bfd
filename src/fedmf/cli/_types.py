"""Values on the command line that are neither a number nor a word."""

from __future__ import annotations

from typing import Any

import click


class Steps(click.ParamType):  # type: ignore[type-arg]
    """A number of steps, or a schedule: 10, diminishing:10."""

    name = "steps"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return an integer, or the table of a schedule."""
        head, _, tail = str(value).partition(":")
        number = tail if head == "diminishing" else value
        try:
            count = int(number)
        except ValueError:
            self.fail(f"{value!r} is neither a number of steps nor diminishing:QHAT", param, ctx)
        return {"diminishing": count} if head == "diminishing" else count


class Bounds(click.ParamType):  # type: ignore[type-arg]
    """A set for W: a name, or two numbers with a colon."""

    name = "bounds"

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the name, or the pair as a list."""
        low, colon, high = str(value).partition(":")
        if not colon:
            return value
        try:
            return [float(low), float(high)]
        except ValueError:
            self.fail(f"{value!r} is not two numbers LOWER:UPPER", param, ctx)
