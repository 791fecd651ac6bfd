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
from typing import Generic, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")
R = TypeVar("R")


class _Pool(ThreadPoolExecutor):
    """The threads that help the one that asks."""

    @property
    def helpers(self) -> int:
        """How many they are."""
        return self._max_workers


_POOL: ContextVar[_Pool | None] = ContextVar("pool", default=None)


@contextmanager
def threads(count: int | None = None) -> Iterator[None]:
    """Let `each` use so many threads inside the block; None: one for each core."""
    count = count or os.cpu_count() or 1
    # In the pool's own threads `each` goes one by one, or they would wait for each other.
    with _single_blas, _Pool(max(1, count - 1), initializer=lambda: _POOL.set(None)) as pool:
        token = _POOL.set(pool if count > 1 else None)
        try:
            yield
        finally:
            _POOL.reset(token)


def each(function: Callable[[T], R], items: Iterable[T]) -> list[R]:
    """Return function(item) for each item, in order; when one fails, nothing is left running.

    The calling thread works along with those of the pool, each taking the next item that is left:
    where the items are small, handing them out one by one would take longer than the work. The
    failure that is raised is that of the first item in order: all before it were taken before it.
    """
    work: Sequence[T] = list(items)
    pool = _POOL.get()
    if pool is None or len(work) < 2:
        return [function(item) for item in work]
    shift = _Shift(function, work)
    helpers = min(pool.helpers, len(work) - 1)
    futures: list[Future[None]] = []
    token = _POOL.set(None)
    try:
        futures.extend(pool.submit(shift.take) for _ in range(helpers))
        shift.take()
    finally:
        shift.close()
        wait(futures)
        _POOL.reset(token)
    for future in futures:
        future.result()  # what is no Exception, such as SystemExit, goes on to the caller
    return shift.results()


class _Shift(Generic[T, R]):
    """Pieces of work, taken one by one by several threads."""

    def __init__(self, function: Callable[[T], R], work: Sequence[T]) -> None:
        self._function = function
        self._work = work
        self._places = iter(range(len(work)))  # its next place goes to one thread only
        self._done: dict[int, R] = {}
        self._failed: dict[int, Exception] = {}

    def take(self) -> None:
        """Work until nothing is left, or something failed."""
        for place in self._places:
            try:
                self._done[place] = self._function(self._work[place])
            except Exception as error:  # noqa: BLE001 - raised where the results are wanted
                self._failed[place] = error
                self.close()

    def close(self) -> None:
        """Leave nothing to be taken."""
        for _ in self._places:
            pass

    def results(self) -> list[R]:
        """Return what came out, in order."""
        for place in sorted(self._failed):
            raise self._failed[place]
        return [self._done[place] for place in range(len(self._work))]


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
