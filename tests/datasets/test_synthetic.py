import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fedmf import datasets
from fedmf.datasets import synthetic
from fedmf.errors import ParameterError


def _clean(made):
    centres = np.vstack([made.W.T, np.zeros(made.W.shape[0])])
    return centres[made.cluster]


def _snr(made):
    signal = _clean(made)
    return 10 * np.log10((signal**2).sum() / ((made.X - signal) ** 2).sum())


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    M=st.integers(10, 40),
    N=st.integers(4, 60),
    K=st.integers(1, 4),
    snr=st.floats(-40, 60),
    sizes=st.sampled_from(["equal", "uneven"]),
)
def test_the_snr_is_met(seed, M, N, K, snr, sizes):
    made = synthetic.generate(seed, M=M, N=N, K=K, snr=snr, sizes=sizes)
    assert abs(_snr(made) - snr) < 1e-9
    assert made.X.min() >= 0


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 2**32), snr=st.floats(-40, 40), N=st.integers(50, 120))
def test_rounding_to_float32_does_not_cost_the_snr(seed, snr, N):
    options = {"M": 40, "N": N, "K": 3, "snr": snr, "unclustered": 0.1}
    made = synthetic.generate(seed, **options, dtype=np.float32)
    assert made.X.dtype == np.float32
    assert abs(_snr(made) - snr) < 1e-9
    near = synthetic.generate(seed, **options)
    np.testing.assert_allclose(made.X, near.X, rtol=0, atol=1e-6 * (1 + made.scale))


def test_what_float32_misses_is_made_up_in_any_block(monkeypatch):
    monkeypatch.setattr("fedmf.datasets._table.BLOCK", 80)
    made = synthetic.generate(3, M=40, N=50, K=2, snr=50.0, dtype=np.float32)
    assert abs(_snr(made) - 50) < 1e-9


def test_the_snr_is_met_with_unclustered_samples():
    options = {"M": 300, "N": 500, "K": 5, "snr": -3.0, "unclustered": 0.1}
    double = synthetic.generate(1, **options)
    assert abs(_snr(double) + 3) < 1e-9


def test_each_entry_is_the_clipped_sum():
    made = synthetic.generate(3, M=6, N=9, K=2, snr=0.0)
    noise = np.random.Generator.standard_normal(synthetic.stream(3, "synthetic/E"), (9, 6))
    expected = np.maximum(0, _clean(made) + made.scale * noise)
    np.testing.assert_array_equal(made.X, expected)


def test_noise_that_is_clipped_away_altogether_cannot_meet_the_snr():
    with pytest.raises(
        ParameterError, match=r"snr -3\.0 dB cannot be met by so few entries, \(2, 3"
    ):
        synthetic.noise_scale(-np.ones((2, 3)), np.ones((1, 3)), np.zeros(2, int), -3.0)


def test_no_noise_gives_the_centres():
    made = synthetic.generate(0, M=4, N=6, K=3, snr=np.inf)
    np.testing.assert_array_equal(made.X, _clean(made))


def test_the_paper_preset_has_its_shares():
    table = datasets.load("synthetic", preset="paper", M=30, N=1000, K=20, seed=5)
    assert table.X.shape == (1000, 30)
    assert (table.labels == 0).sum() == 100
    assert sorted(set(table.labels)) == list(range(21))
    assert len(set(np.bincount(table.labels)[1:])) > 5  # uneven
    made = synthetic.generate(5, M=30, N=1000, K=20, snr=-3, **synthetic.PRESETS["paper"])
    assert made.outlier.sum() == 30
    assert made.X[made.outlier].max() > 4
    np.testing.assert_array_equal(table.X, made.X)


def test_outliers_change_nothing_else():
    options = {"M": 20, "N": 100, "K": 4, "snr": -3.0}
    without = synthetic.generate(2, **options)
    made = synthetic.generate(2, **options, outliers=0.1)
    kept = ~made.outlier
    assert kept.sum() == 90
    np.testing.assert_array_equal(made.X[kept], without.X[kept])
    assert (made.X[made.outlier] <= 5).all()


def test_clean_by_default():
    table = datasets.load("synthetic", M=10, N=40, K=4)
    assert np.bincount(table.labels).tolist() == [0, 10, 10, 10, 10]


def test_the_label_of_unclustered_samples_can_be_the_published_one():
    table = datasets.load("synthetic", M=5, N=40, K=4, unclustered=0.5, unclustered_label=1)
    assert np.bincount(table.labels).tolist() == [0, 25, 5, 5, 5]


def test_same_seed_same_bits_and_blocks_do_not_matter(monkeypatch):
    options = {"preset": "paper", "M": 50, "N": 200, "K": 4, "seed": 9}
    first = datasets.load("synthetic", **options)
    monkeypatch.setattr("fedmf.datasets._table.BLOCK", 700)
    second = datasets.load("synthetic", **options)
    np.testing.assert_array_equal(first.X, second.X)
    other = datasets.load("synthetic", **(options | {"seed": 10}))
    assert not np.array_equal(first.X, other.X)


def test_an_unset_seed_is_drawn_and_recorded():
    first, second = (datasets.load("synthetic", M=3, N=6, K=2, seed=None) for _ in range(2))
    assert not np.array_equal(first.X, second.X)
    seed = int(first.source.split("seed ")[1].split(",")[0])
    again = datasets.load("synthetic", M=3, N=6, K=2, seed=seed)
    np.testing.assert_array_equal(first.X, again.X)


def test_memory_stays_under_twice_the_matrix():
    tracemalloc.start()
    try:
        made = synthetic.generate(0, M=1000, N=3000, K=10, snr=-3, **synthetic.PRESETS["paper"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * made.X.nbytes


@given(st.integers(0, 1000), st.integers(1, 12), st.integers(0, 200))
def test_cluster_sizes_cover_the_samples(seed, K, more):
    for sizes in ("equal", "uneven"):
        counts = synthetic.cluster_sizes(seed, K + more, K, sizes)
        assert sum(counts) == K + more
        assert min(counts) >= 1


def test_cluster_sizes_by_weight():
    assert synthetic.cluster_sizes(0, 103, 3, [1, 1, 2]) == [26, 26, 51]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"preset": "papre"}, "preset must be one of clean, paper, got 'papre'"),
        ({"M": 0}, "M must be a whole number of at least 1, got 0"),
        ({"K": True}, "K must be a whole number of at least 1, got True"),
        ({"N": 10, "K": 11}, "K must be at most the 10 clustered samples, got 11"),
        ({"outliers": 1.5}, "outliers must be a share in [0, 1), got 1.5"),
        ({"unclustered": "x"}, "unclustered must be a share in [0, 1), got 'x'"),
        ({"snr": float("nan")}, "snr must be a number of dB over -300, got nan"),
        ({"dtype": "int32"}, "dtype must be float32 or float64, got 'int32'"),
        ({"dtype": "nonsense"}, "dtype must be float32 or float64, got 'nonsense'"),
        ({"sizes": "odd"}, "sizes must be equal, uneven or K weights, got 'odd'"),
        ({"K": 2, "sizes": [1, 0]}, "sizes must be 2 positive weights, got [1, 0]"),
        ({"seed": -1}, "seed must be "),
        ({"shape": 1}, "data set 'synthetic' has no option 'shape'"),
    ],
)
def test_what_cannot_be_made(options, text):
    with pytest.raises(ParameterError) as error:
        datasets.load("synthetic", **options)
    assert text in str(error.value)
    assert "\n" not in str(error.value)
