"""Label skew: the share of each class that a site gets is drawn from a Dirichlet distribution."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fedmf.partitions._request import check_real
from fedmf.partitions._sizes import fill_empty, largest_remainder

if TYPE_CHECKING:
    from fedmf.partitions._request import Request
    from fedmf.partitions._rows import Indices


def deal(request: Request, *, alpha: float = 0.5) -> Indices:
    """Spread each class over the sites by proportions drawn from Dir(alpha, ..., alpha).

    A small alpha puts a class on few sites, a large one gives every site the pooled mix. Shares are
    rounded by largest remainder. A site left without samples then takes one, drawn at random from
    the sites that hold at least two.
    """
    alpha = check_real("alpha", alpha, 1e-3, 1e6)
    classes = request.classes("dirichlet")
    random = request.random("dirichlet")
    site = np.empty(request.n_samples, dtype=np.int64)
    for label in range(int(classes.max()) + 1):
        members = np.flatnonzero(classes == label)
        shares = random.dirichlet(np.full(request.n_sites, alpha)) * members.size
        sizes = largest_remainder(shares, members.size)
        site[members] = random.permutation(np.repeat(np.arange(request.n_sites), sizes))
    fill_empty(site, request.n_sites, random.permutation(request.n_samples))
    return site
