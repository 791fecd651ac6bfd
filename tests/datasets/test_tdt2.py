import struct
import zlib

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from sklearn.feature_selection import chi2

from fedmf import datasets
from fedmf.datasets._select import largest_classes, top_features
from fedmf.errors import FileFormatError, MissingDataError, ParameterError


@pytest.fixture
def counts():
    rng = np.random.default_rng(0)
    fea = rng.poisson(0.6, size=(40, 30)) * (rng.random((40, 30)) < 0.5)
    fea[:, 7] = 0  # a word of the dictionary that no document has
    return fea.astype(np.uint16), np.repeat([1, 2, 3], [20, 12, 8])


def _write_npz(folder, fea, gnd):
    X = sparse.csr_matrix(fea)
    parts = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    np.savez_compressed(folder / "tdt2_top30.npz", label=gnd.astype(np.int16), **parts)


def _write_mat(folder, fea, gnd):
    held = {"fea": sparse.csc_matrix(fea.astype(float)), "gnd": gnd.astype(float)[:, None]}
    savemat(folder / "TDT2.mat", held)


def test_both_layouts_give_the_same(tmp_path, counts):
    for name, write in (("npz", _write_npz), ("mat", _write_mat)):
        (tmp_path / name).mkdir()
        write(tmp_path / name, *counts)
    one, other = (datasets.load("tdt2", data_dir=tmp_path / n, features=9) for n in ("npz", "mat"))
    assert one.X.dtype == np.float64
    np.testing.assert_array_equal(one.X.toarray(), other.X.toarray())
    np.testing.assert_array_equal(one.labels, other.labels)
    assert one.features == other.features


def test_the_words_have_the_highest_scores(tmp_path, counts):
    _write_npz(tmp_path, *counts)
    table = datasets.load("tdt2", data_dir=tmp_path, features=9)
    scores = np.nan_to_num(chi2(*counts)[0], nan=-1)
    words = [int(name.removeprefix("word ")) for name in table.features]
    assert words == sorted(words)
    assert scores[words].min() >= np.delete(scores, words).max()
    np.testing.assert_array_equal(table.X.toarray(), counts[0][:, words])


def test_all_words_and_the_largest_classes(tmp_path, counts):
    _write_npz(tmp_path, *counts)
    table = datasets.load("tdt2", data_dir=tmp_path, features=None, types=2)
    assert table.X.shape == (32, 30)
    assert np.unique(table.labels).tolist() == [1, 2]


def test_tfidf_gives_documents_of_unit_length(tmp_path, counts):
    _write_npz(tmp_path, *counts)
    table = datasets.load("tdt2", data_dir=tmp_path, weighting="tfidf")
    lengths = np.sqrt(table.X.multiply(table.X).sum(axis=1))
    np.testing.assert_allclose(lengths, 1)


def test_selection_in_blocks_is_that_of_all_features(monkeypatch):
    X = np.random.default_rng(1).random((50, 23))
    labels = np.arange(50) % 4
    whole = top_features(X, labels, 6)
    monkeypatch.setattr("fedmf.datasets._select.COLUMNS", 5)
    np.testing.assert_array_equal(top_features(X, labels, 6), whole)
    np.testing.assert_array_equal(np.sort(np.argsort(-chi2(X, labels)[0])[:6]), whole)


def test_largest_classes_take_ties_by_name():
    labels = np.array(["b", "a", "c", "c", "d"])
    assert largest_classes(labels, 2).tolist() == [False, True, True, True, False]
    assert largest_classes(labels, None).all()


def element(kind, data):
    """Return a big-endian element of a MATLAB file, in the short form where it fits."""
    if len(data) <= 4:
        return struct.pack(">HH", len(data), kind) + data.ljust(4, b"\0")
    return struct.pack(">II", kind, len(data)) + data + bytes(-len(data) % 8)


def matrix(name, shape, flags, *parts):
    about = element(6, struct.pack(">II", flags, 0)), element(5, struct.pack(">ii", *shape))
    return element(14, b"".join([*about, element(1, name), *parts]))


def mat_file(*elements, version=0x0100, order=b"MI"):
    header = b"MATLAB 5.0 MAT-file".ljust(124) + struct.pack(">H", version) + order
    return header + b"".join(elements)


