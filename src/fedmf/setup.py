"""The set-up exchange: what has to be known of all data before round 1.

Every site sends six numbers (N_p, the number of features, ||X_p||^2, the smallest and the largest
entry, the sum of |X_p|) and a digest of its features' names. Only where digests differ are names
asked for, to say what differs.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from fedmf.arrays import Array, Rows, Scalar
from fedmf.blocks import entries, squared_norm
from fedmf.declared import Digest, Text
from fedmf.errors import DataError, SiteMismatchError
from fedmf.faults import refuse_non_finite
from fedmf.messages import Exchange, Nothing, Task, ask
from fedmf.parallel import each
from fedmf.problem import Known
from fedmf.sites import Cohort


class Figures(NamedTuple):
    """A site's figures."""

    samples: Scalar
    features: Scalar
    squared_norm: Scalar
    minimum: Scalar
    maximum: Scalar
    absolute_sum: Scalar
    digest: Digest  # of the features' names, zeros where it has none


class Names(NamedTuple):
    """A site's feature names, as one text: a JSON list, or nothing where it has none."""

    text: Text


class Setup:
    """The method of the set-up exchange."""

    def tasks(self) -> dict[str, Task]:
        """Return a site's tasks."""
        return {
            "figures": Task(_figures, each=True, sends=Figures),
            "names": Task(_names, each=True, sends=Names),
        }

    def run(self, sites: int) -> Exchange[tuple[Known, Array]]:
        """Return the figures of all data together, and each site's six, (P, 6)."""
        answer = yield ask("figures", Nothing(), np.arange(sites))
        _same_features(answer.each)
        digests = {each.digest.tobytes() for each in answer.each}
        if len(digests) > 1:
            names = yield ask("names", Nothing(), np.arange(sites))
            _report_names([bytes(each.text).decode() for each in names.each])
        return _together(answer.each)


def _together(all_figures: list[Figures]) -> tuple[Known, Array]:
    table = np.array([figures[:6] for figures in all_figures], dtype=np.float64)
    samples, features, norm, low, high, absolute = table.T
    total = int(samples.sum())
    known = Known(
        samples=total,
        features=int(features[0]),
        squared_norm=float(norm.sum()),
        minimum=float(low.min()),
        maximum=float(high.max()),
        mean_absolute=float(absolute.sum() / (total * features[0])),
    )
    if not np.isfinite(known.squared_norm):
        raise DataError("the data are too large: ||X||^2 is not a finite number; rescale them")
    return known, table


def _same_features(all_figures: list[Figures]) -> None:
    """Refuse sites with different numbers of features."""
    first = int(all_figures[0].features)
    for site, figures in enumerate(all_figures):
        if int(figures.features) != first:
            raise SiteMismatchError(
                f"site {site} has {int(figures.features)} features, site 0 has {first}: "
                "all sites need the same features in the same order"
            )


def _report_names(texts: list[str]) -> None:
    """Say where the names of two sites differ first; a site without names is left out."""
    named = [site for site, text in enumerate(texts) if text]
    first = json.loads(texts[named[0]])
    for site in named[1:]:
        for place, (name, other) in enumerate(zip(json.loads(texts[site]), first, strict=True)):
            if name != other:
                raise SiteMismatchError(
                    f"feature {place} is {name!r} at site {site} and {other!r} at site {named[0]}: "
                    "all sites need the same features in the same order"
                )


def _figures(
    goal: None, private: Any, payload: Nothing, data: Cohort, weight: Array
) -> tuple[Any, Figures]:
    """Compute a site's figures in one pass over its data, without a temporary of its size."""
    lows, highs, *sums = zip(*each(_block_figures, data.blocks), strict=True)
    lowest, highest = np.min(lows), np.max(highs)  # both NaN where a block's is
    absolute, total = map(sum, sums)
    if not np.isfinite((lowest, highest)).all():
        refuse_non_finite(data)
    if not np.isfinite((absolute, total)).all():
        raise DataError(
            f"site {data.sites[0]}: entries up to {max(-lowest, highest):.1e} are too large, their "
            "squares do not add up to a finite number; rescale the data of all sites"
        )
    names = _text(data.features)
    digest = np.frombuffer(sha256(names.encode()).digest() if names else bytes(32), dtype=np.uint8)
    n, M = data.shape
    numbers = [np.float64(value) for value in (n, M, total, lowest, highest, absolute)]
    return private, Figures._make([*numbers, digest])


def _block_figures(block: Rows) -> tuple[float, float, float, float]:
    """Return the least and the largest entry of a block, the sum of |x| and that of x^2."""
    values = entries(block)
    zero = 0.0 if values.size < block.shape[0] * block.shape[1] else None
    low = values.min() if zero is None else values.min(initial=zero)
    high = values.max() if zero is None else values.max(initial=zero)
    absolute = np.abs(values).sum(dtype=np.float64)
    return float(low), float(high), float(absolute), squared_norm(block)


def _names(
    goal: None, private: Any, payload: Nothing, data: Cohort, weight: Array
) -> tuple[Any, Names]:
    """Return a site's feature names."""
    text = _text(data.features)
    return private, Names(np.frombuffer(text.encode(), dtype=np.uint8))


def _text(features: tuple[str, ...] | None) -> str:
    """Return names as one text; they may hold any character."""
    return json.dumps(features) if features else ""
