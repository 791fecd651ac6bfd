"""The starts: what leaves a site, what comes out, and that it is always the same."""

import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

import fedmf
from fedmf.algorithms.base import Given
from fedmf.engine import begin, rounds, set_up
from fedmf.private import gather
from fedmf.runtimes.local import LocalRuntime
from fedmf.starts import KMeans, Linkage, Random, begin_at, find, starts
from fedmf.starts.groups import MARGIN

FEATURES, RANK = 4, 3


class Watching:
    """A runtime that keeps every message of every site: as in a deployment, each has its host."""

    def __init__(self, sites):
        self.runtime, self.sites, self.uploads = LocalRuntime(sites, apart=True), len(sites), []

    def ask(self, method, goal, request):
        answer = self.runtime.ask(method, goal, request)
        self.uploads += list(zip([request] * self.sites, request.sites, answer.each, strict=True))
        return answer


def play(sites, start=None, rank=RANK, seed=0, problem=None, runtime=None):
    """Return (W0, H0, federation, goal) of a start; H0 is None where it is to be random."""
    runtime = runtime or LocalRuntime(sites)
    known, federation = set_up(runtime)
    goal = (problem or fedmf.Problem(rank)).goal(known)
    W = begin_at(start or Linkage(), goal, federation, sites[0].dtype, seed)
    hosts = getattr(runtime, "runtime", runtime)
    H = None if W is None else gather(hosts.privates()).H
    return W, H, federation, goal


def clusters(seed=0, sizes=(40, 30, 50), spread=0.05, dtype=np.float64):
    """Return sites with RANK clear directions, lengths from 1 to 3, and each sample's cluster."""
    random = np.random.default_rng(seed)
    directions = np.eye(RANK, FEATURES) + 0.1
    sites, labels = [], []
    for size in sizes:
        own = random.integers(RANK, size=size)
        rows = directions[own] + spread * random.random((size, FEATURES))
        sites.append((rows * random.uniform(1, 3, (size, 1))).astype(dtype))
        labels.append(own)
    return sites, labels


def unit(rows):
    """Return the rows that are not zero, scaled to length 1."""
    lengths = np.linalg.norm(rows, axis=1)
    return rows[lengths > 0] / lengths[lengths > 0, None]


def assert_no_sample(uploads, sites):
    """Assert that no row that a site sent is one of its samples, near one, or a multiple of one."""
    for request, site, update in uploads:
        samples = sites[site].astype(np.float64)
        rows = getattr(update, "rows", np.empty((0, FEATURES))).astype(np.float64)
        for row, size in zip(rows, getattr(update, "sizes", []), strict=True):
            assert not (samples == row).all(axis=1).any()
            np.testing.assert_array_less(1e-9, np.abs(samples - row * size).max(axis=1))
            apart = np.linalg.norm(unit(samples) - unit(row[None]), axis=1)
            assert apart.min() > MARGIN / 2
        # and nothing else is large enough to hold one
        assert request.task != "groups" or update.sizes.shape == (len(rows),)
        assert request.task != "assign" or len(update) == 0


# Hostile sites: few distinct canary rows, repeated; zeros, multiples, neighbours of one row.
small = st.integers(0, 3).map(float)
canary = st.lists(small, min_size=FEATURES, max_size=FEATURES)
factor = st.sampled_from([1.0, 1.0, 2.0, 1 + 1e-9, 1e-3])


@st.composite
def hostile(draw):
    def site():
        pool = draw(st.lists(canary, min_size=1, max_size=4))
        picks = draw(
            st.lists(st.tuples(st.integers(0, len(pool) - 1), factor), min_size=1, max_size=14)
        )
        return np.array([np.array(pool[place]) * times for place, times in picks])

    return [site() for _ in range(draw(st.integers(1, 3)))]


@given(hostile(), st.integers(2, 5), st.integers(0, 3))
@example([np.array([[1.0, 2, 3, 4]])], 2, 0)
@example([np.array([[1.0, 2, 3, 4]] * 8)], 5, 0)
@example([np.outer([1, 2, 3, 4, 6], [1.0, 2, 3, 4])], 5, 0)
@example([np.array([[0.0] * 4] * 9 + [[1.0, 2, 3, 4]])], 2, 0)
@example([np.eye(4) + 1], 4, 0)
@pytest.mark.parametrize("kind", [KMeans, Linkage])
def test_no_sample_leaves_a_site(kind, sites, n_min, seed):
    watching = Watching(sites)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # nobody may be able to send anything
        W, *_ = play(sites, kind(n_min=n_min), seed=seed, runtime=watching)
    assert W is None or W.shape == (FEATURES, RANK)
    tasks = {request.task for request, *_ in watching.uploads}
    assert tasks == ({"figures", "groups"} if W is None else {"figures", "groups", "assign"})
    assert_no_sample(watching.uploads, sites)


