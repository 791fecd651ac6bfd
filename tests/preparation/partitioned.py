"""Data dealt out to sites, and sites at the far end of a wire, for the tests of preparations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from scipy import sparse

from fedmf import wire
from fedmf.hosts import Host
from fedmf.messages import Answer
from fedmf.preparation import make
from fedmf.sites import Cohort

EPS = np.finfo(np.float64).eps


class Dealt(NamedTuple):
    """Pooled data, their labels, and the site of every row; each site has at least one."""

    X: object
    y: np.ndarray
    ids: np.ndarray

    @property
    def sites(self):
        return [self.X[self.ids == site] for site in np.unique(self.ids)]

    @property
    def labels(self):
        return [self.y[self.ids == site] for site in np.unique(self.ids)]

    @property
    def stacked(self):
        """The rows of the sites below each other, as a list of sites has them."""
        return self.X[np.argsort(self.ids, kind="stable")]


@st.composite
def dealt(draw, *, whole=False, storage=("dense", "csr"), largest=40):
    """Draw non-negative data with zeros, an all-zero row, a constant and an all-zero column."""
    n, M = draw(st.integers(2, largest)), draw(st.integers(1, 6))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    X = random.poisson(1.0, (n, M)) * (1 if whole else random.random((n, M)))
    X = X * (1 if whole else 10.0 ** random.integers(-6, 7, M))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    X = np.column_stack([X, np.full(n, 0 if whole else 0.1), np.zeros(n)]).astype(dtype)
    X[random.integers(n)] = 0 if draw(st.booleans()) else X[0]
    y = random.integers(0, draw(st.integers(2, 4)), n)
    y[:2] = [0, 1]
    ids = np.sort(np.append(0, random.integers(0, draw(st.integers(1, n)), n - 1)))
    ids = np.unique(ids, return_inverse=True)[1]
    if draw(st.booleans()):
        ids = np.arange(n)  # every site has one sample
    rows = sparse.csr_array(X) if draw(st.sampled_from(storage)) == "csr" else X
    return Dealt(rows, y, ids)


def example(dtype=np.float64, storage="dense"):
    """Return counts of four sites, one of a single sample, one without most classes."""
    random = np.random.default_rng(5)
    X = random.poisson(1.5, (24, 5)).astype(dtype)
    y = np.array(["a", "b", "c"])[random.integers(0, 3, 24)]
    ids = np.repeat([0, 1, 2, 3], [1, 3, 12, 8])
    y[:4] = "a"
    return Dealt(sparse.csr_array(X) if storage == "csr" else X, y, ids)


NAMES = ["v", "w", "x", "y", "z"]  # of the example's features


def fitted(preparation, data, **more):
    """Fit to the sites of the example as a list."""
    return preparation.fit(data.sites, data.labels, features=NAMES, **more)


def dense(rows):
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


class FarSites:
    """A runtime whose sites know a preparation by its name alone; everything passes as bytes."""

    def __init__(self, name, data, features=None, private=None):
        self.name, self.sites = name, len(data)
        self.hosts = [Host(Cohort.of(own, site, features)) for site, own in enumerate(data)]
        for host, own in zip(self.hosts, private or [None] * len(data), strict=True):
            host.private = own
        self.up, self.down = np.zeros((2, self.sites), dtype=int)
        self.reals = np.zeros(self.sites, dtype=int)

    def ask(self, method, goal, request):
        task = method.tasks()[request.task]
        each = [self._answer(site, goal, request) for site in request.sites]
        total = None if task.each else _added(each)
        return Answer(total, each, request.sites, float(request.weight.sum()))

    def _answer(self, site, goal, request):
        payload = wire.encode(request.payload)
        there = request._replace(payload=wire.decode(payload, type(request.payload)))
        (update,) = self.hosts[site].answer(make(self.name), goal, there)
        data = wire.encode(update)
        self.up[site] += len(data)
        self.down[site] += len(payload)
        self.reals[site] += wire.reals(update)
        return wire.decode(data, type(update))


def _added(updates):
    columns = zip(*updates, strict=True)
    return type(updates[0])(*(sum(np.asarray(own, float) for own in column) for column in columns))
