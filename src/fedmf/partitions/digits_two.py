"""Two classes a site, unbalanced (the paper's Case 2 for MNIST).

1. There are 2 P shards. Each class has one, the others go to the classes in proportion to their
   sizes (highest quotient n / (shards + 1/2) first). A class never has more shards than samples or
   sites; where that leaves fewer than 2 P shards, the rest are blanks, of which a site gets one at
   most.
2. A class is cut into its shards at random, with sizes in proportion to rank ** -exponent, at least
   one sample each.
3. The shards are shuffled and dealt out two a site; a site with two of one class swaps one with a
   random site that has none of it, which always exists.

So every site has samples of exactly two classes (of one, where it got a blank), and both the share
of the two and the size of the site vary widely.
"""

from __future__ import annotations

from heapq import heapify, heapreplace
from typing import TYPE_CHECKING

import numpy as np

from fedmf.errors import ParameterError
from fedmf.partitions._request import check_real
from fedmf.partitions._sizes import power_law_sizes

if TYPE_CHECKING:
    from fedmf.partitions._request import Request
    from fedmf.partitions._rows import Indices


def deal(request: Request, *, exponent: float = 1.5) -> Indices:
    """Cut the classes into shards of power-law sizes and give every site two."""
    exponent = check_real("exponent", exponent, 0, 10)
    classes = request.classes("digits-two")
    random = request.random("digits-two")
    sizes = np.bincount(classes)
    counts = _shard_counts(sizes, request.n_sites)
    hands = _pairs(np.append(counts, 2 * request.n_sites - counts.sum()), random)
    site = np.empty(request.n_samples, dtype=np.int64)
    for label, (size, count) in enumerate(zip(sizes, counts, strict=True)):
        holders = random.permutation(np.flatnonzero((hands == label).any(axis=1)))
        cut = power_law_sizes(int(size), int(count), exponent)
        site[classes == label] = random.permutation(np.repeat(holders, cut))
    return site


def _shard_counts(sizes: Indices, n_sites: int) -> Indices:
    """Return how many shards each class is cut into."""
    if len(sizes) > 2 * n_sites:
        raise ParameterError(
            f"n_sites must be at least half the number of classes ({len(sizes)}) for two classes "
            f"a site, got {n_sites}"
        )
    most = np.minimum(sizes, n_sites)
    counts = np.ones_like(sizes)
    queue = [(-size / 1.5, label) for label, size in enumerate(sizes) if most[label] > 1]
    heapify(queue)
    spare = min(2 * n_sites, int(most.sum())) - len(sizes)
    for _ in range(spare):
        label = queue[0][1]
        counts[label] += 1
        full = counts[label] == most[label]
        heapreplace(queue, (1.0 if full else -sizes[label] / (counts[label] + 0.5), label))
    return counts


def _pairs(counts: Indices, random: np.random.Generator) -> Indices:
    """Return the two different classes of each site (P, 2); no count is above P."""
    hands = random.permutation(np.repeat(np.arange(len(counts)), counts)).reshape(-1, 2)
    for site in np.flatnonzero(hands[:, 0] == hands[:, 1]):
        if hands[site, 0] == hands[site, 1]:
            other = random.choice(np.flatnonzero((hands != hands[site, 0]).all(axis=1)))
            hands[site, 1], hands[other, 0] = hands[other, 0], hands[site, 1]
    return hands
