"""Sites whose samples and columns are on a device; that results are the same is in `parity`."""

import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import cases
import elsewhere
import fedmf
from fedmf import devices
from fedmf.constraints import Constraint
from fedmf.losses import Loss

PROBLEM = fedmf.Problem(rank=cases.RANK)


@pytest.fixture(params=elsewhere.DEVICES)
def device(request, monkeypatch):
    """A device, by the name of which a run is told to use it."""
    found = elsewhere.DEVICES[request.param]()
    monkeypatch.setattr("fedmf.fitting.find_device", {"there": found}.__getitem__)
    return "there"


@pytest.mark.parametrize("algorithm", cases.RUNS.values(), ids=cases.RUNS)
def test_samples_and_columns_are_there_and_the_result_is_here(algorithm, device, monkeypatch):
    sites, init = cases.federation()
    seen = []
    monkeypatch.setattr(
        devices.There, "cross", lambda self, W, cross=devices.There.cross:
        seen.append((type(self.samples), type(out := cross(self, W)))) or out,
    )  # fmt: skip
    run = fedmf.fit(sites, PROBLEM, algorithm, rounds=3, tol=0, init=init, device=device)
    assert seen
    assert all(np.ndarray not in kinds for kinds in seen)
    assert {type(own) for own in (run.W, *run.private, *run.H)} == {np.ndarray}


@pytest.mark.parametrize("name", ["fedmgs m=2", "fedmavg pcp lagged", "fedpalm all"])
def test_a_run_goes_on_as_if_it_had_never_stopped(name, device, tmp_path):
    sites, init = cases.federation()
    algorithm = cases.RUNS[name]
    how = {"tol": 0, "device": device}
    whole = fedmf.fit(sites, PROBLEM, algorithm, rounds=6, init=init, **how)
    fedmf.fit(sites, PROBLEM, algorithm, rounds=3, init=init, checkpoint=tmp_path, **how)
    cases.same(whole, fedmf.resume(fedmf.load(tmp_path), sites, rounds=6, **how))
    elsewhere = fedmf.resume(fedmf.load(tmp_path), sites, rounds=6, tol=0)
    cases.alike(whole, elsewhere)


def test_clusters_from_a_start_across_the_sites(device):
    random = np.random.default_rng(0)
    kinds = random.integers(3, size=90)
    X = np.eye(3, 12)[kinds] + 0.1 * random.random((90, 12))
    model = fedmf.FederatedClustering(3, random_state=0, max_iter=60)
    there = clone(model).set_params(device=device).fit(X, sites=kinds // 2)
    np.testing.assert_array_equal(there.labels_, model.fit(X, sites=kinds // 2).labels_)


@pytest.mark.parametrize("kind", ["backwards", "every other", "by columns", "packed"])
def test_samples_in_any_order_of_memory(kind, device):
    sites, init = cases.federation()
    packed = np.zeros(sites[0].shape, dtype=[("before", "i1"), ("value", "f8")])
    packed["value"] = sites[0]
    turned = {
        "backwards": sites[0][::-1].copy()[::-1],
        "every other": np.repeat(sites[0], 2, axis=1)[:, ::2],
        "by columns": np.asfortranarray(sites[0]),
        "packed": packed["value"],
    }
    how = {"rounds": 2, "tol": 0, "init": init, "device": device}
    one = fedmf.fit(sites, PROBLEM, fedmf.FedMGS(), **how)
    cases.alike(one, fedmf.fit([turned[kind], *sites[1:]], PROBLEM, fedmf.FedMGS(), **how))


def test_samples_from_a_file_that_may_only_be_read(device, tmp_path):
    sites, init = cases.federation()
    np.save(tmp_path / "samples.npy", sites[0])
    mapped = np.load(tmp_path / "samples.npy", mmap_mode="r")
    how = {"rounds": 2, "tol": 0, "init": init, "device": device}
    one = fedmf.fit(sites, PROBLEM, fedmf.FedMGS(), **how)
    cases.same(one, fedmf.fit([mapped, *sites[1:]], PROBLEM, fedmf.FedMGS(), **how))


class Simplex(Constraint):
    """A set that is no interval."""

    def project(self, A):
        return np.maximum(A, 0) / np.maximum(A.sum(axis=0), 1)


class Own(Loss):
    """A loss that is not the squared one."""

    name = "own"
    value = gradient_H = gradient_W = curvature_H = curvature_W = None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"sites": sparse.csr_array}, "site 0: sparse samples cannot be put on a device"),
        ({"h_bounds": Simplex()}, "a device needs h_bounds that are an interval"),
        ({"loss": Own()}, "a device needs the squared loss, got 'own'"),
    ],
)
def test_what_a_device_does_not_take_is_refused(change, words, device):
    sites = [change.get("sites", np.asarray)(own) for own in cases.federation()[0]]
    problem = fedmf.Problem(cases.RANK, **{k: v for k, v in change.items() if k != "sites"})
    with pytest.raises(fedmf.FedMFError) as caught:
        fedmf.fit(sites, problem, fedmf.FedMAvg(), device=device)
    assert str(caught.value) == words


def test_what_does_not_fit_is_named(monkeypatch):
    class Full(devices.Device):
        def put(self, A):
            raise RuntimeError("CUDA out of memory. Tried to allocate 3 GiB.\nAnd so on.")

    monkeypatch.setattr("fedmf.fitting.find_device", lambda name: Full(np, name))
    with pytest.raises(fedmf.FedMFError) as caught:
        fedmf.fit([np.ones((3, 2))], fedmf.Problem(1), fedmf.FedMGS(), device="full")
    assert str(caught.value) == "site 0: the device refuses: CUDA out of memory"


def test_without_torch_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "array_api_compat.torch", None)
    with pytest.raises(fedmf.FedMFError) as caught:
        fedmf.fit([np.ones((3, 2))], fedmf.Problem(1), fedmf.FedMGS(), device="cuda")
    assert str(caught.value) == 'a device needs torch: pip install "fedmf[torch]"'


def test_a_device_that_is_not_there_is_named():
    pytest.importorskip("torch")
    with pytest.raises(fedmf.FedMFError, match=r"^device 'nothing' is not to be had: Expected one"):
        devices.find("nothing")


def test_whoever_does_not_use_one_does_not_import_what_it_needs():
    code = (
        "import sys, numpy as np, fedmf; "
        "fedmf.fit([np.ones((3, 2))], fedmf.Problem(1), fedmf.FedMGS(), rounds=1); "
        "assert not {'torch', 'array_api_compat'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