def test_small_sites_send_nothing_but_take_part(layout):
    sites, _ = clusters(sizes=(1, 2, 40))
    watching = Watching(sites)
    _, H, _, _ = play(sites, Linkage(n_min=5, groups=1), runtime=watching)
    sent = [len(update.rows) for request, _, update in watching.uploads if request.task == "groups"]
    assert sent[:2] == [0, 0]
    assert sent[2] == RANK
    assert H.shape == (RANK, 43)
    assert (H > 0).sum() == 43


def test_nobody_can_send_anything():
    sites = [np.random.default_rng(0).random((2, FEATURES)) for _ in range(3)]
    with pytest.warns(UserWarning, match=r"no site could send a group.*n_min=3.*random instead"):
        W, H, federation, goal = play(sites)
    assert W is None
    assert H is None
    algorithm = fedmf.FedMGS()
    position = begin(algorithm, goal, federation, 0, None, np.dtype(np.float64))
    wanted = fedmf.fit(sites, fedmf.Problem(RANK), algorithm, rounds=1, tol=0)
    assert position.objective == wanted.initial_objective


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_clear_directions_are_found(dtype, layout):
    sites, labels = clusters(dtype=dtype)
    W, H, _, goal = play(sites)
    assert W.dtype == H.dtype == dtype
    assert W.shape == (FEATURES, RANK)
    assert H.shape == (RANK, 120)
    assert H.min() >= 0
    assert (H > 0).sum(axis=0).max() == 1
    assert goal.known.minimum <= W.min() <= W.max() <= goal.known.maximum
    pairs = set(zip(np.concatenate(labels).tolist(), H.argmax(axis=0).tolist(), strict=True))
    assert len(pairs) == RANK  # one to one
    X = np.concatenate(sites).T
    assert np.linalg.norm(X - W @ H) < 0.1 * np.linalg.norm(X)


def test_H_is_the_best_for_its_one_entry():
    sites, _ = clusters(spread=0.5)
    W, H, _, _ = play(sites)
    X = np.concatenate(sites).T
    errors = [np.linalg.norm(X - np.outer(w, w @ X / (w @ w)), axis=0) for w in W.T]
    np.testing.assert_allclose(np.linalg.norm(X - W @ H, axis=0), np.min(errors, axis=0))


def test_the_same_from_every_layout_threads_and_order(monkeypatch):
    sites, _ = clusters(sizes=(9, 30, 12, 1))
    found = []
    for size in (0, 2**40):
        monkeypatch.setattr("fedmf.runtimes.local.COHORT_BYTES", size)
        for count in (1, 2):
            with fedmf.parallel.threads(count):
                found.append(play(sites, seed=5)[:2])
    for W, H in found[1:]:
        np.testing.assert_array_equal(W, found[0][0])
        # A block of one row and one of many may be multiplied in another order.
        np.testing.assert_allclose(H, found[0][1], rtol=4 * np.finfo(np.float64).eps)
    for alone, together in (found[:2], found[2:]):
        np.testing.assert_array_equal(alone[1], together[1])


def test_sparse_is_dense():
    sites, _ = clusters()
    sites = [np.where(own > 0.5, own, 0) for own in sites]
    dense, thin = play(sites), play([sparse.csr_array(own) for own in sites])
    np.testing.assert_allclose(thin[0], dense[0], rtol=1e-12)
    np.testing.assert_allclose(thin[1], dense[1], rtol=1e-12, atol=1e-14)


def test_what_is_sent_is_counted_in_round_0():
    sites, _ = clusters()
    _, _, federation, _ = play(sites, Linkage(groups=1))
    book = federation.ledger.frame().set_index("task")
    assert (book["round"] == 0).all()
    groups, assign = book.loc["groups"], book.loc["assign"]
    assert groups["counted_reals"].tolist() == [RANK * FEATURES] * 3
    assert (groups["uplink_bytes"] > RANK * FEATURES * 8).all()
    assert assign["uplink_reals"].sum() == 0
    assert (assign["downlink_bytes"] > FEATURES * RANK * 8).all()


