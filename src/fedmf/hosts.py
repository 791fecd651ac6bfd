"""The one place where a site answers a request.

A host holds the data and the private state of a cohort. In a deployment it is the process at the
site, with a cohort of one; in one process there are as many hosts as cohorts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fedmf.arrays import Array, IntArray
from fedmf.devices import Device, There, brought_here
from fedmf.errors import NonFiniteError
from fedmf.messages import Message, Method, Request, Task
from fedmf.private import put, take
from fedmf.sites import Cohort


class Host:
    """A cohort with its private state, which is replaced as a whole and never changed in place."""

    def __init__(self, data: Cohort, private: Any = None, device: Device | None = None) -> None:
        self.data = data
        self.private = private
        self._there = None if device is None else There.copy_of(data, device)

    def answer(self, method: Method, goal: Any, request: Request) -> list[Message]:
        """Answer for the sites of the request that live here.

        Returns the sum of their updates, as a list of one, or each of them where the task says so.
        """
        task = method.tasks()[request.task]
        places = self._places(request)
        if task.each:
            return [self._run(task, goal, request, place) for place in places[:, None]]
        return [self._run(task, goal, request, places)]

    def _places(self, request: Request) -> IntArray:
        """Return which of the cohort's sites are asked: their indices follow each other."""
        first, last = self.data.sites[0], self.data.sites[-1] + 1
        asked = slice(*np.searchsorted(request.sites, (first, last)))
        places: IntArray = request.sites[asked] - first
        return places

    def _run(self, task: Task, goal: Any, request: Request, places: IntArray) -> Message:
        new, update = self._attempt(task, goal, request, places)
        if not _finite(update):
            raise NonFiniteError(
                f"round {request.round}, site {self._culprit(task, goal, request, places)}: "
                f"{request.task!r} left the finite numbers; look for huge or tiny values in its "
                "data, or rescale them"
            )
        self.private = put(self.private, self.data, places, new)
        return update

    def _attempt(
        self, task: Task, goal: Any, request: Request, places: IntArray
    ) -> tuple[Any, Message]:
        data, private = self.data.select(places), take(self.private, self.data, places)
        first = int(np.searchsorted(request.sites, data.sites[0]))
        weight = request.weight[first : first + len(places)]
        with np.errstate(over="ignore", invalid="ignore"):  # seen below, with a name to it
            if self._there is None:
                return task.run(goal, private, request.payload, data, weight)
            if not task.portable:
                return task.run(goal, brought_here(private), request.payload, data, weight)
            with self._there.named():  # all of its one site
                private = self._there.settled(goal, private)
                return task.run(goal, private, request.payload, self._there, weight)

    def _culprit(self, task: Task, goal: Any, request: Request, places: IntArray) -> int:
        """Return the first site whose own answer is not finite; tasks are pure: ask again."""
        for place in places[:, None]:
            if not _finite(self._attempt(task, goal, request, place)[1]):
                return int(self.data.sites[place][0])
        return int(self.data.sites[places][0])


def _finite(update: Message) -> bool:
    """Whether every number of a message is finite."""
    values: list[Array] = [np.asarray(value) for value in update]
    return all(bool(np.isfinite(value).all()) for value in values)
