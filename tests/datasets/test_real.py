"""The real sets as they lie in the data folder: shapes, classes, and the bytes of what is prepared.

The checksums are of exact bytes where the preparation is exact (counts, uint8 / 255, one float32
subtraction). A logarithm may differ in its last bit between processors, so the miRNA values are
compared in units of 1e-4, where such a bit moves nothing.
"""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest

from fedmf import datasets


def _folder():
    beside = Path(__file__).parents[3] / "shared" / "data"
    return Path(os.environ.get("FEDMF_DATA") or beside)


def _load(name, needed, **options):
    folder = _folder()
    if not (folder / needed).is_file():
        pytest.skip(f"{needed} is not in {folder}: set FEDMF_DATA to the folder of the real sets")
    return datasets.load(name, data_dir=folder, **options)


def _sha256(*arrays):
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array))
    return found.hexdigest()


def _class_sizes(table):
    return np.unique(table.labels, return_counts=True)[1].tolist()


def test_tdt2():
    table = _load("tdt2", "tdt2_top30.npz")
    X = table.X
    assert X.shape == (9394, 5000)
    assert X.nnz == 668763
    sizes = _class_sizes(table)
    assert (len(sizes), sizes[0], sizes[-1]) == (30, 1844, 52)
    assert (
        _sha256(X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64))
        == "69dd10afa0d9f0cf85077d04fb1b746420991a86c93455878224dac2617759b9"
    )
    words = np.array([int(name.removeprefix("word ")) for name in table.features])
    expected = "3da936e248eaba6b8706ced1fa27de383d5401faf15b15f812fa7307fbe43448"
    assert _sha256(words) == expected


def test_mnist():
    table = _load("mnist", "train-images-idx3-ubyte.gz")
    assert table.X.shape == (10000, 784)
    assert _class_sizes(table) == [1001, 1127, 991, 1032, 980, 863, 1014, 1070, 944, 978]
    expected = "6c7a6ef341dc3cf9e18965d2e7e252a03aec54cdcb60d5e7a34ae61320ba6741"
    assert _sha256(table.X) == expected


def test_tcga_mirna():
    table = _load("tcga-mirna", "tcga_mirna.npz", sites="hospital")
    assert table.X.shape == (8043, 995)
    sizes = sorted(_class_sizes(table))
    assert (len(sizes), sizes[0], sizes[-1]) == (20, 124, 1078)
    expected = "9b81c1bd25c2a3b7dbb7861cfdc8ecf97bbd205af7b911d04fca7edd5cfbd800"
    assert _sha256(np.rint(table.X * 1e4).astype(np.int64)) == expected
    assert table.samples[0].split("-")[1] == table.sites[0]


def test_tcga_mrna():
    table = _load("tcga-mrna", "tcga_mrna.npz")
    assert table.X.shape == (602, 3341)
    assert sorted(_class_sizes(table)) == [32, 32, 40, 43, 50, 51, 52, 58, 59, 72, 113]
    assert table.X.min() == 0.0
    expected = "51484bbf04125a09b4ef762b54afdc9f02df93e6e085f59b39a2f8ccb6fa2686"
    assert _sha256(table.X) == expected


def test_movielens_as_a_users_own_file():
    folder = _folder()
    table = _load(folder / "movielens100k.csv.gz", "movielens100k.csv.gz")
    assert table.X.shape == (100000, 4)
    assert table.features == ("user", "item", "rating", "timestamp")
    expected = "76cf001ec8738431b93065eee7d7fdafc823332ea251f054c1540dd8591a5040"
    assert _sha256(table.X) == expected
