"""All sites in this process.

Sites with little data share a cohort; cohorts are worked through side by side by the threads of
`fedmf.parallel`. Neither the cohorts nor the order of any sum depends on the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from fedmf.arrays import Rows
from fedmf.blocks import cut, nbytes, pack
from fedmf.devices import Device
from fedmf.hosts import Host
from fedmf.messages import Answer, Method, Request, add_up
from fedmf.parallel import each
from fedmf.private import gather
from fedmf.sites import Cohort

COHORT_BYTES = 8 * 2**20  # sites smaller than this share a cohort: it fits the cache
LARGE_COHORT = 64 * 2**20  # a cohort over this has the threads for itself, block by block


class LocalRuntime:
    """Sites in this process.

    Parameters
    ----------
    rows : each site's (n_p, M) data, dense or CSR, all of one dtype.
    features : the features' names of each site, where there are any.
    apart : give every site a cohort of its own, as in a deployment; for methods whose tasks keep
        a state and are answered one by one.
    device : where the sites' samples and columns are during a run; each has its own then, too.
    """

    def __init__(
        self,
        rows: Sequence[Rows],
        features: Sequence[tuple[str, ...] | None] | None = None,
        *,
        apart: bool = False,
        device: Device | None = None,
    ) -> None:
        self.sites = len(rows)
        alone = apart or device is not None
        found = cohorts(rows, features, fill=0 if alone else COHORT_BYTES)
        self.hosts = [Host(cohort, device=device) for cohort in found]
        self._host_of = np.repeat(
            np.arange(len(self.hosts)), [len(host.data.sites) for host in self.hosts]
        )

    def ask(self, method: Method, goal: Any, request: Request) -> Answer:
        """Put a request to its sites and add up their updates in the order of the sites."""
        asked = [self.hosts[place] for place in np.unique(self._host_of[request.sites])]
        large = [sum(map(nbytes, host.data.blocks)) > LARGE_COHORT for host in asked]
        small = [host for host, is_large in zip(asked, large, strict=True) if not is_large]
        found = iter(each(lambda host: host.answer(method, goal, request), small))
        pairs = zip(asked, large, strict=True)
        updates = list(
            chain.from_iterable(
                host.answer(method, goal, request) if is_large else next(found)
                for host, is_large in pairs
            )
        )
        return Answer(
            total=None if method.tasks()[request.task].each else add_up(updates),
            each=updates,
            sites=request.sites,
            weight=float(request.weight.sum()),
        )

    def place(self, privates: Sequence[Any]) -> None:
        """Give every site a private state of its own, in the order of the sites."""
        first = 0
        for host in self.hosts:
            last = first + len(host.data.sites)
            host.private = gather(privates[first:last])
            first = last

    def privates(self) -> list[Any]:
        """Return the hosts' private states: replaced, never changed, so this is a snapshot."""
        return [host.private for host in self.hosts]

    def restore(self, privates: Sequence[Any]) -> None:
        """Go back to a snapshot."""
        for host, private in zip(self.hosts, privates, strict=True):
            host.private = private


def cohorts(
    rows: Sequence[Rows], features: Sequence[tuple[str, ...] | None] | None, fill: int
) -> list[Cohort]:
    """Put neighbouring small sites together until they fill a cohort of so many bytes."""
    groups: list[list[int]] = []
    filled = 0
    for site, own in enumerate(rows):
        size = nbytes(own)
        if site == 0 or filled + size > fill or not _alike(rows, features, site):
            groups.append([])
            filled = 0
        groups[-1].append(site)
        filled += size
    return [_cohort(rows, features, group) for group in groups]


def _alike(rows: Sequence[Rows], features: Any, site: int) -> bool:
    """Whether a site has the features and the kind of the one before, so that they may be mixed."""
    own, before = rows[site], rows[site - 1]
    named = features is not None and features[site] != features[site - 1]
    dense = isinstance(own, np.ndarray), isinstance(before, np.ndarray)
    return not named and own.shape[1] == before.shape[1] and dense[0] == dense[1]


def _cohort(rows: Sequence[Rows], features: Any, group: list[int]) -> Cohort:
    own = [rows[site] for site in group]
    edges = np.concatenate([[0], np.cumsum([part.shape[0] for part in own])])
    blocks = pack([block for part in own for block in cut(part)])
    return Cohort(tuple(blocks), np.array(group), edges, features and features[group[0]])
