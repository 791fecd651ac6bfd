"""Federations for the rivals, and a runtime that sends every message as bytes and keeps it."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

from fedmf import wire
from fedmf.baselines import BEL, CAL, KFED, KMeansParallel
from fedmf.runtimes.local import LocalRuntime

K = 4
RIVALS = {
    "km-parallel": KMeansParallel(K),
    "km-parallel lloyd": KMeansParallel(K, recluster="lloyd", oversampling=3.0, draws=2),
    "bel": BEL(K),
    "bel few": BEL(K, samples=3),
    "bel all": BEL(K, samples=10**6),
    "cal": CAL(K),
    "cal outliers": CAL(K, n_outliers=7),
    "cal any": CAL(K, n_outliers=3, any_partition=True),
    "k-fed": KFED(K),
    "k-fed all": KFED(K, local_clusters=K),
}


class Blobs(NamedTuple):
    """Well separated clusters of samples, spread over sites."""

    sites: list
    classes: np.ndarray  # of all samples, in the order of the sites
    X: np.ndarray

    @property
    def optimum(self):
        """The cost of the classes' own means."""
        groups = (self.X[self.classes == k] for k in np.unique(self.classes))
        return sum(((own - own.mean(axis=0)) ** 2).sum() for own in groups)


def blobs(sizes=(60, 45, 80, 35), features=6, clusters=K, spread=1.0, seed=0, held=None):
    """Return blobs with centres far apart; `held`: how many clusters a site has."""
    random = np.random.default_rng(seed)
    centres = 40 * np.sqrt(features) * np.eye(max(clusters, features))[:clusters, :features]
    sites, classes = [], []
    for place, size in enumerate(sizes):
        own = np.arange(clusters) if held is None else (place + np.arange(held)) % clusters
        classes.append(own[np.arange(size) % len(own)])
        sites.append(centres[classes[-1]] + spread * random.normal(size=(size, features)))
    return Blobs(sites, np.concatenate(classes), np.concatenate(sites))


@dataclass
class Talk:
    """One request with all answers, as they were on the wire."""

    task: str
    payload: tuple
    updates: list
    sites: np.ndarray
    down: int
    up: list = field(default_factory=list)


class WireRuntime(LocalRuntime):
    """Sites that only ever see and give bytes, as over a network."""

    def __init__(self, rows):
        super().__init__(rows, apart=True)
        self.talks = []

    def ask(self, method, goal, request):
        down = wire.encode(request.payload)
        payload = wire.decode(down, type(request.payload))
        answer = super().ask(_AllApart(method), goal, request._replace(payload=payload))
        up = [wire.encode(update) for update in answer.each]
        updates = [wire.decode(data, type(own)) for data, own in zip(up, answer.each, strict=True)]
        talk = Talk(request.task, payload, updates, request.sites, len(down), list(map(len, up)))
        self.talks.append(talk)
        if method.tasks()[request.task].each:
            return answer._replace(each=updates)
        sums = (
            sum(np.asarray(v, dtype=np.float64) for v in own) for own in zip(*updates, strict=True)
        )
        return answer._replace(each=updates, total=type(updates[0])(*sums))


class _AllApart:
    """A method whose sites all answer one by one."""

    def __init__(self, method):
        self._method = method

    def tasks(self):
        return {name: task._replace(each=True) for name, task in self._method.tasks().items()}


@pytest.fixture(params=list(RIVALS))
def rival(request):
    """Every rival, with several settings."""
    return RIVALS[request.param]


@pytest.fixture
def easy():
    """Blobs at four sites that all hold every cluster."""
    return blobs()


@pytest.fixture
def make():
    """How to make blobs."""
    return blobs


@pytest.fixture
def over_wire():
    """The runtime that keeps what was sent."""
    return WireRuntime


@pytest.fixture
def hostile():
    """Return federations that are hard on a clustering, by name."""
    random = np.random.default_rng(5)
    ones, few = np.ones((9, 3)), random.normal(size=(3, 3))
    return {
        "one sample each": [random.normal(size=(1, 3)) for _ in range(6)],
        "fewer than K": [few, random.normal(size=(2, 3)), random.normal(size=(30, 3))],
        "all identical": [ones, ones[:1], ones[:4]],
        "two points": [ones, np.zeros((5, 3)), np.concatenate([ones, np.zeros((2, 3))])],
        "one feature": [random.normal(size=(12, 1)), random.normal(size=(3, 1))],
        "huge and tiny": [1e150 * few, 1e-150 * few, few],
        "far from the origin": [1e6 + few, 1e6 + random.normal(size=(20, 3))],
        "zeros": [np.zeros((4, 3)), np.zeros((6, 3))],
        "empty sparse rows": [sparse.csr_array((5, 3)), sparse.csr_array(np.eye(3))],
        "dense and sparse": [few, sparse.csr_array(np.eye(3)), random.normal(size=(8, 3))],
        "exactly K": [random.normal(size=(K - 1, 3)), random.normal(size=(1, 3))],
        "float32": [few.astype(np.float32), random.normal(size=(9, 3)).astype(np.float32)],
    }
