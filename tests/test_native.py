"""The compiled kernels against numpy; skipped where they were not built, for want of a compiler."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import cases
import fedmf
from fedmf import native

pytestmark = pytest.mark.skipif(not native.kernels(), reason="no compiled kernels were built")
TYPES = [np.float64, np.float32]
# One vector and less, several, with and without a rest, the most there are.
RANKS = [1, 3, 8, 16, 20, 30, 32, 50, 64]
COMPILER = shutil.which("cc")


@pytest.fixture(scope="module", params=["as it is", 256, 128])
def built(request, tmp_path_factory):
    """The kernels as they were installed, and for processors whose vectors are narrower."""
    if request.param == "as it is":
        return native.kernels()
    if COMPILER is None:
        pytest.skip("no compiler")
    source = Path(native.__file__).parent / "kernels.c"
    library = tmp_path_factory.mktemp("built") / "kernels.so"
    options = ["-O1", "-fPIC", "-shared", f"-DWIDEST={request.param}"]
    subprocess.run([COMPILER, *options, str(source), "-o", str(library)], check=True)
    return native.load(library)


@pytest.fixture
def of_any_width(built, monkeypatch):
    monkeypatch.setattr(native, "kernels", lambda: built)


def drawn(random, K, kind, zeros):
    """Return rows Z, many of them zeros, and D."""
    Z, D = (random.normal(size=(13, K)).astype(kind) for _ in range(2))
    Z[random.random(Z.shape) < zeros] = 0
    return Z, D


def take_steps(rows, *how):
    if not native.steps(rows, *how):
        pytest.skip("this K is left to numpy here")


def close(got, wanted, terms, size):
    """Compare sums of so many terms, whose sizes add up to `size`: Higham's bound, both sides."""
    u = np.finfo(got.dtype).eps / 2
    assert (abs(got - wanted) <= 2 * terms * u / (1 - terms * u) * size).all()


@pytest.mark.usefixtures("of_any_width")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("K", RANKS)
@pytest.mark.parametrize(("n", "M"), [(1, 1), (3, 7), (67, 33), (130, 2050)])
@pytest.mark.parametrize("storage", ["whole", "part of wider rows", "csr"])
def test_products_are_numpys(storage, n, M, K, kind):
    random = np.random.default_rng(K)
    X = random.normal(size=(n, M + 5)).astype(kind)[:, :M]
    if storage != "part of wider rows":
        X = np.ascontiguousarray(X)
    W, D = random.normal(size=(M, K)).astype(kind), random.normal(size=(n, K)).astype(kind)
    if storage == "csr":
        X[random.random(X.shape) < 0.7] = 0
    samples = sparse.csr_array(X) if storage == "csr" else X
    wide = [own.astype(float) for own in (X, W, D)]
    out = np.full((n, K), np.nan, dtype=kind)
    if native.cross(samples, W, out):
        close(out, wide[0] @ wide[1], M + 2, abs(wide[0]) @ abs(wide[1]))
    total = native.sums(M, K, np.dtype(kind))
    if native.moment(samples, D, total):
        assert native.moment(samples, D, total)  # it adds
        close(total, 2 * wide[0].T @ wide[2], 2 * n + 2, 2 * abs(wide[0]).T @ abs(wide[2]))


def test_the_usual_ranks_are_compiled():
    X, W = np.ones((4, 6)), np.ones((6, 16))
    assert native.cross(X, W, np.empty((4, 16)))
    assert native.steps(np.ones((4, 16)), np.ones((4, 16)), np.eye(16), 1, *np.array([0.0, 9.0]))


@pytest.mark.usefixtures("of_any_width")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("K", RANKS)
@pytest.mark.parametrize("zeros", [0, 0.4, 0.9, 1])
def test_a_row_has_the_same_bits_whatever_rows_are_beside_it(zeros, K, kind):
    """Zeros are left out or not by what most rows hold, and rows go together in fours."""
    random = np.random.default_rng(K)
    root = random.normal(size=(K + 3, K))
    A = root.T @ root
    T = (np.eye(K) - A / np.linalg.eigvalsh(A)[-1]).astype(kind)
    Z, D = drawn(random, K, kind, zeros)
    bounds = kind(0), kind(0.5)
    whole, alone = Z.copy(), Z.copy()
    take_steps(whole, D, T, 37, *bounds)
    for row, d in zip(alone, D, strict=True):
        assert native.steps(row[None], d[None], T, 37, *bounds)
    np.testing.assert_array_equal(whole, alone)


