"""The algorithms, one file each.

An algorithm is read from its file: the docstring has the paper's box, `round` the server's side,
the tasks a site's side.
"""

from __future__ import annotations

from fedmf.algorithms.base import Algorithm
from fedmf.algorithms.fedmavg import FedMAvg
from fedmf.algorithms.fedmgs import FedMGS
from fedmf.algorithms.fedpalm import FedPALM
from fedmf.algorithms.schedules import Diminishing

__all__ = ["Algorithm", "Diminishing", "FedMAvg", "FedMGS", "FedPALM"]
