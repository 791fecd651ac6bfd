"""The named data sets' files with a few bytes changed or the end cut off."""

import gzip
import struct
from io import BytesIO

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat

from damage import complaint, mutations
from fedmf import datasets


def idx(array):
    head = b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)
    return head + array.astype(np.uint8).tobytes()


def mat(packed):
    file, random = BytesIO(), np.random.default_rng(0)
    fea = sparse.csc_matrix(random.poisson(1, (9, 6)).astype(float))
    savemat(file, {"fea": fea, "gnd": np.repeat([1, 2, 3], 3)[:, None]}, do_compression=packed)
    return file.getvalue()


def tables():
    ids = [f"TCGA-{h}-{n:04d}-01" for h in "AB" for n in range(3)]
    values = np.random.default_rng(0).normal(2, 3, (4, 6)).round(3)
    lines = [["sample", *ids], *([f"G{k}", *map(str, row)] for k, row in enumerate(values))]
    types = [["sample", "_primary_disease"], *([i, i[5]] for i in ids)]
    return ["\n".join("\t".join(line) for line in text).encode() + b"\n" for text in (lines, types)]


EXPRESSION, TYPES = tables()
FILES = {
    "mnist": {
        "train-images-idx3-ubyte": idx(np.arange(36).reshape(4, 3, 3)),
        "train-labels-idx1-ubyte.gz": gzip.compress(idx(np.arange(4)), mtime=0),
    },
    "tdt2": {"TDT2.mat": mat(packed=False)},
    "tdt2, packed": {"TDT2.mat": mat(packed=True)},
    "tcga": {
        "HiSeqV2": EXPRESSION,
        "TCGA_phenotype_denseDataOnlyDownload.tsv.gz": gzip.compress(TYPES, mtime=0),
    },
    "tcga, the other packed": {
        "HiSeqV2.gz": gzip.compress(EXPRESSION, mtime=0),
        "TCGA_phenotype_denseDataOnlyDownload.tsv": TYPES,
    },
}


@pytest.mark.parametrize("case", FILES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of entries that are far too large
def test_a_damaged_file_is_read_or_refused_in_one_line(case, tmp_path):
    options = {} if case.startswith("mnist") else {"types": None}
    load = lambda: datasets.load(case.partition(",")[0], data_dir=tmp_path, **options)  # noqa: E731
    for name, data in FILES[case].items():
        (tmp_path / name).write_bytes(data)
    load()
    for name, data in FILES[case].items():
        refused = 0
        for damaged in mutations(data, 90):
            (tmp_path / name).write_bytes(damaged)
            said = complaint(load)
            assert "\n" not in (said or "")
            refused += said is not None
        assert refused > 0
        (tmp_path / name).write_bytes(data)
