"""What is asked of a site about its classes: their names, then sums for each class."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import chdtrc

from fedmf.arrays import Array, IntArray
from fedmf.errors import DataError, SiteMismatchError
from fedmf.faults import refuse
from fedmf.messages import Exchange, Nothing, Task, ask
from fedmf.preparation._border import Labels
from fedmf.preparation._shape import Known
from fedmf.preparation._sums import weighted
from fedmf.preparation._words import Bytes, pack, unpack
from fedmf.sites import Cohort


class Classes(NamedTuple):
    """The names of classes."""

    text: Bytes


class PerClass(NamedTuple):
    """The number of samples of each class, and the sums of their features."""

    samples: Array  # (C,)
    sums: Array  # (C, M)


class Chi2(NamedTuple):
    """The scores of the features, NaN for one that is zero everywhere, and their p-values."""

    scores: Array  # (M,)
    pvalues: Array  # (M,)
    classes: list[Any]  # their names, sorted


def class_tasks() -> dict[str, Task]:
    """Return what a site is asked about its classes."""
    return {"classes": Task(_classes, each=True), "per class": Task(_per_class)}


def chi2_of(known: Known) -> Exchange[Chi2]:
    """Return the chi-squared scores of the features over all sites."""
    answer = yield ask("classes", Nothing(), known.everyone)
    classes = _all_classes([unpack(own.text) for own in answer.each])
    answer = yield ask("per class", Classes(pack(classes)), known.everyone)
    samples, observed = answer.total
    with np.errstate(divide="ignore", invalid="ignore"):  # 0 / 0 of a feature without an entry
        expected = np.outer(samples / known.samples, observed.sum(axis=0))
        scores = ((observed - expected) ** 2 / expected).sum(axis=0)
    return Chi2(scores, chdtrc(len(classes) - 1, scores), classes)


def _all_classes(each: list[list[Any]]) -> list[Any]:
    """Return the names of all sites' classes, sorted."""
    kinds = [{isinstance(name, str) for name in names} for names in each]
    for site, kind in enumerate(kinds):
        if kind != kinds[0] or len(kind) > 1:
            raise SiteMismatchError(
                f"site {site}: labels must be all text or all numbers, at every site alike; "
                f"got {each[site][0]!r}, site 0 has {each[0][0]!r}"
            )
    classes = sorted(set().union(*each))
    if len(classes) < 2:
        raise DataError(f"chi2 needs at least two classes; all sites have only {classes[0]!r}")
    return classes


def _classes(
    goal: None, private: Labels | None, payload: Nothing, data: Cohort, weight: Array
) -> tuple[Any, Classes]:
    if not isinstance(private, Labels):
        raise DataError(f"site {data.sites[0]} has no labels: chi2 needs them")
    refuse(data, _negative, "chi2 needs entries of at least zero")
    found = sorted(set(private.labels.tolist()), key=_order)
    for name in found:  # they travel: a measurement is no class, and stays at its site
        if isinstance(name, float) and not name.is_integer():
            raise DataError(f"site {data.sites[0]}: label {name} is no class, but a measurement")
    return private, Classes(pack(found))


def _order(label: Any) -> tuple[bool, Any]:
    return isinstance(label, str), label


def _per_class(
    goal: None, private: Labels, payload: Classes, data: Cohort, weight: Array
) -> tuple[Any, PerClass]:
    number = {name: place for place, name in enumerate(unpack(payload.text))}
    codes: IntArray = np.array([number[label] for label in private.labels.tolist()])
    samples = np.bincount(codes, data.spread(weight), len(number)).astype(np.float64)
    sums, first = np.zeros((len(number), data.shape[1])), 0
    for block, counts in weighted(data, weight):
        last = first + block.shape[0]
        places = (codes[first:last], np.arange(last - first))
        own = sparse.csr_array((counts, places), shape=(len(number), last - first)) @ block
        sums += own if isinstance(own, np.ndarray) else own.toarray()
        first = last
    return private, PerClass(samples, sums)


def _negative(values: Array) -> NDArray[np.bool_]:
    return values < 0
