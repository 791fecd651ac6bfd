"""Where the labels of a map stand: at a sample of their group, and none on another."""

from __future__ import annotations

from typing import Any

import numpy as np

LABEL = (0.027, 0.055)  # a letter's width and a line's height, as shares of a map
MOVES = 4  # lines by which a label is moved at most


def apart(places: dict[str, Any], size: Any) -> dict[str, tuple[float, float]]:
    """Return places of labels, moved up or down where one would hide another.

    size : width and height of what they stand on, in the places' units.
    """
    width, height = size * LABEL
    found: dict[str, tuple[float, float]] = {}
    for name, (x, y) in places.items():
        taken = [
            other
            for label, (across, other) in found.items()
            if abs(across - x) < width * (len(label) + len(name)) / 2
        ]
        steps = sorted(range(-MOVES, MOVES + 1), key=abs)
        free = (y + step * height for step in steps)
        found[name] = (
            x,
            next((at for at in free if all(abs(at - other) >= height for other in taken)), y),
        )
    return found


def middle(points: Any) -> Any:
    """Return the point that is nearest to the median: a place where the group is."""
    median = np.median(points, axis=0)
    return points[np.argmin(((points - median) ** 2).sum(axis=1))]
