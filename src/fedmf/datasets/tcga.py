"""TCGA mRNA expression, as the paper uses it: 20 cancer types, 5000 genes.

Read from an expression matrix of UCSC Xena's or the GDC hub's (genes in rows, samples in columns,
tab-separated, logarithms) and its phenotype table. Kept are the primary tumours of the 20 largest
types and the genes that no kept sample lacks; the matrix is shifted so that its least entry is
zero; the 5000 genes with the highest chi-squared score remain. The paper's own selection of 5314
samples was never published, so the samples are not the paper's.
"""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

import numpy as np

from fedmf.datasets import _folder
from fedmf.datasets._barcodes import PRIMARY, check_sites, hospitals, sample_type
from fedmf.datasets._card import Card, Remote
from fedmf.datasets._select import check_count, largest_classes, top_features
from fedmf.datasets._table import Table
from fedmf.errors import DataError, FileFormatError
from fedmf.readers import Vector
from fedmf.readers._content import check_unique, one_line

HUB = "https://tcga-pancan-atlas-hub.s3.us-east-1.amazonaws.com/download/"
EXPRESSION = (
    "EB++AdjustPANCAN_IlluminaHiSeq_RNASeqV2.geneExp.xena",
    "TCGA.PANCAN.sampleMap_HiSeqV2",
    "HiSeqV2",
    "GDC-PANCAN.htseq_fpkm-uq.tsv",
)
PHENOTYPE = ("TCGA_phenotype_denseDataOnlyDownload.tsv", "GDC-PANCAN.basic_phenotype.tsv")
TYPE_COLUMNS = ("_primary_disease", "project_id", "cancer type abbreviation")
CARD = Card(
    name="tcga",
    title="TCGA primary tumours, mRNA expression of 5000 genes, the 20 largest cancer types",
    samples=None,
    features=5000,
    classes=20,
    source="https://xenabrowser.net/datapages/ (UCSC Xena, TCGA Pan-Cancer)",
    licence="open-access TCGA data",
    files=tuple(f"{e}.gz and {p}.gz" for e, p in zip(EXPRESSION[::3], PHENOTYPE, strict=True)),
    remotes=(
        Remote(f"{EXPRESSION[0]}.gz", (f"{HUB}{EXPRESSION[0].replace('+', '%2B')}.gz",)),
        Remote(f"{PHENOTYPE[0]}.gz", (f"{HUB}{PHENOTYPE[0]}.gz",)),
    ),
    notes="the genes are chosen with the true types, as in the paper; options: features, types,"
    " sites (hospital)",
)


def load(
    data_dir: Path | None,
    *,
    features: int | None = 5000,
    types: int | None = 20,
    sites: str | None = None,
) -> Table:
    """Return samples x genes, float32."""
    check_sites(sites, "hospital")
    check_count("features", features, 60000)
    path = _folder.need(data_dir, CARD, _plain_or_gzipped(EXPRESSION))
    classes = _classes(_folder.need(data_dir, CARD, _plain_or_gzipped(PHENOTYPE)))
    header = _header(path)
    known = [barcode for barcode in header[1:] if barcode in classes]
    if not known:
        raise DataError(f"{path}: no sample of it is a primary tumour in the phenotype table")
    labels = np.array([classes[barcode] for barcode in known])
    kept = largest_classes(labels, types)
    ids, labels = tuple(np.array(known)[kept].tolist()), labels[kept]
    X, genes = _expression(path, header, ids)
    chosen = top_features(X, labels, features)
    names = tuple(genes[j] for j in chosen)
    groups = hospitals(ids) if sites else None
    return Table(np.ascontiguousarray(X[:, chosen]), labels, groups, names, ids, "tcga", str(path))


def _plain_or_gzipped(names: tuple[str, ...]) -> list[str]:
    return [f"{name}{end}" for name in names for end in (".gz", "")]


def _classes(path: Path) -> dict[str, str]:
    """Return the cancer type of each primary tumour in the phenotype table."""
    import pandas as pd

    try:
        table = pd.read_csv(path, sep="\t", dtype=str, keep_default_na=False)
    except (OSError, EOFError, ValueError, zlib.error) as problem:
        raise FileFormatError(f"{path}: cannot be read ({one_line(problem)})") from None
    column = next((name for name in TYPE_COLUMNS if name in table.columns), None)
    if column is None or "sample" not in table.columns:
        raise FileFormatError(
            f"{path}: a column sample and one of {', '.join(TYPE_COLUMNS)} are wanted,"
            f" got {', '.join(table.columns[:12])}"
        )
    pairs = zip(table["sample"], table[column], strict=True)
    return {s: t for s, t in pairs if t and s.startswith("TCGA") and sample_type(s) in PRIMARY}


def _stream(path: Path) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(path), compression="gzip" if path.suffix == ".gz" else None)


def _header(path: Path) -> list[str]:
    """Return the first line's cells: the name of the gene column, then the samples."""
    try:
        with _stream(path) as stream:
            head = bytes(stream.read(1 << 22)).split(b"\n", 1)[0]
            cells = head.decode().rstrip("\r").split("\t")
    except (OSError, UnicodeDecodeError) as problem:
        raise FileFormatError(f"{path}: cut short or damaged ({one_line(problem)})") from None
    check_unique(path, "sample", cells)
    return cells


def _expression(path: Path, header: list[str], ids: tuple[str, ...]) -> tuple[Vector, list[str]]:
    """Return X (samples, genes), least entry zero, and the genes, each by its first line."""
    import pyarrow as pa
    from pyarrow import csv

    kinds = {barcode: pa.float32() for barcode in ids} | {header[0]: pa.string()}
    converting = csv.ConvertOptions(column_types=kinds, include_columns=[header[0], *ids])
    reading = csv.ReadOptions(block_size=1 << 24)
    try:
        with _stream(path) as stream:
            table = csv.read_csv(stream, reading, csv.ParseOptions(delimiter="\t"), converting)
    except (pa.ArrowException, OSError) as problem:
        raise FileFormatError(f"{path}: cannot be read ({one_line(problem)})") from None
    X = np.empty((len(ids), table.num_rows), np.float32)
    for row, barcode in enumerate(ids):
        X[row] = table.column(barcode).to_numpy()  # what is missing becomes NaN
    genes = table.column(header[0]).to_pylist()
    _, first = np.unique(np.array(genes), return_index=True)
    whole = np.sort(first[~np.isnan(X[:, first]).any(axis=0)])
    if not whole.size:
        raise DataError(f"{path}: there is no gene that every kept sample has")
    X = X[:, whole]
    X -= X.min()
    return X, [genes[j] for j in whole]
