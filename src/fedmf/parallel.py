"""Threads: one pool for a whole run, used by whoever has independent pieces of work.

`threads` opens the pool and holds the BLAS libraries to one thread each meanwhile, so that the two
do not fight and every product gives the same bits whatever the number of threads. Without it, and
inside a piece of work, `each` simply goes through the pieces one by one. How work is cut into
pieces, and in which order results are added, never depends on the number of threads.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from functools import cache
from threading import Lock
from typing import TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")

_POOL: ContextVar[ThreadPoolExecutor | None] = ContextVar("pool", default=None)


@contextmanager
def threads(count: int | None = None) -> Iterator[None]:
    """Let `each` use so many threads inside the block; None: one for each core."""
    count = count or os.cpu_count() or 1
    # In the pool's own threads `each` goes one by one, or they would wait for each other.
    with _single_blas, ThreadPoolExecutor(count, initializer=lambda: _POOL.set(None)) as pool:
        token = _POOL.set(pool if count > 1 else None)
        try:
            yield
        finally:
            _POOL.reset(token)


def each(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return function(item) for each item, in order; when one fails, nothing is left running."""
    work: Sequence[T] = list(items)
    pool = _POOL.get()
    if pool is None or len(work) < 2:
        return [function(item) for item in work]
    futures: list[Future[R]] = []
    try:
        futures.extend(pool.submit(function, item) for item in work)
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()
        wait(futures)


class _SingleBlas:
    """Holds BLAS to one thread while any run is on: the limit belongs to the whole process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limits = ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                self._limits.enter_context(_blas().limit(limits=1, user_api="blas"))
            self._users += 1

    def __exit__(self, *failure: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limits.close()


_single_blas = _SingleBlas()


@cache
def _blas() -> ThreadpoolController:
    """Return the handle on the process's BLAS libraries; finding them takes a while."""
    return ThreadpoolController()
