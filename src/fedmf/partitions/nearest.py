"""Similarity as in the published code: every sample goes to the nearest of P random samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedmf.partitions._distances import nearest_point
from fedmf.partitions._rows import take

if TYPE_CHECKING:
    from fedmf.partitions._request import Request
    from fedmf.partitions._rows import Indices


def deal(request: Request) -> Indices:
    """Draw P samples as points, one for each site, and send each sample to the nearest.

    A point stays on its own site even where another is the same, so no site is empty.
    """
    random = request.random("nearest")
    points = random.choice(request.n_samples, request.n_sites, replace=False)
    site, _ = nearest_point(request.X, take(request.X, points))
    site[points] = np.arange(request.n_sites)
    return site
