"""A mistake gets one line that names the thing, what is allowed and what came."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from fedmf.errors import (
    DataError,
    FedMFError,
    InputError,
    InputTypeError,
    NonFiniteError,
    ParameterError,
    SiteMismatchError,
)
from fedmf.preparation import make

X = np.arange(1.0, 13.0).reshape(6, 2)
Y = np.array(list("aabbcc"))
SPARSE = sparse.csr_array(X)


def refusal(kind, name, *given, sites=None, features=None, **options):
    with pytest.raises(FedMFError) as caught:
        make(name, **options).fit(*given, sites=sites, features=features)
    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "options", "kind", "text"),
    [
        ("min-max", {"feature_range": (1, 1)}, ParameterError, "a pair a < b, got (1, 1)"),
        ("min-max", {"feature_range": 3}, InputTypeError, "feature_range must be a pair, got 3"),
        ("tfidf", {"norm": "max"}, ParameterError, "norm must be 'l1', 'l2' or None; got"),
        ("select", {"score": "f"}, ParameterError, "score must be one of 'chi2', 'variance'; got"),
        ("select", {"k": 0}, ParameterError, "k must be an integer of at least 1, got 0"),
        ("select", {"k": 3}, ParameterError, "at least 1 and at most 2, got 3"),
        ("select", {"threshold": -1}, ParameterError, "threshold must be a number of at least 0"),
        ("select", {"k": 1, "threshold": 1}, ParameterError, "give k or threshold, not both"),
    ],
)
def test_options(name, options, kind, text):
    assert text in refusal(kind, name, X, Y, **options)


def test_sparse_data_that_would_not_stay_sparse():
    text = refusal(InputTypeError, "min-max", [SPARSE, SPARSE])
    assert text.startswith("site 0: min-max scaling of sparse data would fill them up; use Fed")
    text = refusal(InputError, "standard", SPARSE)
    assert text == "site 0: centering sparse data would fill them up; pass with_mean=False"
    for name in ("min-max", "standard"):
        with pytest.raises((TypeError, ValueError), match=r"site 1: .* would fill them up"):
            make(name).fit(X).transform([X, SPARSE])


def test_sparse_and_dense_sites_together():
    text = refusal(SiteMismatchError, "max-abs", [X, SPARSE])
    assert text == "site 1 is sparse, site 0 is dense: pass all sites sparse or all dense"


def test_the_sites_of_rows():
    text = refusal(DataError, "log1p", X, sites=[1, 2])
    assert text == "sites must hold a site id for each row of X, 6 in all; got 2"
    text = refusal(DataError, "log1p", X, sites=["a", None, "b", "b", "b", "b"])
    assert text == "sites: row 1 has no site id"
    text = refusal(ParameterError, "log1p", [X, X], sites=[0, 1])
    assert text == "sites must be None where X is a list with an array for each site"
    assert "hashable" in refusal(InputTypeError, "log1p", X, sites=[[1]] * 6)
    assert "sites must" in refusal(InputTypeError, "log1p", X, sites=3)


def test_labels():
    name = "select"
    assert refusal(ParameterError, name, X) == "this FederatedSelect needs labels: pass y"
    assert "a label for each of the 6 rows" in refusal(ParameterError, name, X, Y[:3])
    assert "labels of each of the 2 sites" in refusal(ParameterError, name, [X, X], [Y])
    assert "site 1: y must hold" in refusal(ParameterError, name, [X, X], [Y, Y[:1]])
    with_gap = np.array(["a", None, "b", "b", "b", "b"], dtype=object)
    assert refusal(DataError, name, X, with_gap) == "y: row 1 has no label"
    text = refusal(DataError, name, [X, X], [Y[:1].repeat(6)] * 2)
    assert text == "chi2 needs at least two classes; all sites have only 'a'"
    text = refusal(SiteMismatchError, name, [X, X], [Y, np.arange(6)])
    assert text.startswith("site 1: labels must be all text or all numbers, at every site alike")
    mixed = np.array(["a", 1] * 3, dtype=object)
    assert "site 0: labels must be all text" in refusal(SiteMismatchError, name, X, mixed)
    text = refusal(DataError, name, [X, X], [np.arange(6), np.arange(6) + 0.5])
    assert text == "site 1: label 0.5 is no class, but a measurement"
    odd = np.array([(1,), (2,)] * 3 + [None], dtype=object)[:-1]
    assert "a label must be a number or text" in refusal(InputTypeError, name, X, odd)


def test_entries_outside_the_domain():
    bad = [X, X - 5]
    text = refusal(DataError, "log1p", bad)
    assert text == "site 1: -4.0 at row 0, column 0: log(1 + x) needs entries above -1"
    text = refusal(DataError, "select", bad, [Y, Y])
    assert text == "site 1: -4.0 at row 0, column 0: chi2 needs entries of at least zero"
    small = np.array([[0, 0], [0, -1.0]])
    text = refusal(DataError, "log1p", [small[:1], sparse.csr_array(small)][1:])
    assert text.startswith("site 0: -1.0 at row 1, column 1")
    with pytest.raises(DataError, match=r"site 1: -4.0 at row 0, column 0: sublinear_tf needs"):
        make("tfidf", sublinear_tf=True).fit(X).transform(bad)


def test_a_word_without_weight():
    fitted = make("tfidf", smooth_idf=False).fit(X * [1, 0])
    assert fitted.transform(X * [1, 0]).toarray().tolist() == [[1, 0]] * 6
    with pytest.raises(DataError, match=r"site 0: row 0 has feature 1, which occurs in no fitted"):
        fitted.transform(X)


def test_nothing_is_chosen():
    text = refusal(DataError, "select", X, Y, threshold=1e6)
    assert text == "no feature has a chi2 above the threshold 1e+06"


def test_numbers_too_large_to_add_up():
    text = refusal(NonFiniteError, "standard", [X * 1e200, X * 1e200])
    assert "site 0: 'spread' left the finite numbers" in text


def test_a_site_without_labels_behind_a_runtime():
    from fedmf.runtimes.local import LocalRuntime

    with pytest.raises(DataError, match="site 0 has no labels: chi2 needs them"):
        make("select").fit_over(LocalRuntime([X]))
