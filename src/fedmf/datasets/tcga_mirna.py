"""TCGA miRNA expression of primary tumours, log2(x + 1) of reads per million.

It stands in for the paper's TCGA set (mRNA), so a figure made of it must say miRNA. The sequencing
machine goes with the type; `sites` makes sites of the machines or of the hospitals.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from fedmf import readers
from fedmf.datasets import _folder
from fedmf.datasets._barcodes import check_sites, hospitals
from fedmf.datasets._card import Card
from fedmf.datasets._select import largest_classes
from fedmf.datasets._table import Table
from fedmf.readers import Wanted

CARD = Card(
    name="tcga-mirna",
    title="TCGA primary tumours, miRNA expression, the 20 largest cancer types",
    samples=8043,
    features=995,
    classes=20,
    source="https://github.com/RTCGA/RTCGA.miRNASeq",
    licence="GPL-2, as stated there",
    files=("tcga_mirna.npz (arrays X, label, feature, barcode, machine)",),
    notes="options: types (None: all 28), sites (hospital or machine)",
)


def load(data_dir: Path | None, *, types: int | None = 20, sites: str | None = None) -> Table:
    """Return samples x miRNAs, float64; `types` keeps that many of the largest cancer types."""
    check_sites(sites, "hospital", "machine")
    path = _folder.need(data_dir, CARD, ("tcga_mirna.npz",))
    content = readers.read(path, Wanted("label", "machine", "barcode"))
    kept = largest_classes(content.columns["label"], types)
    labels, machines, ids = (content.columns[n][kept] for n in ("label", "machine", "barcode"))
    X = content.X[kept].astype(np.float64)
    X += 1.0
    np.log2(X, out=X)
    groups = {None: None, "machine": machines, "hospital": hospitals(ids)}[sites]
    return Table(X, labels, groups, content.features, tuple(map(str, ids)), "tcga-mirna", str(path))
