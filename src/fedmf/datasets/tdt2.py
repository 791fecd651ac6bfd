"""TDT2: word counts of news documents in the 30 largest categories (Section V of the paper).

The paper's figures are met on the raw counts of the 5000 words with the highest chi-squared score;
TF-IDF with documents of unit length is a choice of the user's (`weighting="tfidf"`).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy import sparse

from fedmf import readers
from fedmf.datasets import _folder
from fedmf.datasets import _mat as _mat5
from fedmf.datasets._card import Card, Remote
from fedmf.datasets._select import largest_classes, top_features
from fedmf.datasets._table import Table
from fedmf.errors import FileFormatError, ParameterError
from fedmf.readers import Vector, Wanted

CARD = Card(
    name="tdt2",
    title="TDT2 news documents, counts of 5000 words",
    samples=9394,
    features=5000,
    classes=30,
    source="http://www.cad.zju.edu.cn/home/dengcai/Data/TextData.html (prepared by D. Cai)",
    licence="not stated there; the documents themselves are the LDC's",
    files=("TDT2.mat (variables fea, gnd)", "tdt2_top30.npz (CSR arrays and label)"),
    remotes=(
        Remote(
            "TDT2.mat",
            (
                "http://www.cad.zju.edu.cn/home/dengcai/Data/TDT2/TDT2.mat",
                "https://raw.githubusercontent.com/jiangelle/Mat-data-time/"
                "1125d509f310a11cdcc690e4d2c669ed453bb568/TDT2.mat",
            ),
        ),
    ),
    notes="the words are chosen with the true classes, as in the paper; options: features,"
    " weighting (counts or tfidf), types",
)


def load(
    data_dir: Path | None,
    *,
    features: int | None = 5000,
    types: int | None = None,
    weighting: str = "counts",
) -> Table:
    """Return documents x words as CSR; a word is named by its index in the file, from 0.

    features: how many words (None: all). types: how many of the largest classes (None: all).
    """
    if weighting not in ("counts", "tfidf"):
        raise ParameterError(f"weighting must be counts or tfidf, got {weighting!r}")
    path = _folder.need(data_dir, CARD, ("tdt2_top30.npz", "TDT2.mat"))
    X, labels = _npz(path) if path.suffix == ".npz" else _mat(path)
    kept = largest_classes(labels, types)
    X, labels = X[kept], labels[kept]
    words = top_features(X, labels, features)
    X = X[:, words]
    if weighting == "tfidf":
        from sklearn.feature_extraction.text import TfidfTransformer

        X = TfidfTransformer().fit_transform(X)
    names = tuple(f"word {j}" for j in words)
    return Table(sparse.csr_matrix(X), labels, features=names, name="tdt2", source=str(path))


def _npz(path: Path) -> tuple[sparse.csr_matrix, Vector]:
    content = readers.read(path, Wanted(labels="label"))
    return content.X, content.columns["label"].astype(np.int64)


def _mat(path: Path) -> tuple[sparse.csr_matrix, Vector]:
    """Read the MATLAB file: fea, documents x words, and gnd, the category from 1."""
    held = _mat5.read(path, ("fea", "gnd"))
    if len(held) < 2:
        raise FileFormatError(f"{path}: the variables fea and gnd are not both there")
    X, labels = sparse.csr_matrix(held["fea"], dtype=np.float64), np.ravel(held["gnd"])
    if X.shape[0] != labels.size:
        raise FileFormatError(f"{path}: {X.shape[0]} documents, but {labels.size} labels")
    if not (np.isfinite(X.data).all() and (np.abs(labels) < 2**31).all()):
        raise FileFormatError(f"{path}: not all counts and categories are finite numbers")
    X.sum_duplicates()
    return X, labels.astype(np.int64)
