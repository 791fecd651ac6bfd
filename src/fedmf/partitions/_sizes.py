"""Sizes of sites, and how a site that was left without samples gets one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fedmf.partitions._rows import Indices


def largest_remainder(shares: NDArray[np.float64], total: int) -> Indices:
    """Return whole numbers that add up to `total`, each of `shares` rounded down or up."""
    whole = np.floor(shares).astype(np.int64)
    first = np.argsort(whole - shares, kind="stable")
    whole[first[: total - int(whole.sum())]] += 1
    return whole


def power_law_sizes(total: int, parts: int, exponent: float) -> Indices:
    """Return `parts` sizes, descending, in proportion to rank ** -exponent but at least 1.

    They add up to `total`. The smallest parts are held at 1 where their share would be less; the
    others share what is left by their weights.
    """
    rank = np.arange(1, parts + 1)
    weight = rank.astype(np.float64) ** -exponent
    share_of_last = (total - parts + rank) * weight / np.cumsum(weight)
    shared = int(np.flatnonzero(share_of_last >= 1)[-1]) + 1
    left = total - parts + shared
    sizes = np.ones(parts, dtype=np.int64)
    shares = left * weight[:shared] / np.cumsum(weight)[shared - 1]
    sizes[:shared] = largest_remainder(shares, left)
    return sizes


def fill_empty(site: Indices, n_sites: int, donors: Indices) -> None:
    """Give every empty site a sample, in place: the first of `donors` whose own site keeps one.

    `donors` is a permutation of all samples.
    """
    sizes = np.bincount(site, minlength=n_sites)
    queue = iter(donors)
    for empty in np.flatnonzero(sizes == 0):
        sample = next(i for i in queue if sizes[site[i]] > 1)
        sizes[site[sample]] -= 1
        site[sample] = empty
        sizes[empty] = 1
