"""Tables with named columns: .csv, .tsv, .parquet, .h5ad."""

import gzip
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fedmf.errors import DataError, FedMFError, FileFormatError, ParameterError
from fedmf.readers import Wanted, read

MATRICES = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.floats(allow_nan=False, allow_infinity=False),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tables")


def _frame(X):
    return pd.DataFrame(X, columns=[f"f{j}" for j in range(X.shape[1])])


@settings(deadline=None, max_examples=25)
@given(X=MATRICES, name=st.sampled_from(["x.csv", "x.csv.gz", "x.tsv", "x.tsv.gz"]))
def test_delimited_round_trip(folder, X, name):
    frame = _frame(X).assign(type=[f"t, {i}" for i in range(len(X))])
    frame.to_csv(folder / name, sep="\t" if "tsv" in name else ",", index=False)
    content = read(folder / name, Wanted(labels="type"))
    np.testing.assert_array_equal(content.X, X)
    assert content.features == tuple(frame.columns[:-1])
    assert content.columns["type"].tolist() == frame["type"].tolist()


@settings(deadline=None, max_examples=25)
@given(X=MATRICES, ids=st.booleans())
def test_parquet_round_trip(folder, X, ids):
    frame = _frame(X).assign(site=pd.Categorical(["a"] * len(X)))
    if ids:
        frame.index = [f"s{i}" for i in range(len(X))]
    frame.to_parquet(folder / "x.parquet")
    content = read(folder / "x.parquet", Wanted(sites="site"))
    np.testing.assert_array_equal(content.X, X)
    assert content.samples == (tuple(frame.index) if ids else None)
    assert content.columns["site"].tolist() == ["a"] * len(X)


def test_parquet_kinds(tmp_path):
    path = tmp_path / "x.parquet"
    pd.DataFrame({"a": [1.5, 2], "b": [0, 1]}, dtype=np.float32).to_parquet(path)
    assert read(path).X.dtype == np.float32
    pd.DataFrame({"a": [True, False], "b": np.array([3, 4], np.uint8)}).to_parquet(path)
    np.testing.assert_array_equal(read(path).X, [[1, 3], [0, 4]])
    pd.DataFrame({"id": ["u", "v"], "a": [1, 2]}).to_parquet(path)
    content = read(path)
    assert content.samples == ("u", "v")
    assert content.X.shape == (2, 1)


@pytest.mark.parametrize(
    ("text", "features", "samples"),
    [
        ("a,b\n1,2\n3,4\n", ("a", "b"), None),
        ("1,2\n3,4\n", None, None),
        ("\ufeffa,b\r\n1,2\r\n3,4\r\n", ("a", "b"), None),
        (",a,b\n0,1,2\n1,3,4\n", ("a", "b"), ("0", "1")),
        ("id,a,b\nu,1,2\nv,3,4\n", ("a", "b"), ("u", "v")),
        ("u,1,2\nv,3,4\n", None, ("u", "v")),
        ("\n a,b\n\n1,2\n\n3,4", (" a", "b"), None),
        ('"a","b"\n"1","2"\n3,4\n', ("a", "b"), None),
    ],
)
def test_headers_and_ids(tmp_path, text, features, samples):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    content = read(tmp_path / "x.csv")
    np.testing.assert_array_equal(content.X, [[1, 2], [3, 4]])
    assert (content.features, content.samples) == (features, samples)


def test_names_that_count_are_a_header_and_it_can_be_said(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("0,1,2\n4,5,6\n")
    assert read(path).features == ("0", "1", "2")
    assert read(path, header=False).X.shape == (2, 3)
    path.write_text("400,500\n4,5\n")
    assert read(path).X.shape == (2, 2)
    assert read(path, header=True).features == ("400", "500")


def test_whole_numbers_first_and_long_lines(tmp_path):
    """Types are not guessed from the first block, and a line may be longer than a block."""
    path = tmp_path / "x.csv"
    body = ["1,2"] * 700_000 + ["1.5,2.5"]
    path.write_text("a,b\n" + "\n".join(body))
    assert read(path).X[-1].tolist() == [1.5, 2.5]
    wide = ",".join([f"0.{'1' * 500}"] * 10_000)
    path.write_text(f"{wide}\n{wide}\n")
    assert read(path).X.shape == (2, 10_000)


NAMED = "a,b,type\n1,2,x\n3,4,y\n"


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("", FileFormatError, "the file is empty"),
        ("a,b\n", DataError, "there are 0 samples and 2 features"),
        ("a,b\n1,2\n3\n", FileFormatError, "line 3 has 1 cells, the first line 2"),
        ("a,b\n1,2\n\n3,4,5\n", FileFormatError, "line 4 has 3 cells, the first line 2"),
        ("1,2\n3,4,5\n", FileFormatError, "line 2 has 3 cells, the first line 2"),
        ("a,b\n1,2\n3,\n", DataError, "line 3, column 'b': there is no value ('')"),
        ("a,b\n1,2\nnan,4\n", DataError, "line 3, column 'a': there is no value ('nan')"),
        ("1,2\n3,NA\n", DataError, "line 2, column 'column 2': there is no value ('NA')"),
        ("a,b\n1,2\n3,4x\n", DataError, "line 3, column 'b': '4x' is not a number"),
        (NAMED, DataError, "line 2, column 'type': 'x' is not a number (a column of classes"),
        ("a,a\n1,2\n", DataError, "column 'a' comes more than once"),
        ("a,b\n1,1_0\n", DataError, "line 2, column 'b': '1_0' is not a number"),
    ],
)
def test_faults_in_delimited_text(tmp_path, text, error, message):
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(error) as found:
        read(path)
    assert str(found.value).startswith(f"{path}: ")
    assert message in str(found.value)
    assert "\n" not in str(found.value)


