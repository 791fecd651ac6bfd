"""Choices that need the classes: the largest classes, the features that tell them apart."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from fedmf.errors import ParameterError
from fedmf.readers import Matrix, Vector

COLUMNS = 1024


def largest_classes(labels: Vector, count: int | None) -> Vector:
    """Return which samples, (N,) of bool, belong to the `count` largest classes (None: to any).

    Classes of the same size are taken in the order of their names.
    """
    names, sizes = np.unique(labels, return_counts=True)
    check_count("types", count, len(names))
    kept = names[np.argsort(-sizes, kind="stable")[:count]]
    return np.isin(labels, kept)


def top_features(X: Matrix, labels: Vector, count: int | None) -> Vector:
    """Return the indices, ascending, of the `count` features with the highest chi-squared score.

    Pearson's test of the sum of a feature in each class against what the classes' sizes let one
    expect (scikit-learn's `chi2`), as in the paper. It uses the true labels: right for repeating a
    published experiment, not for judging a clustering of data whose classes are unknown.
    Ties go to the earlier feature, a feature of nothing but zeros comes last.
    """
    check_count("features", count, X.shape[1])
    if count is None or count >= X.shape[1]:
        return np.arange(X.shape[1])
    scores = np.nan_to_num(_scores(X, labels), nan=-1.0)
    return np.sort(np.argsort(-scores, kind="stable")[:count])


def check_count(name: str, count: object, most: int) -> None:
    """Refuse a count that is neither None nor a whole number of at least 1."""
    whole = isinstance(count, int | np.integer) and not isinstance(count, bool)
    if count is not None and not (whole and count >= 1):  # type: ignore[operator]
        raise ParameterError(f"{name} must be None or 1 ... {most}, got {count!r}")


def _scores(X: Matrix, labels: Vector) -> Vector:
    from sklearn.feature_selection import chi2

    if sparse.issparse(X):
        return np.asarray(chi2(X, labels)[0])
    # in blocks of features, as scikit-learn copies what it is given to float64
    starts = range(0, X.shape[1], COLUMNS)
    return np.concatenate([chi2(X[:, j : j + COLUMNS], labels)[0] for j in starts])
