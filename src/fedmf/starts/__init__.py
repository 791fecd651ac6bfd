"""Starts: where W and H are before round 1, found across the sites without a raw sample.

    W0 = begin_at(find("linkage"), goal, federation, data_type, seed)

A start is a file here with a class derived from `Start`; nothing else lists it.
"""

from __future__ import annotations

from dataclasses import fields

from fedmf.errors import ParameterError
from fedmf.plugins import Named, classes_in, with_options
from fedmf.starts.base import Start, begin_at
from fedmf.starts.kmeans import KMeans
from fedmf.starts.linkage import Linkage
from fedmf.starts.random import Random

__all__ = ["KMeans", "Linkage", "Random", "Start", "begin_at", "find", "starts"]


def starts() -> Named[type[Start]]:
    """Return the classes of all starts by name."""
    return classes_in(__name__, Start, "init")


def find(name: str) -> Start:
    """Return a start by its name, with settings behind a colon: "kmeans:n_min=5"."""
    plain, settings = with_options(name, starts())
    kind = starts()[plain]
    allowed = [one.name for one in fields(kind)]
    for setting in settings:
        if setting not in allowed:
            raise ParameterError(
                f"init {plain!r} has no setting {setting!r}; it has {', '.join(allowed) or 'none'}"
            )
    return kind(**settings)
