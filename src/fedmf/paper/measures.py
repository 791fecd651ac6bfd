"""What is compared in a claim: figures of several series, read off their mean curves.

end         F after the last round that all of them may have; a run that stopped before stays at
            its value
rounds      how many rounds a series needs until its F is as low as a level
reals       how many reals its sites have sent until then
accuracy    of the clusters, at the end
accuracy at the same cost
            of the clusters, when the sites have sent so many reals

Speed depends on where it is looked at. So there are three levels: the F of the series that ends
highest, after a tenth, three tenths and all of its rounds (never below its last, so that every
series gets there). Costs are the same shares of what the cheapest series sends in all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from fedmf.arrays import Array
from fedmf.report.words import count
from fedmf.trials import Result
from fedmf.trials.curves import Curve, averaged

SHARES = (0.1, 0.3, 1.0)

Runs: TypeAlias = Mapping[str, Sequence[Result]]  # of the same starting points


class Reading(NamedTuple):
    """One figure of each series."""

    said: str  # what it is
    values: dict[str, float]


class Measure(NamedTuple):
    """A way to compare series."""

    read: Callable[[Runs], list[Reading]]
    show: Callable[[float], str]
    high: bool = False  # is better
    relative: bool = False  # a difference is a share of the larger value
    ratio: bool = False  # what there is to gain is a factor, not a difference


def limit(runs: Runs) -> int:
    """Return the last round that all series may have."""
    return min(int(result.trial["rounds"]) for own in runs.values() for result in own)


def _courses(runs: Runs) -> dict[str, Curve]:
    """Return each series' mean F up to the last round that all may have."""
    last, found = limit(runs), {}
    for key, own in runs.items():
        curve = averaged(own, "objective")
        rounds = np.append(curve.x[curve.x < last], last)
        found[key] = Curve(rounds, *(np.interp(rounds, curve.x, part) for part in curve[1:]))
    return found


def _end(runs: Runs) -> list[Reading]:
    values = {key: float(curve.mean[-1]) for key, curve in _courses(runs).items()}
    return [Reading(f"F after {limit(runs):,} rounds", values)]


def _rounds(runs: Runs) -> list[Reading]:
    courses = _courses(runs)
    return [
        Reading(
            f"rounds until F = {_five(level)}",
            {key: reached(curve.x, curve.mean, level) for key, curve in courses.items()},
        )
        for level in _levels(courses)
    ]


def _reals(runs: Runs) -> list[Reading]:
    courses, found = _courses(runs), []
    sent = {key: averaged(own, "uplink_reals") for key, own in runs.items()}
    for level in _levels(courses):
        values = {}
        for key, curve in courses.items():
            after = reached(curve.x, curve.mean, level)
            values[key] = float(np.interp(after, sent[key].x, sent[key].mean))
        found.append(Reading(f"reals sent until F = {_five(level)}", values))
    return found


def _levels(courses: Mapping[str, Curve]) -> list[float]:
    """Return the levels of F at which speed is looked at."""
    slowest = max(courses.values(), key=lambda curve: float(curve.mean[-1]))
    last, least = slowest.x[-1], float(slowest.mean[-1])
    found = [float(np.interp(share * last, slowest.x, slowest.mean)) for share in SHARES]
    return sorted({max(level, least) for level in found}, reverse=True)


def reached(x: Array, y: Array, level: float) -> float:
    """Return where y first comes down to a level, straight between its points."""
    place = int(np.argmax(y <= level))
    if place == 0:
        return float(x[0])
    share = (y[place - 1] - level) / (y[place - 1] - y[place])
    return float(x[place - 1] + share * (x[place] - x[place - 1]))


def _accuracy(runs: Runs) -> list[Reading]:
    values = {
        key: float(np.mean([result.scores["accuracy"] for result in own]))
        for key, own in runs.items()
    }
    return [Reading("accuracy at the end", values)]


def _at_cost(runs: Runs) -> list[Reading]:
    courses = {key: averaged(own, "accuracy", "uplink_reals") for key, own in runs.items()}
    whole = min(float(curve.x[-1]) for curve in courses.values())
    return [
        Reading(
            f"accuracy after {count(share * whole)} reals",
            {key: float(np.interp(share * whole, c.x, c.mean)) for key, c in courses.items()},
        )
        for share in SHARES
    ]


def _five(value: float) -> str:
    """Return a number with five digits."""
    return f"{value:#,.5g}".rstrip(".")


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


MEASURES = {
    "end": Measure(_end, _five, relative=True),
    "rounds": Measure(_rounds, "{:,.0f}".format, ratio=True),
    "reals": Measure(_reals, count, ratio=True),
    "accuracy": Measure(_accuracy, _percent, high=True),
    "accuracy at the same cost": Measure(_at_cost, _percent, high=True),
}