TEXT = matrix(b"note", (1, 2), 4, element(4, b"ab"))
DENSE = matrix(b"fea", (3, 2), 6, element(2, bytes([1, 0, 2, 0, 3, 0])))  # doubles, kept as bytes
FEW = matrix(b"fea", (3, 2), 5, element(5, struct.pack(">iii", 0, 2, 1)),
             element(5, struct.pack(">iii", 0, 2, 3)), element(2, b"\1\2\3"))  # fmt: skip
CLASSES = matrix(b"gnd", (3, 1), 6, element(2, b"\4\4\7"))


@pytest.mark.parametrize("fea", [DENSE, FEW], ids=["dense", "sparse"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_mat_file_byte_by_byte(fea, packed, tmp_path):
    """Of the other byte order, with numbers stored in fewer bytes, as MATLAB does."""
    parts = [TEXT, fea, CLASSES]
    if packed:
        parts = [struct.pack(">II", 15, len(data)) + data for data in map(zlib.compress, parts)]
    (tmp_path / "TDT2.mat").write_bytes(mat_file(*parts))
    table = datasets.load("tdt2", data_dir=tmp_path, features=None)
    assert table.X.toarray().tolist() == [[1, 0], [0, 3], [2, 0]]
    assert table.X.dtype == np.float64
    assert table.labels.tolist() == [4, 4, 7]


@pytest.mark.parametrize(
    ("held", "said"),
    [
        (mat_file(version=0x0200), "its version is 0x0200; save it with -v7"),
        (mat_file(order=b"??"), "its header is not that of version 5 to 7.2"),
        (mat_file(FEW[:-8], CLASSES), "no whole MATLAB file"),
        (mat_file(DENSE, CLASSES[:-9]), "it is cut short"),
        (mat_file(DENSE, matrix(b"gnd", (3, 1), 0x0806, b"")), "gnd is complex"),
        (mat_file(DENSE, matrix(b"gnd", (3, 1), 1, b"")), "gnd is no matrix of real numbers"),
        (mat_file(FEW.replace(b"\0\0\0\1\0\0\0\0", b"\0\0\0\7\0\0\0\0"), CLASSES), "indices"),
        (mat_file(TEXT, DENSE), "fea and gnd are not both there"),
        (
            mat_file(
                DENSE, matrix(b"gnd", (3, 1), 6, element(7, struct.pack(">fff", 1, 2, np.inf)))
            ),
            "not all counts and categories are finite numbers",
        ),
    ],
)
def test_a_mat_file_that_cannot_be_used(held, said, tmp_path):
    (tmp_path / "TDT2.mat").write_bytes(held)
    with pytest.raises(FileFormatError, match=r"TDT2\.mat: ") as error:
        datasets.load("tdt2", data_dir=tmp_path)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_errors(tmp_path, counts):
    with pytest.raises(MissingDataError, match=r"`fedmf data prepare tdt2` downloads it") as error:
        datasets.load("tdt2", data_dir=tmp_path)
    assert "\n" not in str(error.value)
    with pytest.raises(ParameterError, match="weighting must be counts or tfidf, got 'tf'"):
        datasets.load("tdt2", data_dir=tmp_path, weighting="tf")
    (tmp_path / "TDT2.mat").write_bytes(b"MATLAB 5.0 MAT-file" + bytes(200))
    with pytest.raises(FileFormatError, match=r"TDT2\.mat: no whole MATLAB file"):
        datasets.load("tdt2", data_dir=tmp_path)
    savemat(tmp_path / "TDT2.mat", {"fea": np.eye(3)})
    with pytest.raises(FileFormatError, match="fea and gnd are not both there"):
        datasets.load("tdt2", data_dir=tmp_path)
    savemat(tmp_path / "TDT2.mat", {"fea": np.eye(3), "gnd": np.ones(4)})
    with pytest.raises(FileFormatError, match="3 documents, but 4 labels"):
        datasets.load("tdt2", data_dir=tmp_path)
    _write_npz(tmp_path, *counts)
    with pytest.raises(ParameterError, match=r"features must be None or 1 \.\.\. 30, got 0"):
        datasets.load("tdt2", data_dir=tmp_path, features=0)
