"""Equal random split (the paper's Case 1): sizes differ by at most one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fedmf.partitions._request import Request
    from fedmf.partitions._rows import Indices


def deal(request: Request) -> Indices:
    """Shuffle the samples and deal them out one by one in turn."""
    turn = np.arange(request.n_samples) % request.n_sites
    return request.random("iid").permutation(turn)