def test_faults_in_compressed_text(tmp_path):
    path = tmp_path / "x.csv.gz"
    whole = gzip.compress(b"a,b\n" + b"1,2\n" * 5000)
    path.write_bytes(b"no gzip")
    with pytest.raises(FileFormatError, match="cannot be read"):
        read(path)
    for length in range(0, len(whole) - 1, 7):
        path.write_bytes(whole[:length])
        with pytest.raises(FedMFError):
            read(path)
    (tmp_path / "x.csv").write_bytes(b"a,b\n1,\xff\n")
    with pytest.raises(FileFormatError, match=r"cannot be read .*invalid start byte"):
        read(tmp_path / "x.csv")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": [1.0, None]}), "row 2, column 'a': there is no value"),
        (pd.DataFrame({"a": [1.0], "b": ["x"]}), "column 'b' holds "),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), "column 'a' holds timestamp"),
        (pd.DataFrame({"a": []}, dtype=float), "there are 0 samples and 1 features"),
    ],
)
def test_faults_in_parquet(tmp_path, frame, message):
    path = tmp_path / "x.parquet"
    frame.to_parquet(path)
    with pytest.raises(DataError) as found:
        read(path)
    assert str(found.value).startswith(f"{path}: {message}")
    held = path.read_bytes()
    path.write_bytes(held[: len(held) // 2])
    with pytest.raises(FileFormatError, match="no whole Parquet file"):
        read(path)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_unknown_columns(tmp_path, name):
    frame = pd.DataFrame({"a": [1], "type": ["x"]})
    path = tmp_path / name
    frame.to_csv(path, index=False) if name == "x.csv" else frame.to_parquet(path)
    with pytest.raises(ParameterError) as found:
        read(path, Wanted(labels="tpye"))
    expected = f"{path}: there is no column 'tpye'; did you mean 'type'? (it has a, type)"
    assert str(found.value) == expected


def test_many_columns_are_listed_shortly(tmp_path):
    (tmp_path / "x.csv").write_text(",".join(f"f{j}" for j in range(50)) + "\n")
    with pytest.raises(ParameterError, match=r"f10, f11, \.\.\. \(50 in all\)\)$"):
        read(tmp_path / "x.csv", Wanted(labels="zzz"))


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
def test_h5ad(tmp_path, form):
    anndata = pytest.importorskip("anndata")
    from scipy import sparse

    X = np.array([[0, 1.5, 0], [2, 0, 3]], np.float32)
    held = {"dense": X, "csr": sparse.csr_matrix(X), "csc": sparse.csc_matrix(X)}[form]
    obs = pd.DataFrame({"type": pd.Categorical(["x", None])}, index=["c1", "c2"])
    data = anndata.AnnData(held, obs=obs, var=pd.DataFrame(index=["g1", "g2", "g3"]))
    data.write_h5ad(tmp_path / "x.h5ad")
    content = read(tmp_path / "x.h5ad", Wanted(labels="type"))
    assert isinstance(content.X, np.ndarray if form == "dense" else sparse.csr_matrix)
    assert content.X.dtype == np.float32
    found = content.X if form == "dense" else content.X.toarray()
    np.testing.assert_array_equal(found, X)
    assert content.columns["type"][0] == "x"
    assert (content.samples, content.features) == (("c1", "c2"), ("g1", "g2", "g3"))
    with pytest.raises(ParameterError, match="no column 'tipe'; did you mean 'type'"):
        read(tmp_path / "x.h5ad", Wanted(labels="tipe"))


def test_h5ad_broken(tmp_path):
    pytest.importorskip("anndata")
    (tmp_path / "x.h5ad").write_bytes(b"junk")
    with pytest.raises(FileFormatError, match=r"x\.h5ad: no whole \.h5ad file"):
        read(tmp_path / "x.h5ad")


def test_h5ad_without_anndata(tmp_path, monkeypatch):
    (tmp_path / "x.h5ad").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(FileFormatError, match=r'needs anndata: pip install "fedmf\[h5ad\]"$'):
        read(tmp_path / "x.h5ad")
