"""What the tests of the core share: one small federation, and how its sites are put together."""

import itertools
import signal

import numpy as np
import pytest
from hypothesis import settings

import browser
import cases
import fedmf

chromium, visit = browser.chromium, browser.visit

settings.register_profile("fedmf", derandomize=True, deadline=None, max_examples=40, database=None)
settings.load_profile("fedmf")

# A shell has its background jobs ignore Ctrl-C, and so would every process that a test starts.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def sites():
    """Four unbalanced sites, one of them with a single sample."""
    return cases.federation()[0]


@pytest.fixture
def init():
    """A start for these sites."""
    return cases.federation()[1]


@pytest.fixture(params=[0, 2**40], ids=["alone", "together"])
def layout(request, monkeypatch):
    """Every site a cohort of its own, then all of them in one."""
    monkeypatch.setattr("fedmf.runtimes.local.COHORT_BYTES", request.param)


@pytest.fixture
def draws(monkeypatch):
    """Return a function that fixes which sites an algorithm draws, round by round."""

    def fix(*rounds):
        drawn = itertools.cycle(np.array(own) for own in rounds)

        def draw(self, sizes, random):
            return next(drawn)

        for kind in (fedmf.FedMGS, fedmf.FedMAvg, fedmf.FedPALM):
            monkeypatch.setattr(kind, "draw", draw)

    return fix
