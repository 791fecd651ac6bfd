"""A federation of real processes on loopback, each with its own certificate, stopped by pid."""

import os
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

import fedmf
from fedmf.network.kits import Plan, provision
from fedmf.network.link import UnreachableError

NAMES = ("north", "east", "south")
SIZES = (40, 12, 25)
FEATURES, RANK = 8, 3
CHILD = ("--child",)


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def samples(names=NAMES, sizes=SIZES, features=FEATURES, rank=RANK):
    """Return each site's samples: noisy mixtures of a few columns."""
    random = np.random.default_rng(5)
    W = random.random((features, rank))
    return {
        name: random.random((size, rank)) ** 2 @ W.T + 0.1 * random.random((size, features))
        for name, size in zip(names, sizes, strict=True)
    }


def until(condition, seconds=30.0):
    """Wait for what another process is about to do."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come about"
        time.sleep(0.02)


class Real:
    """Kits, data and processes in one folder."""

    def __init__(self, folder, data):
        self.folder, self.data, self.kits = folder, data, folder / "kits"
        self.plan = Plan("test", tuple(data), "localhost", port=free_port(), hosts=("127.0.0.1",))
        provision(self.plan, self.kits)
        self.processes = {}
        for name, rows in data.items():
            np.save(folder / f"{name}.npy", rows)

    def start(self, name, *, supervised=False, **environment):
        """Start the server or a site; without a supervisor it ends when its input does."""
        words = ["server", self.kits / name]
        if name != "server":
            words = ["site", self.kits / name, "--data", self.folder / f"{name}.npy"]
        with (self.folder / f"{name}.out").open("ab") as out:
            self.processes[name] = subprocess.Popen(
                [sys.executable, "-m", "fedmf", *map(str, words), *(() if supervised else CHILD)],
                stdin=subprocess.DEVNULL if supervised else subprocess.PIPE,
                stdout=out, stderr=out, env={**os.environ, **environment},
            )  # fmt: skip

    def stop(self, name):
        """Kill one process, whatever it is doing; a supervisor ends its child and itself."""
        process = self.processes.pop(name)
        if process.stdin is None:
            process.terminate()
        else:
            process.stdin.close()
            process.kill()
        process.wait()

    def pid(self, name):
        """Return the number of the process that works: the supervisor's child, if there is one."""
        process = self.processes[name]
        if process.stdin is not None:
            return process.pid
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        return int(children[0]) if children else None

    def is_complete(self):
        """Whether the server has heard of every site."""
        try:
            return None not in self.client.status()["sites"].values()
        except UnreachableError:
            return False

    def said(self, name):
        """Return what a process wrote."""
        return (self.folder / f"{name}.out").read_text()

    @property
    def client(self):
        """The coordinator's end."""
        return fedmf.Federation(self.kits / "coordinator")

    def results(self, run):
        """Return each site's own W and H of a run, once it has them."""
        return [
            load_file(self.kits / name / "results" / run / "factors.safetensors")
            for name in self.data
        ]


@contextmanager
def running(folder, data, prepare=lambda _: None, **options):
    """Give a federation whose server and sites run."""
    real = Real(folder, data)
    prepare(real)
    try:
        for name in ("server", *data):
            real.start(name, **options)
        until(real.is_complete, seconds=30 + 5 * len(data))
        yield real
    finally:
        for name in list(real.processes):
            real.stop(name)
