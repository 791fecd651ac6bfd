"""Alignment by name: what it gives, and what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from fedmf.errors import DataError, InputTypeError, ParameterError, SiteMismatchError
from fedmf.preparation import FederatedAlign, make
from preparation.partitioned import FarSites, dense

A = pd.DataFrame({"b": [1.0, 2.0], "a": [3.0, 4.0], "c": [5.0, 6.0]})
B = pd.DataFrame({"c": [7.0], "d": [8.0], "b": [9.0]})
NAMES = [["b", "a", "c"], ["c", "d", "b"]]


def refusal(kind, *given, how="intersection", **more):
    with pytest.raises(kind) as caught:
        FederatedAlign(how).fit(*given, **more)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_the_intersection_is_in_the_order_of_the_first_site():
    align = FederatedAlign().fit([A, B])
    assert align.features_ == ["b", "c"] == list(align.get_feature_names_out())
    first, second = align.transform([A, B])
    assert first.tolist() == [[1, 5], [2, 6]]
    assert second.tolist() == [[9, 7]]
    assert FederatedAlign().fit([B, A]).features_ == ["c", "b"]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("make_rows", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_the_union_is_in_the_order_of_appearance_with_zeros(dtype, make_rows):
    sites = [make_rows(own.to_numpy(dtype)) for own in (A, B)]
    align = FederatedAlign("union").fit(sites, features=NAMES)
    assert align.features_ == ["b", "a", "c", "d"]
    first, second = align.transform(sites, features=NAMES)
    assert dense(first).tolist() == [[1, 3, 5, 0], [2, 4, 6, 0]]
    assert dense(second).tolist() == [[9, 0, 7, 8]]
    assert first.dtype == second.dtype == dtype
    assert sparse.issparse(first) == (make_rows is not np.asarray)
    assert not sparse.issparse(second) or (second.nnz == 3 and second.has_sorted_indices)


@given(st.lists(st.lists(st.sampled_from("abcdefg"), min_size=1, unique=True), min_size=1))
def test_it_is_the_concatenation_of_data_frames(names):
    frames = [
        pd.DataFrame(10.0 * site + np.arange(2 * len(own)).reshape(2, -1) + 1, columns=own)
        for site, own in enumerate(names)
    ]
    for how, join in (("union", "outer"), ("intersection", "inner")):
        pooled = pd.concat(frames, join=join, ignore_index=True).fillna(0.0)
        align = FederatedAlign(how)
        if pooled.shape[1] == 0:
            assert "leave one out" in refusal(SiteMismatchError, frames)
            continue
        found = pd.DataFrame(np.vstack(align.fit_transform(frames)), columns=align.features_)
        pd.testing.assert_frame_equal(found[list(pooled.columns)], pooled)


def test_every_name_travels_and_is_counted():
    far = FarSites("align", [A.to_numpy(), B.to_numpy()])
    for host, own in zip(far.hosts, NAMES, strict=True):
        object.__setattr__(host.data, "features", tuple(own))
    ledger = make("align").fit_over(far).ledger_.frame()
    up = ledger[ledger.task == "names"].uplink_bytes
    assert (up >= len(b'["b", "a", "c"]')).all()
    assert ledger.groupby("site").uplink_bytes.sum().tolist() == far.up.tolist()


def test_names_of_any_characters_pass():
    names = ["a\nb", 'say "c"', "π"]
    align = FederatedAlign().fit([A.to_numpy()], features=[names])
    assert align.features_ == names


def test_new_sites_are_aligned_to_what_was_fitted():
    new = pd.DataFrame({"z": [1.0], "c": [2.0]})
    assert FederatedAlign("union").fit([A, B]).transform(new).tolist() == [[0, 0, 2, 0]]
    with pytest.raises(SiteMismatchError, match="site 0 has no feature 'b', which all fitted"):
        FederatedAlign().fit([A, B]).transform(new)


def test_two_sites_that_share_nothing_are_named():
    other = pd.DataFrame({"x": [1.0], "y": [2.0]})
    text = refusal(SiteMismatchError, [A, B, other])
    assert text == (
        "sites 0 and 2 have no feature in common ('b', ... and 'x', ...): leave one out, "
        'or use how="union"'
    )


def test_sites_that_share_something_only_two_by_two_are_told_so():
    sites = [np.ones((1, 2))] * 3
    text = refusal(SiteMismatchError, sites, features=[["a", "b"], ["b", "c"], ["c", "a"]])
    assert "site 2 has none of the 1 features that sites 0 to 1 share ('b', ...)" in text


def test_bad_names_are_refused():
    doubled = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    assert refusal(DataError, [A, doubled]) == "site 1: 2 features are named 'a'"
    assert "site 1: its features have no names" in refusal(DataError, [A, B.to_numpy()])
    X = A.to_numpy()
    assert "site 0: features must hold 3 names" in refusal(ParameterError, X, features=["a"])
    assert "features must be a list of names" in refusal(InputTypeError, X, features=[1, 2, 3])
    text = refusal(ParameterError, [X, X, X], features=NAMES)
    assert text == "features must be a list of names for each of the 3 sites, got 2"
    assert "how must be one of 'intersection', 'union'" in refusal(ParameterError, [A], how="any")
