"""TCGA mRNA expression of 602 tumours: the small set of real mRNA.

The values are like logarithms and go below zero, in two of the types (COAD, STAD) further than in
the others; the whole matrix is shifted by one number so that its least entry is zero.
"""

from __future__ import annotations

from pathlib import Path

from fedmf import readers
from fedmf.datasets import _folder
from fedmf.datasets._barcodes import check_sites, hospitals
from fedmf.datasets._card import Card
from fedmf.datasets._select import largest_classes
from fedmf.datasets._table import Table
from fedmf.readers import Wanted

CARD = Card(
    name="tcga-mrna",
    title="TCGA tumours, mRNA expression, 11 cancer types",
    samples=602,
    features=3341,
    classes=11,
    source="https://github.com/Haocan223/MetaGSCA",
    licence="GPL (>= 2), as stated there",
    files=("tcga_mrna.npz (arrays X, label, feature, barcode)",),
    notes="options: types (None: all), sites (hospital)",
)


def load(data_dir: Path | None, *, types: int | None = None, sites: str | None = None) -> Table:
    """Return samples x genes in the file's float type, the least entry zero."""
    check_sites(sites, "hospital")
    path = _folder.need(data_dir, CARD, ("tcga_mrna.npz",))
    content = readers.read(path, Wanted("label", None, "barcode"))
    kept = largest_classes(content.columns["label"], types)
    labels, ids = content.columns["label"][kept], content.columns["barcode"][kept]
    X = content.X[kept]
    X = X - X.min()
    groups = hospitals(ids) if sites else None
    return Table(X, labels, groups, content.features, tuple(map(str, ids)), "tcga-mrna", str(path))
