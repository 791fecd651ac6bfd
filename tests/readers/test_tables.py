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
        ('"a\n(mg)","b, c"\n1,2\n3,4\n', ("a\n(mg)", "b, c"), None),
        ("a,b\nu,1,2\nv,3,4\n", ("a", "b"), ("u", "v")),
        ("id,a,b\r1,1,2\r2,3,4\r", ("id", "a", "b"), None),
    ],
)
def test_headers_and_ids(tmp_path, text, features, samples):
    (tmp_path / "x.csv").write_text(text, encoding="utf-8")
    content = read(tmp_path / "x.csv")
    np.testing.assert_array_equal(content.X[:, -2:], [[1, 2], [3, 4]])
    assert content.X.shape[1] == len(features or "ab")
    assert (content.features, content.samples) == (features, samples)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_the_index_of_pandas_is_no_feature_beside_other_ids(tmp_path, name):
    path = tmp_path / name
    frame = pd.DataFrame({"id": ["v", "w"], "a": [2.0, 3]}, index=[4, 9])
    frame.to_csv(path) if name == "x.csv" else frame.to_parquet(path)
    content = read(path, Wanted(samples="id"))
    assert content.features == ("a",)
    assert content.samples == ("v", "w")
    content = read(path, Wanted(labels="id"))
    assert content.features == ("a",)
    assert content.samples == ("4", "9")


def test_an_index_of_several_columns_is_no_feature(tmp_path):
    path = tmp_path / "x.parquet"
    frame = pd.DataFrame({"site": ["p", "q"], "visit": [1, 2], "id": [7, 8], "a": [3.0, 4]})
    frame.set_index(["site", "visit", "id"]).to_parquet(path)
    content = read(path, Wanted(sites="site"))
    assert (content.features, content.samples) == (("a",), None)
    assert read(path, Wanted(sites="site", drop=("visit",))).samples == ("7", "8")


@pytest.mark.parametrize("name", ["x.csv", "x.tsv.gz", "x.parquet"])
def test_columns_can_be_dropped(tmp_path, name):
    path = tmp_path / name
    frame = pd.DataFrame({"sex": ["f", "m"], "a": [1.0, 2], "age": [50, 60], "b": [3.0, 4]})
    text = {"sep": "\t" if "tsv" in name else ",", "index": False}
    frame.to_parquet(path) if name == "x.parquet" else frame.to_csv(path, **text)
    content = read(path, Wanted(drop=("age", "sex")))
    np.testing.assert_array_equal(content.X, [[1, 3], [2, 4]])
    assert (content.features, content.samples) == (("a", "b"), None)
    with pytest.raises(ParameterError, match="there is no column 'agee'; did you mean 'age'"):
        read(path, Wanted(drop=("agee",)))


def test_large_whole_numbers_stay_apart_beside_missing_ones(tmp_path):
    path = tmp_path / "x.parquet"
    site = pd.array([2**60, 2**60 + 1, None], dtype="Int64")
    pd.DataFrame({"site": site, "a": [1.0, 2, 3]}).to_parquet(path)
    assert read(path, Wanted(labels="site")).columns["site"].tolist() == [2**60, 2**60 + 1, None]


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
        (NAMED, DataError, "line 2, column 'type': 'x' is not a number (name it as the labels,"),
        ('a,b\n1,"2,5"\n', DataError, "'2,5' is not a number (a number has a decimal point and"),
        ("a;b\n1,5;2\n", FileFormatError, "not separated by ',': it begins 'a;b'"),
        ("a\tb\n1\t2\n", FileFormatError, "not separated by ',': it begins 'a\\tb'"),
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
    with pytest.raises(FileFormatError, match=r"x\.csv: the file is not in UTF-8; save it as U"):
        read(tmp_path / "x.csv")
    (tmp_path / "x.csv").write_bytes(b"id,a\n" + b"u,1\n" * 50_000 + b"\xff,2\n")
    with pytest.raises(FileFormatError, match="not in UTF-8"):
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