@pytest.mark.usefixtures("of_any_width")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("K", RANKS)
@pytest.mark.parametrize("zeros", [0, 0.4, 0.9, 1])
def test_rows_that_have_come_to_rest_are_left_alone_to_the_bit(zeros, K, kind):
    """Many steps in one call stop early, one at a time they cannot. T shrinks what is left."""
    random = np.random.default_rng(K)
    T = (np.eye(K) / 2 - random.random((K, K)) / (4 * K)).astype(kind)
    Z, D = drawn(random, K, kind, zeros)
    bounds = kind(0), kind(0.5)
    at_once, one_by_one = Z.copy(), Z.copy()
    take_steps(at_once, D, T, 150, *bounds)
    for _ in range(150):
        before = one_by_one.copy()
        native.steps(one_by_one, D, T, 1, *bounds)
    np.testing.assert_array_equal(at_once, one_by_one)
    assert (one_by_one == before).all(axis=1).any()  # or nothing would be shown


@pytest.mark.usefixtures("of_any_width")
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("K", [20, 30, 32, 50, 64])
def test_steps_on_the_members_alone_are_all_steps_to_the_bit(K, kind):
    """Many steps in one call look for members, a few do not. Some entries come in only later."""
    random = np.random.default_rng(K)
    root = random.random((K // 2, K)) * (random.random((K // 2, K)) < 0.2)
    signs = random.choice([-1, 1], size=K, p=[0.1, 0.9])  # mostly, but not only, of one sign
    A = (root.T @ root + np.eye(K) / 10) * np.outer(signs, signs)
    divisor = np.linalg.eigvalsh(A)[-1]
    T = (np.eye(K) - A / divisor).astype(kind)
    D = (random.normal(size=(203, K)) * 0.3 / divisor).astype(kind)
    at_once, by_twenty = (np.zeros_like(D) for _ in range(2))
    bounds = kind(0), kind(5)
    take_steps(at_once, D, T, 100, *bounds)
    supports = []
    for _ in range(5):
        native.steps(by_twenty, D, T, 20, *bounds)
        supports.append(by_twenty != 0)
    np.testing.assert_array_equal(at_once, by_twenty)
    later = (supports[-1] & ~supports[0]).any(axis=1)
    assert later.any()
    assert not later.all()


@pytest.mark.usefixtures("of_any_width")
def test_what_overflows_among_the_members_is_seen():
    """Infinity times the zeros that the members leave out would be no number."""
    T, D = np.zeros((20, 20)), np.full((1, 20), -1.0)
    T[:2, :2] = [[-0.5, -1e-3], [2.5, 1]]
    D[0, :2] = 1e300, 2e307
    for steps in (24, 29):
        at_once, one_by_one = np.zeros((2, 1, 20))
        take_steps(at_once, D, T, steps, 0, np.inf)
        for _ in range(steps):
            native.steps(one_by_one, D, T, 1, 0, np.inf)
        np.testing.assert_array_equal(at_once, one_by_one)
        assert np.isnan(at_once).any()


def test_a_number_that_is_none_is_kept_to_be_seen():
    rows = np.array([[np.nan, 1.0], [1.0, 1.0]])
    native.steps(rows, np.zeros((2, 2)), np.eye(2) / 2, 3, *np.array([0.0, 1.0]))
    assert np.isnan(rows[0]).any()
    assert np.isfinite(rows[1]).all()


@pytest.mark.parametrize("kind", ["dense", "sparse", "by columns"])
@pytest.mark.parametrize("algorithm", cases.RUNS.values(), ids=cases.RUNS)
def test_a_run_without_them_is_the_same_to_rounding(algorithm, kind, monkeypatch):
    sites, init = cases.federation()
    turned = {"sparse": sparse.csr_array, "by columns": np.asfortranarray, "dense": np.asarray}
    sites = [turned[kind](own) for own in sites]
    compiled = cases.play(sites, algorithm, 5, init=init)
    monkeypatch.setattr(native, "kernels", dict)
    plain = cases.play(sites, algorithm, 5, init=init)
    cases.alike(compiled, plain)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_the_bits_do_not_depend_on_the_threads(threads):
    sites, init = cases.federation(sizes=(40, 3, 200, 90))
    problem, algorithm = fedmf.Problem(rank=cases.RANK), fedmf.FedMGS(q1=3, q2=4)
    runs = [
        fedmf.fit(sites, problem, algorithm, rounds=4, tol=0, init=init, threads=count)
        for count in (1, threads)
    ]
    np.testing.assert_array_equal(runs[0].W, runs[1].W)
