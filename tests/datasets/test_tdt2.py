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
