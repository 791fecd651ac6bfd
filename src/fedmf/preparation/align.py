"""Alignment: the same features in the same order at every site, by their names.

The intersection keeps the order of site 0, the union that of first appearance. With the union, a
feature that a site does not have is zero there.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from fedmf.arrays import Array, Rows
from fedmf.checks import unknown
from fedmf.errors import DataError, SiteMismatchError
from fedmf.messages import Exchange, Nothing, Task, ask
from fedmf.preparation._base import Learned, Preparation
from fedmf.preparation._border import Names
from fedmf.preparation._shape import Known
from fedmf.preparation._words import Bytes, pack, unpack
from fedmf.sites import Cohort

HOWS = ("intersection", "union")


class Listed(NamedTuple):
    """The names of features."""

    text: Bytes


class FederatedAlign(Preparation):
    """Give all sites the same features, by name.

    What leaves a site: the names of its features; every site receives the names of the result.

    Parameters
    ----------
    how : "intersection" (the features that all sites have, in the order of site 0) or "union"
        (those that any site has, in the order of first appearance; zeros where a site lacks one).
    """

    name: ClassVar[str] = "align"
    sends: ClassVar[str] = "the names of its features"
    same_features: ClassVar[bool] = False

    def __init__(self, how: str = "intersection") -> None:
        self.how = how

    def check(self) -> None:
        """Refuse an unknown way."""
        if self.how not in HOWS:
            raise unknown("how", self.how, HOWS)

    def site_tasks(self) -> dict[str, Task]:
        """Return what a site is asked: its features' names."""
        return {"names": Task(_names, each=True)}

    def learn(self, known: Known) -> Exchange[Learned]:
        """Collect the names of all sites."""
        answer = yield ask("names", Nothing(), known.everyone)
        each = [unpack(own.text) for own in answer.each]
        found = _shared(each) if self.how == "intersection" else list(dict.fromkeys(chain(*each)))
        return Learned(Listed(pack(found)), {"features_": found})

    def apply(self, state: Listed, data: Cohort) -> Rows:
        """Return a site's columns in the common order, zeros for those that it lacks."""
        wanted, own = unpack(state.text), _checked_names(data)
        place = {name: column for column, name in enumerate(own)}
        missing = [name for name in wanted if name not in place]
        if missing and self.how == "intersection":
            raise SiteMismatchError(
                f"site {data.sites[0]} has no feature {missing[0]!r}, which all fitted sites have"
            )
        there = np.flatnonzero([name in place for name in wanted])
        columns = np.array([place[wanted[k]] for k in there], dtype=np.int64)
        shape = (data.rows.shape[1], len(wanted))
        if isinstance(data.rows, np.ndarray):
            rows = np.zeros((len(data.rows), len(wanted)), dtype=data.dtype)
            rows[:, there] = data.rows[:, columns]
            return rows
        ones = np.ones(len(there), dtype=data.dtype)
        aligned = data.rows @ sparse.csr_array((ones, (columns, there)), shape=shape)
        aligned.sort_indices()
        return aligned

    def names_out(self, state: Listed, names: Names) -> Names:
        """Return the common names."""
        return tuple(unpack(state.text))


def _shared(each: list[list[str]]) -> list[str]:
    """Return the names that all sites have, in the order of the first."""
    shared = each[0]
    for site, names in enumerate(each):
        own = set(names)
        before, shared = shared, [name for name in shared if name in own]
        if not shared:
            _report_nothing_shared(each, site, before)
    return shared


def _report_nothing_shared(each: list[list[str]], site: int, before: list[str]) -> None:
    """Name two sites that share nothing, or else the site that has none of what others share."""
    own = set(each[site])
    for other in range(site):
        if own.isdisjoint(each[other]):
            raise SiteMismatchError(
                f"sites {other} and {site} have no feature in common "
                f"({each[other][0]!r}, ... and {each[site][0]!r}, ...): "
                'leave one out, or use how="union"'
            )
    raise SiteMismatchError(
        f"site {site} has none of the {len(before)} features that sites 0 to {site - 1} share "
        f'({before[0]!r}, ...): leave one out, or use how="union"'
    )


def _checked_names(data: Cohort) -> tuple[str, ...]:
    """Return a site's names, each of them once."""
    if data.features is None:
        raise DataError(
            f"site {data.sites[0]}: its features have no names: pass a data frame, or features="
        )
    for name, times in Counter(data.features).items():
        if times > 1:
            raise DataError(f"site {data.sites[0]}: {times} features are named {name!r}")
    return data.features


def _names(
    goal: None, private: Any, payload: Nothing, data: Cohort, weight: Array
) -> tuple[Any, Listed]:
    return private, Listed(pack(_checked_names(data)))
