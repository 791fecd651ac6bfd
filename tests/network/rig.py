"""The server's round loop and real `Site` objects in one process, without a network between them.

Each site is a thread that fetches its requests from the hub and answers them, unless a test says
that it is away. Deadlines go by a clock that stands still while a site that is not away is at work:
what a test sees does not depend on how fast the machine is.
"""

import threading
from contextlib import contextmanager
from time import monotonic
from unittest.mock import patch

from fedmf.network.checkpoints import Checkpoints
from fedmf.network.frames import unpack
from fedmf.network.hub import Hub, Key
from fedmf.network.jobs import Job
from fedmf.network.kits import Kit
from fedmf.network.playing import play
from fedmf.network.runtime import NetworkRuntime
from fedmf.network.site import Data, Site

RUN = "20260101-000000-abcd"


class Rig:
    """A federation whose data are given by name; what is on the disk outlives it."""

    def __init__(self, folder, data, device=None):
        self.folder, self.data, self.names = folder, data, tuple(data)
        self.device = device
        self.said, self.rows = [], []
        (folder / "run").mkdir(parents=True, exist_ok=True)
        self.sites = [self.site(name) for name in data]
        self.hub = Hub(len(self.names))
        self.away = lambda *_: False
        self._absent, self._failed = set(), [None] * len(data)
        self._clock, self._looked = 0.0, monotonic()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._work, args=(k,)) for k in range(len(data))]

    def site(self, name):
        """Return a site that knows nothing but its folder."""
        (self.folder / name).mkdir(exist_ok=True)
        kit = Kit(self.folder / name, "site", name, "test", "localhost", 1)
        return Site(kit, Data(self.data[name]), self.device)

    def _work(self, place):
        while not self._stop.is_set():
            data = self.hub.fetch(place, 0.05)
            if data is None:
                continue
            frame = unpack(data)
            if self.away(self.names[place], frame.header):
                self._absent.add(place)
                self._stop.wait(0.005)
                continue
            if self._failed[place] != data:
                self._absent.discard(place)
            answer = self.sites[place].answer(frame)
            self._failed[place] = data if answer.header.get("again") else None
            if self._failed[place]:
                self._absent.add(place)
                self._stop.wait(0.005)
            self.hub.take(place, Key(frame.header["run"], frame.header["seq"]), answer)

    def now(self):
        """Return the time, which passes only while nobody but those who are away has work."""
        at_work = {place for place, task in enumerate(self.hub._tasks) if task is not None}
        now = monotonic()
        if at_work <= self._absent:
            self._clock += now - self._looked
        self._looked = now
        return self._clock

    def play(self, job, show=None, stopped=bool):
        """Play a job, or go on with it where the folder holds its checkpoint."""
        runtime = NetworkRuntime(RUN, job, self.hub, self.names, self.said.append, stopped)

        def shown(row):
            self.rows.append(row)
            if show is not None:
                show(row)

        return play(job, runtime, Checkpoints(self.folder / "run"), shown), runtime

    def private(self, runtime):
        """Return each site's state that the server's sums know of."""
        return [
            site.states_of(RUN, runtime.job).state(after)
            for site, after in zip(self.sites, runtime.marks.after, strict=True)
        ]

    @contextmanager
    def at_work(self):
        """Let the sites answer."""
        for thread in self._threads:
            thread.start()
        try:
            with patch("fedmf.network.runtime.monotonic", self.now):
                yield self
        finally:
            self._stop.set()
            for thread in self._threads:
                thread.join()


def job(algorithm, rounds=6, problem=None, federation=None, **run):
    """Return a job."""
    return Job.of(
        {
            "problem": {"rank": 3, "rho": 1e-3, "nu": 1e-4, **(problem or {})},
            "algorithm": algorithm,
            "run": {"rounds": rounds, "tol": 0.0, "seed": 3, **run},
            "federation": federation or {},
        }
    )
