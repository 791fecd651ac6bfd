"""All sites in this process, worked through by a pool of threads.

Sites with little data share a cohort. Neither that nor any sum depends on the number of threads:
each cohort is computed by one thread, and the updates are added in the order of the sites.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from itertools import chain
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from threadpoolctl import ThreadpoolController

from fedmf.arrays import Rows
from fedmf.hosts import Host
from fedmf.messages import Answer, Message, Method, Request
from fedmf.sites import Cohort, gather

T = TypeVar("T")
R = TypeVar("R")
COHORT_BYTES = 2**20  # sites smaller than this share a cohort: it fits a core's own cache


class LocalRuntime:
    """Sites in this process.

    Parameters
    ----------
    rows : each site's (n_p, M) data, dense or CSR, all of one dtype.
    features : the features' names of each site, where there are any.
    threads : how many threads; None: as many as there are cores.
    """

    def __init__(
        self,
        rows: Sequence[Rows],
        features: Sequence[tuple[str, ...] | None] | None = None,
        threads: int | None = None,
    ) -> None:
        self.sites = len(rows)
        self.hosts = [Host(cohort) for cohort in cohorts(rows, features)]
        self._host_of = np.repeat(
            np.arange(len(self.hosts)), [len(host.data.sites) for host in self.hosts]
        )
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1)

    def ask(self, method: Method, goal: Any, request: Request) -> Answer:
        """Put a request to its sites and add up their updates in the order of the sites."""
        hosts = [self.hosts[place] for place in np.unique(self._host_of[request.sites])]
        with _blas().limit(limits=1, user_api="blas"):
            updates = list(
                chain.from_iterable(
                    self._map(lambda host: host.answer(method, goal, request), hosts)
                )
            )
        return Answer(
            total=None if method.tasks()[request.task].each else _sum(updates),
            each=updates,
            sites=request.sites,
            weight=float(request.weight.sum()),
        )

    def _map(self, function: Callable[[T], R], items: Iterable[T]) -> list[R]:
        """Run in the pool; when interrupted or failed, leave nothing running behind."""
        futures = [self._pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in futures]
        finally:
            for future in futures:
                future.cancel()
            wait(futures)

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

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown()


@cache
def _blas() -> ThreadpoolController:
    """Return the handle on the process's BLAS libraries; finding them takes a while."""
    return ThreadpoolController()


def _sum(updates: list[Message]) -> Message:
    """Add messages entry by entry in double precision, in their order."""
    kind = type(updates[0])
    if len(updates) == 1:
        return kind(*(np.asarray(value, dtype=np.float64) for value in updates[0]))
    columns = zip(*updates, strict=True)
    return kind(*(_add_up(values) for values in columns))


def _add_up(values: Iterable[Any]) -> Any:
    values = iter(values)
    total = np.array(next(values), dtype=np.float64)
    for value in values:
        total += value
    return total


def cohorts(
    rows: Sequence[Rows], features: Sequence[tuple[str, ...] | None] | None = None
) -> list[Cohort]:
    """Put neighbouring small sites together until they fill a cohort."""
    groups: list[list[int]] = []
    filled = COHORT_BYTES
    for site, own in enumerate(rows):
        size = _bytes(own)
        named = features is not None and site > 0 and features[site] != features[site - 1]
        if filled + size > COHORT_BYTES or named or own.shape[1] != rows[site - 1].shape[1]:
            groups.append([])
            filled = 0
        groups[-1].append(site)
        filled += size
    return [_cohort(rows, features, group) for group in groups]


def _cohort(rows: Sequence[Rows], features: Any, group: list[int]) -> Cohort:
    own = [rows[site] for site in group]
    edges = np.concatenate([[0], np.cumsum([part.shape[0] for part in own])])
    names = None if features is None else features[group[0]]
    return Cohort(_stack(own), np.array(group), edges, names)


def _bytes(rows: Rows) -> int:
    return int(rows.data.nbytes + rows.indices.nbytes if sparse.issparse(rows) else rows.nbytes)


def _stack(parts: list[Rows]) -> Rows:
    """Put sites' rows below each other; without a copy where they already are."""
    if len(parts) == 1:
        return parts[0]
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    base = parts[0].base
    if base is not None and all(part.base is base for part in parts) and base.ndim == 2:
        whole = _adjoining(base, parts)
        if whole is not None:
            return whole
    return np.concatenate(parts)


def _adjoining(base: Any, parts: list[Any]) -> Any | None:
    """Return the slice of `base` that the parts make up, if they adjoin in it."""
    if not base.flags.c_contiguous or base.shape[1] != parts[0].shape[1]:
        return None
    stride = base.strides[0]
    starts = [(part.ctypes.data - base.ctypes.data) // stride for part in parts]
    ends = [start + part.shape[0] for start, part in zip(starts, parts, strict=True)]
    if starts[1:] != ends[:-1] or not all(part.flags.c_contiguous for part in parts):
        return None
    return base[starts[0] : ends[-1]]
