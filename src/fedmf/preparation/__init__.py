"""Preparation of the data across sites, each equal to scikit-learn's on the pooled data.

    scaler = FederatedStandardScaler().fit([X1, X2, X3])
    prepared = scaler.transform([X1, X2, X3])
    scaler.ledger_.frame()                                # what every site sent for it

A preparation is one file of this folder: what a site is asked, the exchange that asks it, and a
scikit-learn transformer over both. `names` finds it by listing the folder. Files that begin with an
underscore are shared parts.
"""

from __future__ import annotations

from typing import Any

from fedmf.plugins import Named, classes_in
from fedmf.preparation._base import Learned, Preparation
from fedmf.preparation._border import Labels
from fedmf.preparation.align import FederatedAlign
from fedmf.preparation.log1p import FederatedLog1p
from fedmf.preparation.max_abs import FederatedMaxAbsScaler
from fedmf.preparation.min_max import FederatedMinMaxScaler
from fedmf.preparation.select import FederatedSelect
from fedmf.preparation.standard import FederatedStandardScaler
from fedmf.preparation.tfidf import FederatedTfidf

__all__ = [
    "FederatedAlign",
    "FederatedLog1p",
    "FederatedMaxAbsScaler",
    "FederatedMinMaxScaler",
    "FederatedSelect",
    "FederatedStandardScaler",
    "FederatedTfidf",
    "Labels",
    "Learned",
    "Preparation",
    "make",
    "names",
    "options",
    "sends",
]


def names() -> tuple[str, ...]:
    """Return the preparations that there are, sorted."""
    return tuple(_kinds())


def make(name: str, **options: Any) -> Preparation:
    """Return the preparation of that name, not fitted yet."""
    kind = _kinds()[name]
    known = Named(kind().get_params(), f"an option of preparation {name!r}")
    for option in options:
        known[option]
    return kind(**options)


def options(name: str) -> dict[str, Any]:
    """Return the options of one preparation with their defaults."""
    return dict(_kinds()[name]().get_params())


def sends() -> dict[str, str]:
    """Return, for each preparation, what leaves a site."""
    return {name: kind.sends for name, kind in _kinds().items()}


def _kinds() -> Named[type[Preparation]]:
    return classes_in(__name__, Preparation, "preparation")
