"""Threads: one pool for a whole run, used by whoever has independent pieces of work.

`threads` opens the pool and holds the BLAS libraries to one thread each meanwhile, so that the two
do not fight and every product gives the same bits whatever the number of threads. Without it, and
inside a piece of work, `each` simply goes through the pieces one by one. How work is cut into
pieces, and in which order results are added, never depends on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")

_POOL: ContextVar[ThreadPoolExecutor | None] = ContextVar("pool", default=None)


@contextmanager
def threads(count: int | None = None) -> Iterator[None]:
    """Let `each` use so many threads inside the block; None: one for each core."""
    count = count or os.cpu_count() or 1
    with ThreadPoolExecutor(count) as pool, _blas().limit(limits=1, user_api="blas"):
        token = _POOL.set(pool if count > 1 else None)
        try:
            yield
        finally:
            _POOL.reset(token)


def each(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return function(item) for each item, in order; when one fails, nothing is left running."""
    work: Sequence[T] = list(items)
    pool = _POOL.get()  # None in the pool's own threads, which start with an empty context
    if pool is None or len(work) < 2:
        return [function(item) for item in work]
    futures = [pool.submit(function, item) for item in work]
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()
        wait(futures)


@cache
def _blas() -> ThreadpoolController:
    """Return the handle on the process's BLAS libraries; finding them takes a while."""
    return ThreadpoolController()
