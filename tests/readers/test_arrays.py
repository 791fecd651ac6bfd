"""NumPy's files and SciPy's: .npy, .npz, .mtx."""

import gzip
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import io as sio
from scipy import sparse

from fedmf.errors import DataError, FedMFError, FileFormatError, MissingDataError, ParameterError
from fedmf.readers import Wanted, ending, endings, read

SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, max_side=6)
FLOATS = st.one_of(
    hnp.arrays(np.float64, SHAPES, elements=st.floats(allow_nan=False, allow_infinity=False)),
    hnp.arrays(np.float32, SHAPES, elements=st.floats(-(2.0**99), 2.0**99, width=32)),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("arrays")


def _same(found, X):
    assert found.dtype == X.dtype
    np.testing.assert_array_equal(found, X)


@settings(deadline=None, max_examples=25)
@given(X=FLOATS, order=st.sampled_from("CF"))
def test_npy_round_trip(folder, X, order):
    np.save(folder / "x.npy", np.asarray(X, order=order))
    found = read(folder / "x.npy").X
    assert isinstance(found, np.memmap)
    _same(found, X)


@settings(deadline=None, max_examples=25)
@given(X=FLOATS, order=st.sampled_from("CF"), save=st.sampled_from([np.savez, np.savez_compressed]))
def test_npz_round_trip(folder, X, order, save):
    save(folder / "x.npz", np.asarray(X, order=order), label=np.arange(len(X)))
    content = read(folder / "x.npz", Wanted(labels="label"))
    assert isinstance(content.X, np.memmap) == (save is np.savez)
    _same(content.X, X)
    assert content.columns["label"].tolist() == list(range(len(X)))


@settings(deadline=None, max_examples=25)
@given(X=FLOATS)
def test_sparse_round_trips(folder, X):
    sparse.save_npz(folder / "s.npz", sparse.csr_matrix(X))
    found = read(folder / "s.npz").X
    assert isinstance(found, sparse.csr_matrix)
    _same(found.toarray(), X)
    sio.mmwrite(folder / "s.mtx", sparse.coo_matrix(X), symmetry="general")
    found = read(folder / "s.mtx").X
    assert isinstance(found, sparse.csr_matrix)
    np.testing.assert_array_equal(found.toarray().astype(X.dtype), X)


@settings(deadline=None, max_examples=25)
@given(X=FLOATS)
def test_dense_mtx_round_trip_gzipped(folder, X):
    text = io.BytesIO()
    sio.mmwrite(text, X, symmetry="general")
    (folder / "d.mtx.gz").write_bytes(gzip.compress(text.getvalue()))
    np.testing.assert_array_equal(read(folder / "d.mtx.gz").X.astype(X.dtype), X)


@pytest.mark.parametrize("kind", [np.uint8, np.int64, bool, ">f8", np.float16, np.longdouble])
def test_other_numbers_become_floats(tmp_path, kind):
    np.save(tmp_path / "x.npy", np.array([[0, 1], [1, 1]], kind))
    X = read(tmp_path / "x.npy").X
    assert X.dtype == (np.float32 if kind is np.float16 else np.float64)
    assert X.dtype.isnative
    np.testing.assert_array_equal(X, [[0, 1], [1, 1]])


def test_npz_names_its_features_and_its_matrix(tmp_path):
    np.savez(tmp_path / "x.npz", X=np.eye(2), other=np.ones((2, 2)), feature=np.array(["f", "g"]))
    content = read(tmp_path / "x.npz")
    assert content.features == ("f", "g")
    np.testing.assert_array_equal(content.X, np.eye(2))


def test_mtx_of_a_pattern_with_comments(tmp_path):
    text = "%%MatrixMarket matrix coordinate pattern general\n% made by hand\n\n2 3 2\n1 3\n2 1\n"
    (tmp_path / "x.mtx").write_text(text)
    found = read(tmp_path / "x.mtx").X
    np.testing.assert_array_equal(found.toarray(), [[0, 0, 1], [1, 0, 0]])


def test_mtx_without_entries(tmp_path):
    text = "%%MatrixMarket matrix coordinate real general\n2 3 0\n"
    (tmp_path / "x.mtx").write_text(text)
    assert read(tmp_path / "x.mtx").X.nnz == 0


def _npy(array):
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def _npz(save=np.savez, **arrays):
    held = io.BytesIO()
    save(held, **arrays)
    return held.getvalue()


def _csr(**other):
    parts = {"data": [1.0], "indices": [0], "indptr": [0, 1, 1], "shape": [2, 2]} | other
    return _npz(**{name: np.array(part) for name, part in parts.items()})


def _mtx(body, head="coordinate real general"):
    return f"%%MatrixMarket matrix {head}\n{body}".encode()


def _damaged(held):
    return held[:300] + bytes([held[300] ^ 255]) + held[301:]


COMPRESSED = _npz(np.savez_compressed, X=np.random.default_rng(0).random((30, 30)))


@pytest.mark.parametrize(
    ("name", "held", "error", "text"),
    [
        ("x.npy", b"hello", FileFormatError, "this is no .npy file"),
        ("x.npy", b"", FileFormatError, "this is no .npy file"),
        ("x.npy", _npy(np.eye(3))[:-1], FileFormatError, "cut short or damaged"),
        ("x.npy", _npy(np.eye(3))[:20], FileFormatError, "cut short or damaged"),
        ("x.npy", _npy(np.array([{}])), FileFormatError, "holds Python objects, which are never"),
        ("x.npy", _npy(np.array([["a"]])), FileFormatError, "the array holds str32; allowed are"),
        ("x.npy", _npy(np.eye(2) * 1j), FileFormatError, "the array holds complex128"),
        ("x.npy", _npy(np.ones(3)), DataError, "must have two dimensions (samples, features)"),
        ("x.npy", _npy(np.ones((0, 3))), DataError, "of at least 1, got shape (0, 3)"),
        ("x.npz", b"hello", FileFormatError, "no whole .npz file"),
        ("x.npz", COMPRESSED[:500], FileFormatError, "no whole .npz file"),
        ("x.npz", _damaged(COMPRESSED), FileFormatError, "no whole .npz file"),
        ("x.npz", _npz(X=np.array([[{}]])), FileFormatError, "Python objects, which are never"),
        ("x.npz", _npz(a=np.eye(2), b=np.eye(2)), DataError, "which array is the matrix?"),
        ("x.npz", _npz(X=np.ones(3)), DataError, "X must have two dimensions"),
        ("x.npz", _npz(X=np.ones((2, 0))), DataError, "X must have two dimensions"),
        ("x.npz", _npz(X=np.eye(2), feature=np.arange(3)), DataError, "2 features in X, but (3,)"),
        ("x.npz", _csr(format=b"csc"), FileFormatError, "'csc' (allowed: csr): save X.tocsr()"),
        ("x.npz", _csr(indices=[5]), FileFormatError, "no valid CSR matrix"),
        ("x.npz", _csr(indptr=[0, 9, 9]), FileFormatError, "no valid CSR matrix"),
        ("x.npz", _csr(data=["a"]), FileFormatError, "data holds str32"),
        ("x.mtx", b"", FileFormatError, "no Matrix Market file"),
        ("x.mtx", b"\xff\xfe\0", FileFormatError, "cut short or damaged"),
        ("x.mtx.gz", b"junk", FileFormatError, "cut short or damaged"),
        (
            "x.mtx.gz",
            gzip.compress(_mtx("1 1 1\n1 1 2\n"), mtime=0)[:-9],
            FileFormatError,
            "cut short or",
        ),
        ("x.mtx", _mtx("2 2 2\n1 1 .5\n1 2 4.6E"), FileFormatError, "after the sizes: could not"),
        ("x.mtx", _mtx("2 2 2\n1 1 .5\n1 "), FileFormatError, "after the sizes: "),
        ("x.mtx", _mtx("2 2 2\n1 1 .5\n"), FileFormatError, "2 lines of 3 numbers were to come"),
        ("x.mtx", _mtx("2 2 1\n1 1 1\n1 2 2\n"), FileFormatError, "1 lines of 3 numbers were to"),
        ("x.mtx", _mtx("2 2\n"), FileFormatError, "the line of sizes is '2 2'"),
        ("x.mtx", _mtx(""), FileFormatError, "the line of sizes is ''"),
        ("x.mtx", _mtx("2 2 1\n3 1 1\n"), FileFormatError, "entry [3, 1] lies outside the (2, 2)"),
        ("x.mtx", _mtx("2 2 1\n0 1 1\n"), FileFormatError, "entry [0, 1] lies outside"),
        ("x.mtx", _mtx("0 2 0\n"), DataError, "must have two dimensions"),
        ("x.mtx", _mtx("", "coordinate complex general"), FileFormatError, "coordinate complex"),
        ("x.mtx", _mtx("", "array real symmetric"), FileFormatError, "array real symmetric (allow"),
        ("x.mtx", _mtx("2 1\n1\n", "array real general"), FileFormatError, "2 lines of 1 numbers"),
    ],
)
def test_a_broken_file(tmp_path, name, held, error, text):
    path = tmp_path / name
    path.write_bytes(held)
    with pytest.raises(error) as found:
        read(path)
    assert str(found.value).startswith(f"{path}: ")
    assert text in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.mtx"])
def test_no_cut_of_a_good_file_gets_through(tmp_path, name):
    held = {"x.npy": _npy(np.eye(3)), "x.npz": COMPRESSED, "x.mtx": _mtx("2 2 2\n1 1 .5\n2 2 1e-5")}
    path = tmp_path / name
    for length in range(0, len(held[name]) - 5, max(1, len(held[name]) // 60)):
        path.write_bytes(held[name][:length])
        with pytest.raises(FedMFError):
            read(path)


@pytest.mark.parametrize("name", ["x.npy", "x.npz"])
def test_columns_that_are_not_there(tmp_path, name):
    (np.save if name == "x.npy" else np.savez)(tmp_path / name, np.eye(2))
    with pytest.raises(ParameterError, match=r"there is no column 'label' \(it has none\)"):
        read(tmp_path / name, Wanted(labels="label"))


def test_endings(tmp_path):
    known = ".csv .csv.gz .h5ad .mtx .mtx.gz .npy .npz .parquet .tsv .tsv.gz"
    assert endings() == known.split()
    assert ending(tmp_path / "A.B.CSV.GZ") == ".csv.gz"
    with pytest.raises(FileFormatError, match=r"unknown ending '.xls' \(allowed: .csv, .csv.gz"):
        read(tmp_path / "x.xls")
    with pytest.raises(MissingDataError, match=r"x\.npy: there is no such file"):
        read(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", np.eye(2))
    with pytest.raises(ParameterError, match=r"a \.npy file has no option 'header' \(allowed: lab"):
        read(tmp_path / "x.npy", header=True)
