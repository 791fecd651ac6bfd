"""Sizes by a power law, contents at random: unbalanced sites whose samples are alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedmf.partitions._request import check_real
from fedmf.partitions._sizes import power_law_sizes

if TYPE_CHECKING:
    from fedmf.partitions._request import Request
    from fedmf.partitions._rows import Indices


def deal(request: Request, *, exponent: float = 1.0) -> Indices:
    """Give site p a share in proportion to (p + 1) ** -exponent, at least one sample.

    Site 0 is the largest; which samples it holds is random.
    """
    exponent = check_real("exponent", exponent, 0, 10)
    sizes = power_law_sizes(request.n_samples, request.n_sites, exponent)
    return request.random("power-law").permutation(np.repeat(np.arange(request.n_sites), sizes))