def test_fewer_groups_than_columns():
    sites, _ = clusters(sizes=(6, 4))
    with pytest.warns(UserWarning, match="could send 3 groups for the start, fewer than the 5 cl"):
        W, H, _, _ = play(sites, rank=5)
    assert W.shape == (FEATURES, 5)
    assert np.isfinite(W).all()
    assert len(np.unique(W, axis=1).T) == 5
    assert H.shape == (5, 10)


def test_samples_of_zeros_have_no_part():
    sites, _ = clusters()
    padded = [np.concatenate([own, np.zeros((3, FEATURES))]) for own in sites]
    W, H, _, _ = play(padded)
    np.testing.assert_array_equal(W, play(sites)[0])
    assert not H[:, 40:43].any()


def test_free_factors_and_negative_data():
    sites, _ = clusters()
    sites = [own - 1 for own in sites]
    problem = fedmf.Problem(RANK, bounds="data", h_bounds="free")
    W, H, _, _ = play(sites, problem=problem)
    X = np.concatenate(sites).T
    assert np.linalg.norm(X - W @ H) < np.linalg.norm(X)


@pytest.mark.parametrize("algorithm", [fedmf.FedMGS(), fedmf.FedMAvg(), fedmf.FedPALM()])
def test_an_algorithm_goes_on_from_it(algorithm):
    sites, _ = clusters()
    W, H, federation, goal = play(sites)
    first = begin(algorithm, goal, federation, 0, W, W.dtype)
    loop = rounds(algorithm, goal, federation, first, 0)
    next(loop)
    assert next(loop).objective <= first.objective
    given_start = (W, np.split(H, [40, 70], axis=1))
    same = fedmf.fit(sites, fedmf.Problem(RANK), algorithm, rounds=1, tol=0, init=given_start)
    assert same.initial_objective == pytest.approx(first.objective)


def test_sites_end_with_their_own_H():
    sites, _ = clusters()
    runtime = LocalRuntime(sites)
    play(sites, runtime=runtime)
    assert all(isinstance(private, Given) for private in runtime.privates())


def test_random_asks_for_nothing():
    sites, _ = clusters()
    W, H, federation, _ = play(sites, Random())
    assert W is None
    assert H is None
    assert set(federation.ledger.frame()["task"]) == {"figures"}


def test_names():
    assert list(starts()) == ["kmeans", "linkage", "random"]
    assert find("linkage") == Linkage()
    assert find("kmeans:n_min=5,restarts=1") == KMeans(n_min=5, restarts=1)
    with pytest.raises(fedmf.FedMFError, match="init 'kmeans' has no setting 'n'; it has n_min, r"):
        find("kmeans:n=5")
    with pytest.raises(fedmf.FedMFError, match="n_min must be an integer of at least 2, got 1"):
        find("kmeans:n_min=1")
    with pytest.raises(
        fedmf.FedMFError, match="init must be one of kmeans, linkage, random; got 'kmean'"
    ):
        find("kmean")


@pytest.mark.parametrize(
    ("kind", "setting"),
    [(KMeans, "n_min"), (KMeans, "restarts"), (Linkage, "n_min"), (Linkage, "groups")],
)
def test_settings_that_cannot_be(kind, setting):
    with pytest.raises(fedmf.FedMFError, match=f"{setting} must be an integer of at least"):
        kind(**{setting: 0})
    with pytest.raises(fedmf.FedMFError, match="groups must be at most 3, got 4"):
        Linkage(groups=4)


def test_a_start_of_ones_own_settings():
    sites, _ = clusters(sizes=(4, 60))
    problem, algorithm = fedmf.Problem(RANK), fedmf.FedMGS()
    named = fedmf.fit(sites, problem, algorithm, rounds=1, init="linkage:n_min=5")
    made = fedmf.fit(sites, problem, algorithm, rounds=1, init=Linkage(n_min=5))
    other = fedmf.fit(sites, problem, algorithm, rounds=1, init="linkage")
    np.testing.assert_array_equal(named.W, made.W)
    assert not np.array_equal(named.W, other.W)
