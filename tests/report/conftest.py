"""Saved runs to make pages of."""

import numpy as np
import pytest

import fedmf
import wellformed
from fedmf.clustering import SNCP

checked = wellformed.checked


@pytest.fixture(scope="session")
def folders(tmp_path_factory):
    """Three saved runs: one with a growing penalty, two that would be called the same."""
    home = tmp_path_factory.mktemp("runs")
    random = np.random.default_rng(0)
    sites = [random.uniform(size=(n, 6)) for n in (12, 30, 1, 7)]
    kinds = {"mgs": fedmf.FedMGS(participants=2), "avg": fedmf.FedMAvg(q2=2)}
    for name, algorithm in kinds.items():
        penalty = SNCP(threshold=1.0, factor=10) if name == "mgs" else None
        run = fedmf.fit(sites, fedmf.Problem(rank=2), algorithm, rounds=8, penalty=penalty)
        run.save(home / name)
    run.save(home / "avg <again>")
    return [home / "mgs", home / "avg", home / "avg <again>"]
