"""A server and its sites in one process, with kits and TLS between them: for whoever means harm."""

import threading
from contextlib import contextmanager

import fedmf
from fedmf.network.frames import Frame
from fedmf.network.kits import Kit, Plan, provision
from fedmf.network.link import Caller
from fedmf.network.server import Server
from fedmf.network.site import Data, Site
from network.real import free_port, samples


class Wired:
    """Kits in a folder, a server that listens, and sites that work while a test wants them to."""

    def __init__(self, folder, data=None, sites=None):
        self.kits, self.data = folder, samples() if data is None else data
        names = tuple(sites or self.data)
        plan = Plan("test", names, "localhost", port=free_port(), hosts=("127.0.0.1",))
        provision(plan, folder)
        self.server = Server(Kit.read(folder / "server", "server"))
        self.client = fedmf.Federation(folder / "coordinator")

    def kit(self, name, role="site"):
        return Kit.read(self.kits / name, role)

    def site(self, name, rows=None, features=None):
        """Return a site, which is not at work."""
        return Site(self.kit(name), Data(self.data[name] if rows is None else rows, features))

    @contextmanager
    def at_work(self, *sites):
        """Let sites answer; those that a test did not make are as they should be."""
        stop, own = threading.Event(), {site.kit.name: site for site in sites}
        found = [own.get(name) or self.site(name) for name in self.data]
        callers = [Caller(site.kit) for site in found]
        threads = [threading.Thread(target=site.run, args=(caller, stop))
                   for site, caller in zip(found, callers, strict=True)]  # fmt: skip
        for thread in threads:
            thread.start()
        try:
            yield found
        finally:
            stop.set()
            for caller in callers:
                caller.close()
            for thread in threads:
                thread.join()

    def fit(self, **options):
        """Play a short run; return how it ended, by the server's word."""
        name = self.client.submit({**JOB, **options})
        return self.client.follow(name)


JOB = {
    "problem": {"rank": 3, "rho": 1e-3},
    "algorithm": {"name": "fedmgs", "q1": 2, "q2": 2},
    "run": {"rounds": 2, "tol": 0.0},
}


def call(kit, method="poll", **header):
    """Call a method of the server once, as whoever has this kit."""
    caller = Caller(kit)
    try:
        return caller(method, Frame({"hold": 0.01, **header}), 5.0)
    finally:
        caller.close()


@contextmanager
def listening(folder, **options):
    """Give a federation whose server listens."""
    wired = Wired(folder, **options)
    wired.server.start()
    try:
        yield wired
    finally:
        wired.server.close()
