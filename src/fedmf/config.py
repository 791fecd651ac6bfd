"""Problems, algorithms and penalties as plain tables, for TOML files, and back.

A loss, a constraint or a schedule of the user's own has no plain form: it is written down by its
text, and reading it back gives a stand-in that says so when it is used.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from numbers import Integral, Real
from typing import Any, TypeVar

import fedmf.algorithms as family
from fedmf.algorithms import Algorithm, Diminishing
from fedmf.checks import unknown
from fedmf.constraints import Box, Free, Nonnegative
from fedmf.errors import ParameterError
from fedmf.losses import Loss
from fedmf.penalties import SNCP, PenaltySchedule
from fedmf.problem import Problem
from fedmf.recommended import Recommended

T = TypeVar("T")

OWN = "own:"  # marks the text of something that has no plain form


@dataclass(frozen=True)
class Lost:
    """Stands in for a schedule of the user's own, which no file can hold."""

    text: str
    needed: str = "the algorithm with it"

    def __call__(self, anything: object) -> Any:
        """Say that the schedule itself is needed."""
        raise ParameterError(
            f"the run was made with a schedule of your own ({self.text}): "
            f"pass {self.needed} again to go on"
        )


def algorithms() -> dict[str, type[Algorithm]]:
    """Return the algorithms by name."""
    found = (getattr(family, name) for name in family.__all__)
    return {
        kind.name: kind for kind in found if issubclass(kind, Algorithm) and kind is not Algorithm
    }


def to_table(thing: Problem | Algorithm | SNCP) -> dict[str, Any]:
    """Return the settings as a table of plain values; None is left out, as TOML has none."""
    pairs = ((field.name, _plain(getattr(thing, field.name))) for field in fields(thing))
    table = {name: value for name, value in pairs if value is not None}
    return table if isinstance(thing, Problem) else {"name": thing.name, **table}


def penalty_table(penalty: PenaltySchedule | None) -> dict[str, Any] | None:
    """Return a schedule of rho as a table; None where there is none."""
    if penalty is None:
        return None
    if isinstance(penalty, Recommended):
        return {"name": SNCP.name, **penalty.settings}
    return to_table(penalty) if isinstance(penalty, SNCP) else {"name": _own(penalty)}


def problem_from(table: dict[str, Any]) -> Problem:
    """Return the problem that a table describes."""
    return _build(Problem, "problem", {name: _value(value) for name, value in table.items()})


def algorithm_from(table: dict[str, Any]) -> Algorithm:
    """Return the algorithm that a table describes."""
    settings = {name: _value(value) for name, value in table.items()}
    name, known = settings.pop("name", None), algorithms()
    if name not in known:
        raise unknown("algorithm", name, known)
    return _build(known[name], f"algorithm {name!r}", settings)


def penalty_from(table: dict[str, Any] | None) -> PenaltySchedule | None:
    """Return the schedule of rho that a table describes."""
    if table is None:
        return None
    settings = dict(table)
    name = settings.pop("name", None)
    if isinstance(name, str) and name.startswith(OWN):
        return Lost(name, "penalty")
    if name != SNCP.name:
        raise unknown("penalty", name, (SNCP.name,))
    return _build(SNCP, f"penalty {name!r}", settings)


def wanted_penalty(table: dict[str, Any]) -> PenaltySchedule | None:
    """Return what a user's table asks for: where it does not say where rho starts, the best."""
    settings = dict(table)
    if settings.pop("name", SNCP.name) != SNCP.name or "start" in settings:
        return penalty_from({"name": SNCP.name, **table})
    return Recommended(settings)


def _build(kind: type[T], what: str, settings: dict[str, Any]) -> T:
    allowed = [field.name for field in fields(kind)]  # type: ignore[arg-type]
    for name in settings:
        if name not in allowed:
            raise ParameterError(f"{what} has no setting {name!r}; it has {', '.join(allowed)}")
    return kind(**settings)


def _plain(value: Any) -> Any:
    if isinstance(value, Box):
        return [value.lower, value.upper]
    if isinstance(value, Nonnegative | Free):
        return type(value).__name__.lower()
    if isinstance(value, Diminishing):
        return {"diminishing": value.qhat}
    if isinstance(value, Loss):
        return value.name
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, Real) and not isinstance(value, bool):
        return int(value) if isinstance(value, Integral) else float(value)
    return value if value is None or isinstance(value, bool | str) else _own(value)


def _own(value: Any) -> str:
    if isinstance(value, Lost):
        return value.text
    return OWN + str(getattr(value, "__qualname__", None) or repr(value))


def _value(plain: Any) -> Any:
    if isinstance(plain, dict):
        if set(plain) != {"diminishing"}:
            raise ParameterError(f"a schedule is written {{diminishing = Qhat}}, got {plain}")
        return Diminishing(plain["diminishing"])
    if isinstance(plain, list):
        return tuple(plain)
    return Lost(plain) if isinstance(plain, str) and plain.startswith(OWN) else plain
