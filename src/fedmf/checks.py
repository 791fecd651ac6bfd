"""Checks of what a user passes, each with the same form of message: name, allowed, got."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real

from fedmf.errors import InputTypeError, ParameterError
from fedmf.plugins import did_you_mean


def check_integer(name: str, value: object, minimum: int, maximum: float = math.inf) -> int:
    """Return `value` if it is an integer in [minimum, maximum]."""
    allowed = f"an integer of at least {minimum}"
    if maximum < math.inf:
        allowed += f" and at most {maximum}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InputTypeError(f"{name} must be {allowed}, got {value!r}")
    if not minimum <= int(value) <= maximum:
        raise ParameterError(f"{name} must be {allowed}, got {value}")
    return int(value)


def check_real(
    name: str,
    value: object,
    minimum: float = -math.inf,
    *,
    above: bool = False,
    finite: bool = False,
) -> float:
    """Return `value` if it is a number that is not NaN and at least (or above) `minimum`."""
    bound = "" if minimum == -math.inf else f" {'above' if above else 'of at least'} {minimum:g}"
    kind = f"a {'finite ' if finite else ''}number{bound}"
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputTypeError(f"{name} must be {kind}, got {value!r}")
    number = float(value)
    refused = math.isnan(number) or (finite and math.isinf(number))
    if refused or number < minimum or (above and number == minimum):
        raise ParameterError(f"{name} must be {kind}, got {number:g}")
    return number


def check_type(name: str, value: object, kind: type) -> None:
    """Refuse a value of another kind."""
    if not isinstance(value, kind):
        article = "an" if kind.__name__[0] in "AEIOU" else "a"
        raise InputTypeError(
            f"{name} must be {article} {kind.__name__}, got {type(value).__name__}"
        )


def unknown(name: str, value: object, allowed: Iterable[str]) -> ParameterError:
    """Return the error for a word that is not among the allowed ones."""
    known = list(allowed)
    words = ", ".join(repr(word) for word in known)
    hint = did_you_mean(value, known) if isinstance(value, str) else ""
    return ParameterError(f"{name} must be one of {words}; got {value!r}{hint}")
