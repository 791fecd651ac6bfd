"""Results of several seeds as means: what a table of methods is made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from fedmf.clustering.metrics import stability
from fedmf.tables import Mean
from fedmf.trials.result import Result
from fedmf.trials.trial import digest

SENT = ("uplink_reals", "uplink_bytes", "downlink_bytes")
COUNTED = ("rounds", "seconds", *SENT, "raw_samples")


def by_seed(results: Iterable[Result]) -> list[list[Result]]:
    """Return results in groups that differ by nothing but the seed, in the order of the first."""
    groups: dict[str, list[Result]] = {}
    for result in results:
        rest = {name: value for name, value in result.trial.items() if name != "seed"}
        groups.setdefault(digest(rest), []).append(result)
    return [sorted(group, key=lambda one: int(one.trial["seed"])) for group in groups.values()]


def means(results: Sequence[Result]) -> dict[str, Mean]:
    """Return the means of all figures of a group: its scores that are numbers, and what it cost.

    Where the labels were kept, `stability` is among them: the mean ARI of two seeds' clusters.
    """
    if not results:
        return {}
    scores = results[0].scores
    named = [name for name in scores if all(_is_number(r.scores.get(name)) for r in results)]
    found = {name: Mean.of(r.scores[name] for r in results) for name in named}
    found |= {name: Mean.of(getattr(r, name) for r in results) for name in COUNTED}
    kept = [labels for r in results if (labels := r.labels) is not None]
    if len(kept) == len(results) > 1:
        found["stability"] = Mean.of([stability(kept)])
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
