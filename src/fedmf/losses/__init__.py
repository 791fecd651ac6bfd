"""Losses, one file each; `find` returns one by its name.

A new loss is one new file here: a module with one class derived from `Loss`.
"""

from __future__ import annotations

from typing import cast

from fedmf.losses.base import Loss
from fedmf.losses.squared import Squared
from fedmf.plugins import classes_in

__all__ = ["Loss", "Squared", "find"]


def find(name: str) -> Loss:
    """Return the loss of that name."""
    return cast(Loss, classes_in(__name__, Loss, "loss")[name]())
