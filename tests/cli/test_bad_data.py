"""Data that a command cannot use, or that look as if it could not: one line, or the right run."""

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import sparse

import fedmf
from fedmf.cli import main

NUMBERS = np.random.default_rng(0).integers(1, 9, (12, 5)).astype(float)


def with_entry(value):
    bad = NUMBERS.copy()
    bad[6, 2] = value
    return bad


def fit(data, tmp_path, *more):
    """Save the data and call `fedmf fit` on them."""
    path = tmp_path / ("x.npz" if sparse.issparse(data) else "x.npy")
    if sparse.issparse(data):
        sparse.save_npz(path, data)
    else:
        np.save(path, data, allow_pickle=True)
    args = ["fit", path, "--rank", 3, "--rounds", 3, "--out", tmp_path / "run", *more]
    return CliRunner().invoke(main, [str(arg) for arg in args], catch_exceptions=False)


@pytest.mark.parametrize(
    ("data", "more", "said"),
    [
        (with_entry(np.nan), (), "x.npy: row 7, column 3 is nan, not a finite number"),
        (with_entry(-np.inf), (), "x.npy: row 7, column 3 is -inf, not a finite number"),
        (sparse.csr_matrix(with_entry(np.nan)), (), "x.npz: row 7, column 3 is nan, not a finite"),
        (with_entry(-2), ("--bounds", "nonnegative"), "the data hold negative values (smallest -2"),
        (with_entry(1e200), (), "are too large, their squares do not add up to a finite number"),
        (NUMBERS[:0], (), "x.npy: the array must have two dimensions (samples, features) of at"),
        (NUMBERS[:, :0], (), "x.npy: the array must have two dimensions (samples, features) of at"),
        (NUMBERS[0], (), "x.npy: the array must have two dimensions (samples, features) of at"),
        (np.full((3, 2), "a"), (), "x.npy: the array holds str32; allowed are real numbers"),
        (NUMBERS * 1j, (), "x.npy: the array holds complex128; allowed are real numbers"),
        (NUMBERS.astype(object), (), "x.npy: it holds Python objects, which are never loaded"),
        (NUMBERS, ("--rank", 0), "rank must be an integer of at least 1, got 0"),
        (NUMBERS, ("--q1", 0), "q1 must be an integer of at least 1, got 0"),
        (NUMBERS, ("--participants", 2), "participants must be at most the number of sites, 1"),
        (NUMBERS, ("--partition", "iid", "--n-sites", 13), "n_sites must be an integer from 1 to"),
    ],
)
def test_one_line_says_what_is_wrong(data, more, said, tmp_path):
    result = fit(data, tmp_path, *more)
    assert result.exit_code == 2
    (line,) = [text for text in result.stderr.splitlines() if not text.startswith("note: ")]
    assert line.startswith("error: ")
    assert said in line


@pytest.mark.parametrize(
    "data",
    [
        NUMBERS.astype(int),
        NUMBERS.astype(np.uint8),
        NUMBERS > 4,
        np.asfortranarray(NUMBERS),
        NUMBERS.astype(">f8"),
        NUMBERS.astype(np.float16),
        NUMBERS.astype(np.float32),
        NUMBERS[:1],
        NUMBERS[:2, :1],
        sparse.csr_matrix(NUMBERS),
    ],
    ids=lambda data: f"{data.dtype} {data.shape}",
)
def test_what_can_be_used_gives_the_run_of_fit(data, tmp_path):
    """Three columns of W are more than the features or the samples of some of them."""
    result = fit(data, tmp_path)
    assert result.exit_code == 0, result.output
    found = fedmf.load(tmp_path / "run")
    wanted = fedmf.fit([data], fedmf.Problem(rank=3), fedmf.FedMGS(), rounds=3)
    assert found.W.dtype == wanted.W.dtype
    np.testing.assert_array_equal(found.W, wanted.W)
