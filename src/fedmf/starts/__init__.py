"""Starts: where W and H are before round 1, found across the sites without a raw sample.

    W0 = begin_at(find("kmeans"), goal, federation, data_type, seed)

A start is a file here with a class derived from `Start`; nothing else lists it.
"""

from __future__ import annotations

from fedmf.plugins import Named, classes_in
from fedmf.starts.base import Start, begin_at
from fedmf.starts.kmeans import KMeans
from fedmf.starts.random import Random

__all__ = ["KMeans", "Random", "Start", "begin_at", "find", "starts"]


def starts() -> Named[type[Start]]:
    """Return the classes of all starts by name."""
    return classes_in(__name__, Start, "init")


def find(name: str) -> Start:
    """Return a start by its name, with its default settings."""
    return starts()[name]()
