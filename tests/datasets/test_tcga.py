import gzip

import numpy as np
import pytest

from fedmf import datasets
from fedmf.datasets._barcodes import hospitals, sample_type
from fedmf.errors import DataError, FileFormatError, MissingDataError, ParameterError

GENES = ("G1", "G2", "G2", "G3", "G4")
TYPES = {"A": "one", "B": "two", "C": "three"}


def _barcodes():
    """Six tumours of type one, four of type two, two of three, and three that are no primaries."""
    ids = [
        f"TCGA-{h}-{n:04d}-01"
        for h, count in zip("ABC", (6, 4, 2), strict=True)
        for n in range(count)
    ]
    return [*ids, "TCGA-A-0000-11", "TCGA-B-0000-06", "TARGET-A-0000-01"]


@pytest.fixture
def values():
    return np.random.default_rng(0).normal(2, 3, (5, 15)).astype(np.float32).round(3)


@pytest.fixture
def folder(tmp_path, values):
    ids = _barcodes()
    lines = ["\t".join(["sample", *ids])]
    for gene, row in zip(GENES, values, strict=True):
        cells = [f"{value:.3f}" for value in row]
        if gene == "G3":
            cells[2] = "NA"
        lines.append("\t".join([gene, *cells]))
    text = "\n".join(lines) + "\n"
    name = "EB++AdjustPANCAN_IlluminaHiSeq_RNASeqV2.geneExp.xena.gz"
    (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    rows = ["sample\tsample_type_id\t_primary_disease"]
    rows += [f"{i}\t1\t{TYPES[i.split('-')[1]]}" for i in reversed(ids)]
    (tmp_path / "TCGA_phenotype_denseDataOnlyDownload.tsv").write_text("\n".join(rows) + "\n")
    return tmp_path


def test_the_matrix(folder, values):
    table = datasets.load("tcga", data_dir=folder, types=2, sites="hospital")
    assert table.features == ("G1", "G2", "G4")
    assert table.samples == tuple(_barcodes()[:10])
    assert table.labels.tolist() == ["one"] * 6 + ["two"] * 4
    assert table.sites.tolist() == ["A"] * 6 + ["B"] * 4
    kept = values[[0, 1, 4], :10].T
    np.testing.assert_array_equal(table.X, kept - kept.min())
    assert table.X.dtype == np.float32


def test_types_and_features(folder):
    table = datasets.load("tcga", data_dir=folder, features=1, types=None)
    assert table.X.shape == (12, 1)


def test_the_hub_of_the_gdc(folder):
    expression = next(folder.glob("EB*"))
    expression.rename(folder / "GDC-PANCAN.htseq_fpkm-uq.tsv.gz")
    phenotype = folder / "TCGA_phenotype_denseDataOnlyDownload.tsv"
    phenotype.write_text(phenotype.read_text().replace("_primary_disease", "project_id"))
    phenotype.rename(folder / "GDC-PANCAN.basic_phenotype.tsv")
    assert datasets.load("tcga", data_dir=folder).X.shape == (12, 3)


def test_errors(folder):
    expression, phenotype = next(folder.glob("EB*")), next(folder.glob("TCGA*"))
    whole, table = expression.read_bytes(), phenotype.read_text()
    expression.write_bytes(whole[:-20])
    with pytest.raises(FileFormatError, match=r"xena\.gz: c"):
        datasets.load("tcga", data_dir=folder)
    phenotype.write_text("sample\tx\na\tb\n")
    with pytest.raises(FileFormatError, match="a column sample and one of _primary_disease"):
        datasets.load("tcga", data_dir=folder)
    phenotype.write_text(table.replace("TCGA-", "TCGA-Z"))
    expression.write_bytes(whole)
    with pytest.raises(DataError, match="no sample of it is a primary tumour"):
        datasets.load("tcga", data_dir=folder)
    phenotype.unlink()
    with pytest.raises(MissingDataError, match="TCGA_phenotype_denseDataOnlyDownload"):
        datasets.load("tcga", data_dir=folder)
    with pytest.raises(ParameterError, match="sites must be None or hospital, got 'city'"):
        datasets.load("tcga", data_dir=folder, sites="city")


def test_mirna(tmp_path):
    X = np.array([[0, 1, 3], [7, 0, 0], [1, 1, 1]], np.float32)
    ids = np.array([f"TCGA-{hospital}-0001-01A" for hospital in ("OR", "AA", "OR")])
    np.savez(
        tmp_path / "tcga_mirna.npz", X=X, label=np.array(["ACC", "BRCA", "ACC"]), barcode=ids,
        machine=np.array(["m1", "m2", "m1"]), feature=np.array(["f1", "f2", "f3"]),
    )  # fmt: skip
    table = datasets.load("tcga-mirna", data_dir=tmp_path, types=1, sites="hospital")
    np.testing.assert_array_equal(table.X, [[0, 1, 2], [1, 1, 1]])
    assert table.sites.tolist() == ["OR", "OR"]
    assert table.features == ("f1", "f2", "f3")
    machines = datasets.load("tcga-mirna", data_dir=tmp_path, types=None, sites="machine")
    assert machines.sites.tolist() == ["m1", "m2", "m1"]
    with pytest.raises(MissingDataError, match=r"put tcga_mirna\.npz .* there, made from https"):
        datasets.load("tcga-mirna", data_dir=tmp_path / "elsewhere")


def test_mrna(tmp_path):
    X = np.array([[-1, 1.5], [0, 2]], np.float32)
    ids = np.array(["TCGA.A7.A0CE.01A", "TCGA.B1.A0CH.01A"])
    np.savez(tmp_path / "tcga_mrna.npz", X=X, label=np.array(["x", "y"]), barcode=ids)
    table = datasets.load("tcga-mrna", data_dir=tmp_path, sites="hospital")
    np.testing.assert_array_equal(table.X, [[0, 2.5], [1, 3]])
    assert table.sites.tolist() == ["A7", "B1"]


def test_barcodes():
    assert sample_type("TCGA-OR-A5J1-01A-11R") == 1
    assert sample_type("TCGA-OR-A5J1") == 0
    with pytest.raises(DataError, match="'X-1' is no TCGA barcode"):
        hospitals(["X-1"])
