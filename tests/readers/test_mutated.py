"""Files with a few bytes changed or the end cut off: a matrix, or one line that names the file."""

import gzip
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import pytest
from scipy import io, sparse

from damage import complaint, mutations
from fedmf import datasets
from fedmf.errors import DataError, FedMFError, FileFormatError

X = np.random.default_rng(0).random((5, 4))
THIN = sparse.csr_matrix(X * (X > 0.5))
FRAME = pd.DataFrame(X, columns=list("abcd"), index=[f"s{j}" for j in range(5)]).assign(kind="x")


def written(write):
    """Return what a function writes to a file."""
    file = BytesIO()
    write(file)
    return file.getvalue()


GOOD = {
    "x.npy": written(lambda f: np.save(f, X)),
    "x.npz": written(lambda f: np.savez(f, X=X, label=np.arange(5))),
    "packed.npz": written(lambda f: np.savez_compressed(f, X=X)),
    "sparse.npz": written(lambda f: sparse.save_npz(f, THIN, compressed=False)),
    "x.csv": written(FRAME.to_csv),
    "x.csv.gz": gzip.compress(written(FRAME.to_csv), mtime=0),
    "x.tsv": written(lambda f: FRAME.to_csv(f, sep="\t")),
    "x.parquet": written(FRAME.to_parquet),
    "x.mtx": written(lambda f: io.mmwrite(f, THIN)),
}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.filterwarnings("ignore")  # what NumPy and zipfile say of it besides
def test_a_damaged_file_is_read_or_refused_in_one_line(name, tmp_path):
    path = tmp_path / name
    options = {"drop": ["kind"]} if name.startswith(("x.c", "x.t", "x.p")) else {}
    path.write_bytes(GOOD[name])
    datasets.load(path, **options)
    for data in mutations(GOOD[name], 90):
        path.write_bytes(data)
        said = complaint(lambda: datasets.load(path, **options))
        assert said is None or said.startswith(str(path))
        assert "\n" not in (said or "")


def npy(header):
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text


def zipped(change):
    """Return an archive with the entry of its directory changed."""
    data = bytearray(GOOD["packed.npz"])
    change(data, data.index(b"PK\x01\x02"))
    return bytes(data)


def parquet(old, new):
    assert len(old) == len(new)
    assert old in GOOD["x.parquet"]
    return GOOD["x.parquet"].replace(old, new)


HUGE = "{'descr': '<f8', 'fortran_order': False, 'shape': (4000000000000, 99), }"


def holding(header):
    """Return an archive of one compressed array that begins with this header."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", npy(header))
    return file.getvalue()


@pytest.mark.parametrize(
    ("name", "data", "error", "said"),
    [
        ("x.npy", npy("{'descr': '<f8', 'shape': (2, 2"), FileFormatError, "cut short or damaged"),
        ("x.npz", holding("{'descr': '<f8', (2"), FileFormatError, "no whole .npz file"),
        ("x.npz", holding(HUGE), DataError, "what it says it holds does not fit into the memory"),
        (
            "x.npz",
            zipped(lambda data, entry: data.__setitem__(entry + 8, data[entry + 8] | 1)),
            FileFormatError,
            "no whole .npz file (File 'X.npy' is encrypted",
        ),
        (
            "x.npz",
            zipped(lambda data, entry: data.__setitem__(entry + 10, 77)),
            FileFormatError,
            "no whole .npz file (That compression method is not supported)",
        ),
        ("x.parquet", parquet(b'{"index_columns', b'["index_columns'), FileFormatError, "no whole"),
        ("x.parquet", parquet(b'"index_col', b'"\xff\xfedex_col'), FileFormatError, "no whole"),
    ],
)
def test_what_only_a_library_noticed(name, data, error, said, tmp_path):
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(error) as found:
        datasets.load(path, drop=["kind"] if name == "x.parquet" else [])
    assert str(found.value).startswith(f"{path}: ")
    assert said in str(found.value)


def test_a_columns_name_with_a_line_break_stays_in_one_line(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text('a,"b\nc",d\n1,2,3\n')
    with pytest.raises(FedMFError) as error:
        datasets.load(path, labels="kind")
    assert str(error.value).endswith("there is no column 'kind' (it has a, b c, d)")
