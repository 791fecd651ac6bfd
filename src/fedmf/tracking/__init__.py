"""Runs in the tools that people use: each round's figures go to MLflow or to TensorBoard.

    with fedmf.tracking.find("tensorboard:logs").begin("first try") as tracker:
        run = fedmf.fit(sites, problem, algorithm, callback=tracker)

What goes there is what the history has: no W, no H, nothing of the data. A tracker is a file here
with a class derived from `Tracker`; nothing else lists it.
"""

from __future__ import annotations

from fedmf.errors import ParameterError
from fedmf.plugins import Named, classes_in
from fedmf.tracking.base import Following, Tracker

__all__ = ["Following", "Tracker", "find", "trackers"]


def trackers() -> Named[type[Tracker]]:
    """Return the classes of all trackers by name."""
    return classes_in(__name__, Tracker, "track")


def find(text: str) -> Tracker:
    """Return the tracker that "mlflow:WHERE" or "tensorboard:FOLDER" means, not begun yet."""
    name, _, where = text.partition(":")
    kind = trackers()[name]
    if not where:
        raise ParameterError(f"track needs a place behind the colon, {name}:FOLDER; got {text!r}")
    return kind(where)
