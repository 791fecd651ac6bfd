"""Where W and H may lie: one file a set, each with its projection.

A new set is one new file with a `Constraint`; `Problem` has a short name for these three.
"""

from __future__ import annotations

from fedmf.constraints.base import Constraint
from fedmf.constraints.box import Box
from fedmf.constraints.free import Free
from fedmf.constraints.nonnegative import Nonnegative

__all__ = ["Box", "Constraint", "Free", "Nonnegative"]
