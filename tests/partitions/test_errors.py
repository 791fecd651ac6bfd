"""A mistake gets one line that names the thing, what is allowed and what came."""

from __future__ import annotations

import numpy as np
import pandas
import pytest

from fedmf.errors import FedMFError, ParameterError
from fedmf.partitions import describe, options, partition, split

X = np.arange(12.0).reshape(6, 2)
LABELS = [0, 1, 0, 1, 0, 1]


def message(call, kind=ParameterError):
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    return text


def refusal(name, *given, **options):
    return message(lambda: partition(name, *given, **options), FedMFError)


def test_an_unknown_name_lists_the_known_ones_and_the_likely_one():
    text = refusal("kmean", X)
    assert "column, digits-two, dirichlet, iid, kmeans, nearest, power-law" in text
    assert text.endswith("got 'kmean'; did you mean 'kmeans'?")
    assert "_rows" not in refusal("_rows", X).split("got")[0]


def test_a_name_may_be_written_as_its_file_is():
    assert options("digits_two") == options("digits-two") == {"exponent": 1.5}


def test_an_unknown_option_names_the_known_ones():
    text = refusal("dirichlet", X, LABELS, 2, alhpa=1)
    assert text == (
        "partition 'dirichlet' has no option 'alhpa'; did you mean 'alpha'? (allowed: alpha)"
    )
    assert refusal("iid", X, n_sites=2, alpha=1).endswith("(allowed: none)")


@pytest.mark.parametrize("name", ["dirichlet", "digits-two"])
def test_missing_labels_say_which_argument(name):
    assert refusal(name, X, n_sites=2).endswith("pass labels=...")


@pytest.mark.parametrize("n_sites", [0, -1, 7, 2.0, True, "3"])
def test_the_number_of_sites_has_its_range(n_sites):
    text = refusal("iid", X, n_sites=n_sites)
    assert text == (
        f"n_sites must be an integer from 1 to the number of samples (6), got {n_sites!r}"
    )


def test_too_few_samples_for_the_default_of_100_sites():
    assert refusal("iid", X).endswith("number of samples (6), got 100")


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("dirichlet", "alpha", 0),
        ("dirichlet", "alpha", float("nan")),
        ("dirichlet", "alpha", "1"),
        ("digits-two", "exponent", -1),
        ("power-law", "exponent", float("inf")),
        ("power-law", "exponent", True),
        ("kmeans", "iterations", 0),
        ("kmeans", "iterations", 1.5),
        ("kmeans", "fit_rows", 0),
    ],
)
def test_an_option_out_of_range_is_named(name, option, value):
    text = refusal(name, X, LABELS, 2, **{option: value})
    assert text.startswith(f"{option} must be ")
    assert text.endswith(f"got {value!r}")


def test_labels_and_columns_are_checked_against_the_samples():
    assert "labels must hold one value for each of the 6" in refusal("dirichlet", X, [0, 1], 2)
    assert refusal("column", X).endswith("pass column=...")
    gap = ["a", None, "b", "a", "b", "a"]
    assert "column has no value in row 1" in refusal("column", X, column=gap)
    unknown = pandas.Series(["a", "b", None, "a", "b", "a"], dtype="string")
    assert "column has no value in row 2" in refusal("column", X, column=unknown)
    nan = [0.0, 1.0, 2.0, np.nan, 1.0, 1.0]
    assert "column has no value in row 3" in refusal("column", X, column=nan)
    mixed = np.array(["a", 1, "b", 1, 1, 1], dtype=object)
    assert "column mixes kinds of values" in refusal("column", X, column=mixed)
    assert "number of ids in the column, 2, got 3" in refusal("column", X, None, 3, column=LABELS)


def test_more_classes_than_two_a_site():
    text = refusal("digits-two", X, [0, 1, 2, 3, 4, 4], 2)
    assert "at least half the number of classes (5)" in text


@pytest.mark.parametrize("name", ["kmeans", "nearest"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_value_that_cannot_be_squared_is_placed(name, bad):
    broken = np.ones((8, 2))
    broken[3, 1] = bad
    assert refusal(name, broken, n_sites=3).startswith("X has a value in row 3 that is not finite")


def test_a_broken_row_is_placed_where_only_some_rows_are_fitted():
    broken = np.ones((50, 2))
    broken[20:] = np.nan
    assert "X has a value in row 2" in refusal("kmeans", broken, n_sites=2, fit_rows=40)


@pytest.mark.parametrize("wrong", [np.zeros(3), np.zeros((0, 2)), np.zeros((2, 2, 2))])
def test_the_shape_of_the_data(wrong):
    assert f"got shape {wrong.shape}" in refusal("iid", wrong, n_sites=1)


def test_data_that_is_not_numbers():
    assert "dtype" in refusal("iid", np.array([["a", "b"]]), n_sites=1)
    assert "dtype" in refusal("iid", np.zeros((2, 2), complex), n_sites=1)


@pytest.mark.parametrize(
    "sites",
    [
        [[0, 1], [1, 2, 3, 4, 5]],
        [[0, 1, 2], [3, 4]],
        [[0, 1, 2], [3, 4, 6]],
        [[0, 1, 2], [3, 4, -1]],
        [[0, 1, 2, 3, 4, 5], []],
        [[0, 1, 2], [3.0, 4.0, 5.0]],
        [],
    ],
)
def test_sites_that_are_no_partition_are_not_described(sites):
    assert "sites must" in message(lambda: describe(X, sites), FedMFError)


def test_what_a_description_refuses(tmp_path):
    sites = [np.arange(3), np.arange(3, 6)]
    assert "rank must be" in message(lambda: describe(X, sites, rank=0))
    assert "labels must hold" in message(lambda: describe(X, sites, [1, 2]), FedMFError)
    broken = X.copy()
    broken[5, 0] = np.nan
    assert "rows 0 to 5" in message(lambda: describe(broken, sites), FedMFError)
    text = message(lambda: describe(X, sites).picture(tmp_path / "a.gif"))
    assert text == "a picture's path must end in .pdf, .png, .svg, got a.gif"


def test_split_does_not_load_a_large_map(tmp_path, monkeypatch):
    monkeypatch.setattr("fedmf.partitions._split.MOST_COPIED", 50)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    sites = [np.array([0, 2, 4]), np.array([1, 3, 5])]
    assert "lazy=True" in message(lambda: split(mapped, sites), FedMFError)
    assert len(split(mapped, sites, lazy=True)) == len(split(X, sites)) == 2
    assert len(split(mapped, [np.arange(3), np.arange(3, 6)])) == 2
