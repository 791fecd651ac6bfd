"""What the paper says of a figure, in a form that results can be held against.

    says = "..."            the sentence, in our words
    measure = "rounds"      what is compared, see `fedmf.paper.measures`
    order = [a, b, c]       a does better than b, b better than c
    not_order = [a, b]      that is not so
    best = [[a, b], [c]]    the best of the first group does better than the best of the second
    same = [a, b]           they differ by `within` at most
    more = [[a, b], [c, d]] from a to b there is more to gain than from c to d

    by = 0.05               better by more than that: points of accuracy, a share of F
    times = 5               better by more than that factor
    own_data = true         it is about the very data that the paper has: others cannot test it

A series is named "PANEL: LABEL", as `fedmf.paper.exhibit` has it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from fedmf.checks import check_real, unknown
from fedmf.errors import InputTypeError, ParameterError
from fedmf.paper.measures import MEASURES

FLAT, GROUPED = ("order", "not_order", "same"), ("best", "more")
SETTINGS = {"by": 0.0, "times": 1.0, "within": 0.0}


@dataclass(frozen=True)
class Claim:
    """One statement."""

    says: str
    measure: str
    kind: str
    groups: tuple[tuple[str, ...], ...]  # one, or two where the kind compares groups
    by: float = 0.0
    times: float = 1.0
    within: float = 0.0
    own_data: bool = False

    @property
    def series(self) -> tuple[str, ...]:
        """The series that it is about, each once."""
        return tuple(dict.fromkeys(key for group in self.groups for key in group))

    @classmethod
    def of(cls, table: Mapping[str, Any], known: Collection[str]) -> Claim:
        """Return the claim that a table says about series that are known."""
        says, measure = table.get("says"), table.get("measure")
        if not isinstance(says, str):
            raise ParameterError("a claim needs an entry 'says'")
        kinds = [kind for kind in (*FLAT, *GROUPED) if kind in table]
        for name in table:
            if name not in ("says", "measure", "own_data", *SETTINGS, *kinds):
                raise ParameterError(f"claim {says!r} has an entry {name!r}, which means nothing")
        if measure not in MEASURES:
            raise unknown("measure", measure, MEASURES)
        if len(kinds) != 1:
            raise ParameterError(f"claim {says!r} needs one of {', '.join((*FLAT, *GROUPED))}")
        numbers = {name: float(table.get(name, default)) for name, default in SETTINGS.items()}
        for name, value in numbers.items():
            check_real(name, value, minimum=0)
        groups = _groups(kinds[0], table[kinds[0]], says, known)
        return cls(says, measure, kinds[0], groups, own_data=bool(table.get("own_data")), **numbers)


def _groups(
    kind: str, given: Any, says: str, known: Collection[str]
) -> tuple[tuple[str, ...], ...]:
    """Return the series of a claim in groups; refuse those that are not there."""
    nested = [given] if kind in FLAT else given
    if not isinstance(nested, list) or not all(isinstance(group, list) for group in nested):
        raise InputTypeError(f"claim {says!r}: {kind} must be a list of series")
    for key in (key for group in nested for key in group):
        if key not in known:
            raise ParameterError(f"claim {says!r} names a series {key!r} that is not drawn")
    least = 2 if kind in (*FLAT, "more") else 1
    if any(len(group) < least for group in nested) or (kind in GROUPED and len(nested) != 2):
        raise ParameterError(f"claim {says!r}: {kind} has too few series")
    return tuple(tuple(group) for group in nested)
