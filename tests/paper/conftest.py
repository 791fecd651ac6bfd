"""A folder of made-up exhibits, and a store with results for all of them."""

import numpy as np
import pytest

import wellformed
from fedmf.paper import maps, read
from fedmf.trials import Store
from fedmf.trials.result import pack
from paper import made

checked = wellformed.checked


@pytest.fixture(scope="session")
def exhibits(tmp_path_factory):
    """The folder of the files."""
    return made.folder(tmp_path_factory.mktemp("files") / "exhibits")


@pytest.fixture(scope="session")
def store(exhibits, tmp_path_factory):
    """Results that were never computed: FedMGS ends lower than FedMAvg; and a map."""
    kept = Store(tmp_path_factory.mktemp("store"))
    labels = pack(np.arange(60) % 3)
    for name in ("fig1", "table1", "fig7"):
        exhibit = read(name, folder=exhibits)
        for trial in exhibit.trials:
            fed = trial.method["name"] == "fedmgs"
            F = made.falling((10 if fed else 20) + trial.seed) if trial.how.algorithm else None
            found = made.result(trial, F=F, accuracy=0.9 if fed else 0.5, labels=labels)
            kept.put(trial, found)
        if exhibit.kind == "map":
            maps.compute(exhibit, kept)
    return kept
