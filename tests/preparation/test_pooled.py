"""Every preparation against scikit-learn's on the pooled data, for drawn data and partitions.

Minima, maxima and counts of samples are exact sums, so what is made of them is compared bit by bit.
Sums of N numbers carry at most N eps of their size (eps: of double precision), here and there, so
two of them differ by twice that; `N + 8` allows for the few operations after the sum.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.feature_selection import SelectKBest, VarianceThreshold, chi2
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, StandardScaler

from fedmf.preparation import (
    FederatedLog1p,
    FederatedMaxAbsScaler,
    FederatedMinMaxScaler,
    FederatedSelect,
    FederatedStandardScaler,
    FederatedTfidf,
)
from preparation.partitioned import EPS, Dealt, FarSites, dealt, dense

SETTINGS = settings(max_examples=40, deadline=None, derandomize=True, database=None)


def same(ours, theirs, data, tolerance=0.0):
    """Compare what comes out for the sites with what comes out for the pooled data."""
    found = np.vstack([dense(own) for own in ours.transform(data.sites)])
    wanted = dense(theirs.transform(data.X))
    assert found.dtype == wanted.dtype
    assert (np.abs(found - wanted) <= tolerance).all()


@given(dealt(storage=("dense",)), st.sampled_from([(0, 1), (-3, 0.1)]), st.booleans())
@SETTINGS
def test_min_max(data, feature_range, clip):
    ours = FederatedMinMaxScaler(feature_range, clip).fit(data.sites)
    theirs = MinMaxScaler(feature_range=feature_range, clip=clip).fit(data.X)
    for name in ("data_min_", "data_max_", "data_range_", "scale_", "min_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name), strict=True)
    assert ours.n_samples_seen_ == theirs.n_samples_seen_
    same(ours, theirs, data)
    back = ours.inverse_transform(data.stacked)
    np.testing.assert_array_equal(back, theirs.inverse_transform(data.stacked), strict=True)
    beyond = [own * 2 - 1 for own in data.sites]
    np.testing.assert_array_equal(
        np.vstack(ours.transform(beyond)), theirs.transform(np.vstack(beyond)), strict=True
    )


@given(dealt())
@SETTINGS
def test_max_abs(data):
    data = data._replace(X=-data.X)
    ours, theirs = FederatedMaxAbsScaler().fit(data.sites), MaxAbsScaler().fit(data.X)
    np.testing.assert_array_equal(ours.max_abs_, theirs.max_abs_, strict=True)
    np.testing.assert_array_equal(ours.scale_, theirs.scale_, strict=True)
    same(ours, theirs, data)
    back, wanted = (dense(own.inverse_transform(data.X)) for own in (ours, theirs))
    np.testing.assert_array_equal(back, wanted, strict=True)


@given(dealt())
@SETTINGS
def test_log1p(data):
    theirs = FunctionTransformer(np.log1p, accept_sparse=True, validate=True).fit(data.X)
    same(FederatedLog1p().fit(data.sites), theirs, data)


@given(dealt(whole=True), st.booleans(), st.booleans(), st.sampled_from(["l1", "l2", None]))
@SETTINGS
def test_tfidf(data, sublinear, smooth, norm):
    ours = FederatedTfidf(sublinear, smooth, norm).fit(data.sites)
    theirs = TfidfTransformer(norm=norm, smooth_idf=smooth, sublinear_tf=sublinear)
    with np.errstate(divide="ignore"):
        theirs.fit(data.X)
    np.testing.assert_array_equal(ours.idf_, theirs.idf_, strict=True)
    same(ours, theirs, data)


def moments_bound(data):
    """Return by how much two computations of mean and of variance may differ, (M,) each.

    In single precision scikit-learn rounds what it computes of sparse data once more, to `own`.
    """
    X, n = dense(data.X).astype(np.float64), len(data.y)
    own = EPS if isinstance(data.X, np.ndarray) else np.finfo(data.X.dtype).eps
    size = np.abs(X).mean(0)
    mean = 2 * (n + 8) * EPS * size + own * size
    variance = X.var(0) * (2 * (n + 8) * EPS + own) + 2 * ((n + 8) * EPS * size) ** 2
    return mean, variance


@given(dealt(), st.booleans(), st.booleans())
@SETTINGS
def test_standard(data, with_mean, with_std):
    with_mean = with_mean and isinstance(data.X, np.ndarray)
    ours = FederatedStandardScaler(with_mean, with_std).fit(data.sites)
    theirs = StandardScaler(with_mean=with_mean, with_std=with_std).fit(data.X)
    mean, variance = moments_bound(data)
    rounding = np.finfo(data.X.dtype).eps
    X, scale, relative = np.abs(dense(data.X)), 1.0, 0.0
    if with_std:
        assert (np.abs(ours.mean_ - theirs.mean_) <= mean).all()
        assert (np.abs(ours.var_ - theirs.var_) <= variance).all()
        assert ((ours.scale_ == 1) == (theirs.scale_ == 1)).all()
        scale = theirs.scale_
        relative = variance / np.where(theirs.var_ > variance, theirs.var_, np.inf) + 8 * rounding
    shift = (mean + rounding * (X + np.abs(dense(data.X)).mean(0))) if with_mean else 0.0
    same(ours, theirs, data, 2 * shift / scale + relative * (X + X.mean(0)) / scale)
    back = ours.inverse_transform(ours.transform(data.X))
    assert (np.abs(dense(back) - dense(data.X)) <= 4 * rounding * (X + X.mean(0))).all()


@pytest.mark.parametrize("with_std", [True, False])
def test_standard_where_the_naive_formula_has_no_digit_left(with_std):
    random = np.random.default_rng(3)
    X = 1e8 + 1e-3 * random.standard_normal((300, 4))
    ids = np.sort(random.integers(0, 25, 300))
    ours = FederatedStandardScaler(with_std=with_std).fit(X, sites=ids)
    exact = [[Fraction(value) for value in column] for column in X.T]
    mean = [sum(column) / 300 for column in exact]
    variance = np.array(
        [
            float(sum((value - own) ** 2 for value in column) / 300)
            for column, own in zip(exact, mean, strict=True)
        ]
    )
    np.testing.assert_allclose(ours.mean_, [float(own) for own in mean], rtol=2 * EPS)
    if with_std:
        naive = (X**2).mean(0) - X.mean(0) ** 2
        assert (np.abs(naive - variance) > 100 * variance).all()
        np.testing.assert_allclose(ours.var_, variance, rtol=300 * EPS)
        np.testing.assert_allclose(ours.transform(X).std(0), 1, rtol=1e-6)


def chi2_bound(data):
    """Return by how much two computations of the scores may differ, (M,).

    With d = O - E, both to within e = 2 (N + 8) eps (O + E), a term d^2 / E moves by at most
    (2 |d| e + e^2) / E and by its own rounding. scikit-learn sums in the precision of the data.
    """
    X, n = dense(data.X).astype(np.float64), len(data.y)
    member = np.arange(data.y.max() + 1)[:, None] == data.y
    observed = member @ X
    expected = np.outer(member.mean(1), X.sum(0))
    unit = 2 * (n + 8) * np.finfo(data.X.dtype).eps
    error, apart = unit * (observed + expected), np.abs(observed - expected)
    terms = 2 * apart * error + error**2 + unit * apart**2
    return (terms / np.where(expected > 0, expected, 1)).sum(0)


def with_all_classes(data):
    """Return the data with labels 0, 1, ... without gaps."""
    return data._replace(y=np.unique(data.y, return_inverse=True)[1])


@given(st.booleans().flatmap(lambda whole: dealt(whole=whole)), st.integers(1, 8))
@SETTINGS
def test_chi2(data, k):
    data = with_all_classes(data)
    k = min(k, data.X.shape[1])
    ours = FederatedSelect("chi2", k=k).fit(data.sites, data.labels)
    theirs = SelectKBest(chi2, k=k).fit(data.X, data.y)
    bound = chi2_bound(data)
    assert (np.isnan(ours.scores_) == np.isnan(theirs.scores_)).all()
    there = ~np.isnan(ours.scores_)
    assert (np.abs(ours.scores_ - theirs.scores_) <= bound)[there].all()
    # The same choice from the same scores, ties and all; and from its own, but for near ties.
    again = SelectKBest(lambda *_: ours.scores_, k=k).fit(data.X, data.y)
    assert (ours.get_support() == again.get_support()).all()
    ranked = np.sort(np.where(there, theirs.scores_, -1.0))
    apart = ranked[-k] - (ranked[-k - 1] if k < len(ranked) else -np.inf)
    if apart > 2 * bound.max():
        assert (ours.get_support() == theirs.get_support()).all()
        same(ours, theirs, data)


@given(dealt(), st.sampled_from([0.0, 1e-3, 1.0]))
@SETTINGS
def test_variance(data, threshold):
    theirs = VarianceThreshold(threshold)
    try:
        theirs.fit(data.X)
    except ValueError:
        with pytest.raises(ValueError, match="no feature has a variance above the threshold"):
            FederatedSelect("variance", threshold=threshold).fit(data.sites)
        return
    ours = FederatedSelect("variance", threshold=threshold).fit(data.sites)
    _, bound = moments_bound(data)
    assert (np.abs(ours.variances_ - theirs.variances_) <= bound).all()
    if (np.abs(theirs.variances_ - threshold) > bound)[theirs.variances_ > 0].all():
        assert (ours.get_support() == theirs.get_support()).all()
        same(ours, theirs, data)


def counts(seed=1, n=40, M=6):
    return np.random.default_rng(seed).poisson(2.0, (n, M)).astype(float)


@pytest.mark.parametrize("classes", [["ill", "well"], [3, 7, 11], [True, False], [1.0, 2.0, 4.0]])
def test_chi2_where_each_site_has_one_class_of_any_kind(classes):
    X, place = counts(), np.arange(40) % len(classes)
    y = np.array(classes)[place]
    ours = FederatedSelect(k=3).fit(X, y, sites=place)
    theirs = SelectKBest(chi2, k=3).fit(X, y)
    assert ours.classes_ == sorted(classes)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, rtol=1e-12)
    np.testing.assert_allclose(ours.pvalues_, theirs.pvalues_, rtol=1e-12)
    assert (ours.get_support() == theirs.get_support()).all()
    assert (ours.get_support(indices=True) == theirs.get_support(indices=True)).all()


def test_among_equal_scores_the_last_columns_are_taken_as_scikit_learn_does():
    X = np.tile(counts(M=3), 40)  # three scores, forty columns each
    y = np.arange(40) % 3
    for k in (2, 50, 100):
        ours = FederatedSelect(k=k).fit(X, y, sites=np.arange(40) // 7)
        theirs = SelectKBest(chi2, k=k).fit(X, y)
        assert (ours.get_support() == theirs.get_support()).all()
    best = int(np.argmax(ours.scores_[:3]))
    two = FederatedSelect(k=2).fit(X, y).get_support(indices=True)
    assert two.tolist() == [114 + best, 117 + best]


def test_a_score_that_does_not_exist_is_the_lowest():
    X, y = counts(), np.arange(40) % 2
    X[:, [1, 4]] = 0
    ours = FederatedSelect(k=5).fit(X, y, sites=y)
    assert np.isnan(ours.scores_[[1, 4]]).all()
    assert ours.get_support(indices=True).tolist() == [0, 2, 3, 4, 5]
    above = FederatedSelect(threshold=0.05).fit(X, y, sites=y)
    assert (above.get_support() == (ours.scores_ > 0.05)).all()


def test_without_k_and_threshold_it_chooses_as_scikit_learn_does():
    X, y = counts(M=12), np.arange(40) % 2
    ours, theirs = FederatedSelect().fit([X], [y]), SelectKBest(chi2).fit(X, y)
    assert (ours.get_support() == theirs.get_support()).all()
    assert FederatedSelect().fit([X[:, :4]], [y]).get_support().all()
    X[:, 2] = 0.1
    assert FederatedSelect("variance").fit(X).get_support(True).tolist() == [0, 1, *range(3, 12)]
    best = FederatedSelect("variance", k=3).fit(X, sites=y)
    assert set(best.get_support(indices=True)) == set(np.argsort(X.var(0))[-3:])


def test_a_constant_feature_that_rounds_is_constant():
    X = np.full((1001, 3), 0.1)
    X[:, 1] = 1e8 + 1 / 3
    ids = np.arange(1001) % 90
    scaled = FederatedStandardScaler().fit(X, sites=ids)
    assert scaled.scale_.tolist() == [1, 1, 1]
    assert (np.abs(scaled.transform(X)) <= 1001 * EPS * X).all()
    X[::2, 1] = np.nextafter(X[0, 1], np.inf)  # constant as far as a variance can tell
    scaled, theirs = FederatedStandardScaler().fit(X, sites=ids), StandardScaler().fit(X)
    assert scaled.var_[1] > 0
    assert scaled.scale_.tolist() == theirs.scale_.tolist() == [1, 1, 1]
    X[:, 1] = X[0, 1]
    assert FederatedMinMaxScaler().fit(X, sites=ids).transform(X).max() == 0
    with pytest.raises(ValueError, match="no feature has a variance above the threshold 0"):
        FederatedSelect("variance").fit(X, sites=ids)


def test_a_mean_is_right_to_its_last_digit():
    X = np.full((100_000, 2), 0.1)
    X[:, 1] = 1e6 + 0.7
    means = FederatedStandardScaler().fit(X, sites=np.arange(100_000) // 7000).mean_
    np.testing.assert_array_max_ulp(means, X[0], maxulp=1)


def test_a_zero_that_is_stored_is_no_occurrence():
    X = counts()
    stored = sparse.csr_array(np.ones_like(X))
    stored.data[:] = X.ravel()
    ours = FederatedTfidf(sublinear_tf=True).fit(stored, sites=np.arange(40) // 6)
    theirs = TfidfTransformer(sublinear_tf=True).fit(X)
    np.testing.assert_array_equal(ours.idf_, theirs.idf_)
    np.testing.assert_array_equal(dense(ours.transform(stored)), dense(theirs.transform(X)))


def test_sites_in_two_precisions_are_pooled_in_the_larger_one():
    X = counts().astype(np.float32)
    parts = [X[:10], X[10:].astype(np.float64)]
    ours, theirs = FederatedTfidf().fit(parts), TfidfTransformer().fit(X.astype(np.float64))
    np.testing.assert_array_equal(ours.idf_, theirs.idf_, strict=True)
    assert [own.dtype for own in ours.transform(parts)] == [np.float32, np.float64]
    data = Dealt(X[:10], None, np.zeros(10))
    far = FederatedTfidf().fit_over(FarSites("tfidf", parts[::-1]))
    np.testing.assert_array_equal(far.idf_, ours.idf_, strict=True)
    same(FederatedMinMaxScaler().fit(parts), MinMaxScaler().fit(X.astype(float)), data)
