"""Claims held against results: what was seen, and no more than that.

A claim is looked at in the mean over the starting points that all of its series have, at every
level that its measure has, and again in each starting point alone:

    holds           at every level, and in more than half of the starting points alone
    holds in part   at some levels, or in fewer of the starting points
    does not hold   at no level
    cannot be tested on the stand-in data
                    it is about data that the paper has and we have not
    cannot be tested yet
                    results are missing

What was seen on other data than the paper's says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from fedmf.paper.claim import Claim
from fedmf.paper.exhibit import Exhibit
from fedmf.paper.measures import MEASURES, Measure, Reading, Runs
from fedmf.trials import Result, Store

HOLDS, PARTLY, FAILS = "holds", "holds in part", "does not hold"
STAND_IN, MISSING = "cannot be tested on the stand-in data", "cannot be tested yet"
TONES = {HOLDS: "good", FAILS: "bad"}

Results: TypeAlias = dict[str, dict[int, Result]]  # of each series, by seed


class Check(NamedTuple):
    """A claim at one level."""

    seen: str  # the figures that decide it
    true: bool


class Verdict(NamedTuple):
    """What results say about a claim."""

    claim: Claim
    found: str  # HOLDS, ... or MISSING
    words: str  # the same, with what it was seen on
    seen: tuple[str, ...]
    points: int = 0  # starting points
    alone: int = 0  # of them, those that say the same by themselves

    @property
    def tone(self) -> str:
        """How it is shown."""
        return TONES.get(self.found, "open")


def gather(exhibit: Exhibit, store: Store) -> Results:
    """Return the results of an exhibit that are there."""
    return {
        key: {
            trial.seed: result for trial in one.trials if (result := store.get(trial)) is not None
        }
        for key, one in exhibit.series.items()
    }


def judge(exhibit: Exhibit, results: Results) -> list[Verdict]:
    """Return the verdicts on an exhibit's claims."""
    return [verdict(claim, exhibit, results) for claim in exhibit.claims]


def verdict(claim: Claim, exhibit: Exhibit, results: Results) -> Verdict:
    """Return the verdict on a claim."""
    seeds = common([results[key] for key in claim.series])
    if not seeds:
        empty = [key for key in claim.series if not results[key]]
        why = f"no results yet of {'; '.join(empty)}" if empty else "no starting point in common"
        return Verdict(claim, MISSING, MISSING, (why,))
    names = _names(claim, exhibit)
    checks = look(claim, _chosen(claim, results, seeds), names)
    whole = [all(one.true for one in _alone(claim, results, seed, names)) for seed in seeds]
    found, alone = _found(checks, whole)
    seen = tuple(check.seen for check in checks)
    return _said(claim, exhibit, found, seen, len(seeds), alone)


def _found(checks: Sequence[Check], whole: Sequence[bool]) -> tuple[str, int]:
    """Return what levels and starting points say together, and how many of these say the same."""
    true = sum(check.true for check in checks)
    if true == 0:
        return FAILS, whole.count(False)
    if true == len(checks) and 2 * sum(whole) > len(whole):
        return HOLDS, sum(whole)
    return PARTLY, sum(whole)


def _said(
    claim: Claim, exhibit: Exhibit, found: str, seen: tuple[str, ...], points: int, alone: int
) -> Verdict:
    """Return a verdict that says what it was seen on."""
    places = {exhibit.series[key].place for key in claim.series}
    other = any(place.stands_for for place in places)
    if other and claim.own_data:
        there = f"on the stand-in data it {found} ({alone} of {points} starting points alone)"
        return Verdict(claim, STAND_IN, STAND_IN, (*seen, there), points, alone)
    words = found + (" on the stand-in data" if other else "")
    return Verdict(claim, found, words + (", quick runs" if exhibit.quick else ""), seen,
                   points, alone)  # fmt: skip


def common(found: Sequence[Mapping[int, Result]]) -> list[int]:
    """Return the starting points that all have."""
    return sorted(set.intersection(*(set(own) for own in found)))


def _chosen(claim: Claim, results: Results, seeds: Sequence[int]) -> Runs:
    return {key: [results[key][seed] for seed in seeds] for key in claim.series}


def _alone(claim: Claim, results: Results, seed: int, names: Mapping[str, str]) -> list[Check]:
    """Return how a claim stands in one starting point; "best" is the best of that one."""
    return look(claim, _chosen(claim, results, [seed]), names)


def look(claim: Claim, runs: Runs, names: Mapping[str, str]) -> list[Check]:
    """Return how a claim stands in these runs, at each level."""
    measure = MEASURES[claim.measure]
    if claim.kind == "more":
        return _gains(claim, runs, measure, names)
    return [_check(claim, reading, measure, names) for reading in measure.read(runs)]


def _check(claim: Claim, reading: Reading, measure: Measure, names: Mapping[str, str]) -> Check:
    keys, values = list(claim.groups[0]), reading.values
    told = claim.series
    if claim.kind == "best":
        pick = max if measure.high else min
        keys = [pick(group, key=values.__getitem__) for group in claim.groups]
        told = tuple(keys)
    if claim.kind == "same":
        numbers = [values[key] for key in keys]
        apart = (max(numbers) - min(numbers)) / (max(numbers) if measure.relative else 1.0)
        true = apart <= claim.within
    else:
        better = [
            _better(values[one], values[other], claim, measure) for one, other in pairwise(keys)
        ]
        true = all(better) != (claim.kind == "not_order")
    figures = " · ".join(f"{names[key]}: {measure.show(values[key])}" for key in told)
    return Check(f"{reading.said}: {figures}", true)


def _better(one: float, other: float, claim: Claim, measure: Measure) -> bool:
    """Whether one value is better than another by as much as the claim says."""
    low, high = (other, one) if measure.high else (one, other)
    margin = claim.by * (high if measure.relative else 1.0)
    return low * claim.times < high and high - low > margin


def _gains(claim: Claim, runs: Runs, measure: Measure, names: Mapping[str, str]) -> list[Check]:
    """Return whether one step gains more than another; each has levels of its own."""
    steps = [measure.read({key: runs[key] for key in group}) for group in claim.groups]
    checks = []
    for readings in zip(*steps, strict=False):
        gains, said = [], []
        for (a, b), reading in zip(claim.groups, readings, strict=True):
            first, second = reading.values[a], reading.values[b]
            gains.append(_gain(first, second, measure))
            said.append(
                f"{reading.said}: {names[a]}: {measure.show(first)} · {names[b]}: "
                f"{measure.show(second)} ({_gained(gains[-1], measure)})"
            )
        checks.append(Check("; ".join(said), gains[0] > gains[1]))
    return checks


def _gain(first: float, second: float, measure: Measure) -> float:
    """Return by how much the second is better than the first."""
    if measure.ratio:
        return first / second if second else math.inf
    return second - first if measure.high else first - second


def _gained(gain: float, measure: Measure) -> str:
    """Return a gain in words."""
    if measure.ratio:
        return f"a factor of {gain:.2g}"
    return f"higher by {100 * gain:.1f} points" if measure.high else f"lower by {gain:.2g}"


def _names(claim: Claim, exhibit: Exhibit) -> dict[str, str]:
    """Return what series are called: with their panel where several are compared."""
    panels = {key.partition(": ")[0] for key in claim.series}
    if exhibit.kind == "map":
        return {key: exhibit.panel(key).title for key in claim.series}
    labels = {key: exhibit.series[key].label for key in claim.series}
    if exhibit.kind == "table" or len(panels) == 1:
        return labels
    return {key: f"({key.partition(': ')[0]}) {label}" for key, label in labels.items()}
