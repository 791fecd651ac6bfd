"""Real sites whose samples and columns are on a device give the run of those that have none."""

import numpy as np
import pytest
from scipy import sparse

import cases
import elsewhere
import fedmf
from network.real import samples
from network.rig import Rig, job

ALGORITHMS = {
    "fedmgs": {"name": "fedmgs", "participants": 2, "q1": 3, "q2": 5},
    "fedmavg": {"name": "fedmavg", "participants": 2, "q1": 3, "q2": 4},
}


@pytest.mark.parametrize("name", elsewhere.DEVICES)
@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
def test_the_run_is_the_same_to_rounding(algorithm, name, tmp_path):
    found = []
    for device in (None, elsewhere.DEVICES[name]()):
        with Rig(tmp_path / str(device is None), samples(), device).at_work() as rig:
            run, runtime = rig.play(job(algorithm))
            found.append((run, [private.H for private in rig.private(runtime)]))
    (here, here_H), (there, there_H) = found
    cases.near(there.W, here.W, 1e-10)
    cases.near(np.hstack(there_H), np.hstack(here_H), 1e-10)
    assert all(type(own) is np.ndarray for own in there_H)


@pytest.mark.parametrize("algorithm", ALGORITHMS.values(), ids=ALGORITHMS)
def test_what_is_there_is_not_sent_again(algorithm, tmp_path, monkeypatch):
    """Once for each site: its samples, and at the start its H and the zeros beside it."""
    sent = []
    device = elsewhere.DEVICES["strict"]()
    put = type(device).put
    monkeypatch.setattr(type(device), "put", lambda self, A: sent.append(A.shape) or put(self, A))
    with Rig(tmp_path, samples(), device).at_work() as rig:
        rig.play(job(algorithm))
    assert len(sent) == 3 * len(samples())


def test_sparse_samples_are_refused_before_a_run(tmp_path):
    data = {name: sparse.csr_array(own) for name, own in samples().items()}
    with pytest.raises(fedmf.FedMFError, match=r"^site 0: sparse samples cannot"):
        Rig(tmp_path, data, elsewhere.DEVICES["strict"]())
