"""Randomness: named streams from one seed, and nothing else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cases
import fedmf
from fedmf.algorithms.base import Begin, random_H, random_W
from fedmf.errors import ParameterError
from fedmf.rng import resolve_seed, stream
from fedmf.sites import Cohort


def test_a_stream_depends_on_seed_purpose_round_and_site():
    keys = [(0, "a"), (1, "a"), (0, "b"), (0, "a", 1), (0, "a", 0, 1), (0, "a", 1, 1), (2**62, "a")]
    drawn = [tuple(stream(*key).integers(2**60, size=4)) for key in keys]
    assert len(set(drawn)) == len(keys)


@given(st.permutations(range(6)))
def test_a_stream_does_not_depend_on_the_order_of_the_calls(order):
    wanted = [stream(3, "x", round_=k // 2, site=k % 2).random() for k in range(6)]
    got = {k: stream(3, "x", round_=k // 2, site=k % 2).random() for k in order}
    assert [got[k] for k in range(6)] == wanted


def test_streams_are_those_of_this_version_for_ever():
    """A saved run draws the same sites when it is gone on with years later."""
    assert stream(0, "participants", 1).integers(1000, size=5).tolist() == [751, 47, 128, 581, 623]


def test_each_site_starts_from_a_stream_of_its_own():
    sizes = np.array([1, 4, 9, 2])
    order = Begin(np.float64(1.0), np.int64(5))
    edges = np.concatenate([[0], np.cumsum(sizes)])
    together = random_H(3, order, Cohort((np.zeros((16, 7)),), np.arange(4), edges))
    alone = [random_H(3, order, Cohort.of(np.zeros((n, 7)), site=p)) for p, n in enumerate(sizes)]
    np.testing.assert_array_equal(together, np.hstack(alone))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_random_start_is_uniform_below_a(dtype):
    """a = sqrt(mean|X| / K) = 1/2 for X = 1 and K = 4; 1600 draws reach both ends of it."""
    run = cases.play([np.ones((10, 400), dtype)], fedmf.FedMGS(), 1, fedmf.Problem(4))
    W = random_W(run.goal, np.dtype(dtype), 0)
    assert W.dtype == dtype
    assert W.shape == (400, 4)
    assert 0 <= W.min() < 0.025 < 0.475 < W.max() < 0.5


# ------------------------------------------------------------------ whole runs


@pytest.fixture
def mixed(monkeypatch):
    """Sites of which some share a cohort, some have one, and some have several blocks."""
    monkeypatch.setattr("fedmf.runtimes.local.COHORT_BYTES", 40_000)
    monkeypatch.setattr("fedmf.blocks.LARGE", 50_000)
    monkeypatch.setattr("fedmf.blocks.SMALL", 10_000)
    return cases.federation(sizes=[1, 3, 2500, 8, 5, 600, 2], features=9)[0]


@pytest.mark.parametrize("algorithm", cases.RUNS.values(), ids=cases.RUNS)
def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(algorithm, mixed):
    one = cases.play(mixed, algorithm, 3, seed=7, threads=1)
    for threads in (2, 5):
        cases.same(cases.play(mixed, algorithm, 3, seed=7, threads=threads), one)


@pytest.mark.parametrize("threads", [1, 3])
def test_cohorts_over_the_limit_give_the_same_bits(threads, mixed, monkeypatch):
    algorithm = fedmf.FedMAvg(q1=2, q2=3, participants=4)
    one = cases.play(mixed, algorithm, 3, threads=1)
    monkeypatch.setattr("fedmf.runtimes.local.LARGE_COHORT", 1000)
    cases.same(cases.play(mixed, algorithm, 3, threads=threads), one)


def test_different_seeds_give_different_runs(sites):
    algorithm = fedmf.FedMGS(participants=2)
    one, other = (cases.play(sites, algorithm, 8, seed=seed) for seed in (0, 1))
    assert abs(one.W - other.W).max() > 1e-6
    assert one.history["participants"].tolist() != other.history["participants"].tolist()


def test_no_seed_draws_one_that_the_run_records(sites):
    one, other = (cases.play(sites, fedmf.FedMGS(), 2, seed=None) for _ in range(2))
    assert one.seed != other.seed
    cases.same(cases.play(sites, fedmf.FedMGS(), 2, seed=one.seed), one)


@pytest.mark.parametrize("seed", [0, 5, np.int64(7), np.uint8(200), 2**63 - 1])
def test_seeds(seed, sites):
    assert resolve_seed(seed) == seed
    assert type(resolve_seed(seed)) is int
    assert cases.play(sites, fedmf.FedMGS(), 1, seed=seed).seed == seed


@pytest.mark.parametrize("seed", [-1, "a", True, 2.0, 2**63, np.int64(-3), [1]])
def test_what_is_not_a_seed_is_refused(seed):
    with pytest.raises(ParameterError, match=r"^seed must be an integer from 0 to .*, got"):
        resolve_seed(seed)
