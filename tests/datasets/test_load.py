"""By name or path; labels, sites and sample ids; a folder with one file for each site."""

import gzip
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from fedmf import datasets
from fedmf.datasets._files import tidy
from fedmf.errors import (
    DataError,
    FileFormatError,
    InputTypeError,
    MissingDataError,
    ParameterError,
    SiteMismatchError,
)

TEXT = "id,a,b,type,hospital\ns1,1,2,x,7\ns2,3,4,y,7\ns3,5,6,,8\n"


@pytest.fixture
def path(tmp_path):
    found = tmp_path / "my.csv"
    found.write_text(TEXT)
    return found


def test_columns_of_the_file(path):
    table = datasets.load(path, labels="type", sites="hospital")
    np.testing.assert_array_equal(table.X, [[1, 2], [3, 4], [5, 6]])
    assert table.labels.tolist() == ["x", "y", "none"]
    assert table.sites.tolist() == [7, 7, 8]
    assert table.sites.dtype == np.int64
    assert table.features == ("a", "b")
    assert table.samples == ("s1", "s2", "s3")
    assert (table.name, table.source) == ("my", str(path))


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("sites.txt", "u\nu\nv\n"),
        ("sites.csv", "site\nu\nu\nv\n"),
        ("sites.csv", "id,site\ns3,v\ns9,w\ns1,u\ns2,u\n"),
        ("sites.tsv", "s3\tv\ns1\tu\ns2\tu\n"),
        ("sites.txt.gz", "u\nu\nv\n"),
        ("sites.csv.gz", "id,site\ns3,v\ns9,w\ns1,u\ns2,u\n"),
        ("sites.tsv.gz", "s3\tv\ns1\tu\ns2\tu\n"),
    ],
)
def test_a_second_file(path, name, text):
    held = text.encode()
    path.with_name(name).write_bytes(gzip.compress(held) if name.endswith(".gz") else held)
    options = {"labels": "type", "samples": "id"}
    path.write_text("\n".join(line.rsplit(",", 1)[0] for line in TEXT.splitlines()))
    table = datasets.load(path, sites=str(path.with_name(name)), **options)
    assert table.sites.tolist() == ["u", "u", "v"]


def test_columns_that_are_neither(path):
    table = datasets.load(path, drop=["type", "hospital"])
    assert table.features == ("a", "b")
    assert datasets.load(path, drop="type").features == ("a", "b", "hospital")
    with pytest.raises(ParameterError, match="there is no column 'typo'; did you mean 'type'"):
        datasets.load(path, drop=["typo"])


def test_arrays_and_a_npy_file(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3))
    np.save(tmp_path / "l.npy", [0, 1, 1])
    table = datasets.load(tmp_path / "x.npy", labels=tmp_path / "l.npy", sites=["p", "q", "p"])
    assert table.labels.tolist() == [0, 1, 1]
    assert table.sites.tolist() == ["p", "q", "p"]


def test_a_npy_file_stays_on_the_disk(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(3, dtype=np.float32))
    X = datasets.load(tmp_path / "x.npy").X
    assert isinstance(X, np.memmap)
    assert X.dtype == np.float32
    assert not X.flags.writeable


def test_finite_values_are_checked_once_unless_told_not_to(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[1.0, np.nan]]))
    with pytest.raises(DataError, match=r"x\.npy: row 1, column 2 is nan, not a finite number"):
        datasets.load(tmp_path / "x.npy")
    assert np.isnan(datasets.load(tmp_path / "x.npy", check=False).X[0, 1])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2], [1, 2]),
        ([1.0, np.nan], [1, -1]),
        (["1", ""], [1, -1]),
        (["a", None], ["a", "none"]),
        (["01", "2"], ["01", "2"]),
        ([1.5, 2.0], ["1.5", "2"]),
        ([True, False], ["True", "False"]),
        (["9" * 30], ["9" * 30]),
        ([b"x", b"y "], ["x", "y"]),
        (np.array([2**63 + 5, 7], np.uint64), [str(2**63 + 5), "7"]),
        (np.array([5, 7], np.uint8), [5, 7]),
    ],
)
def test_labels_are_whole_numbers_or_text(values, expected):
    given = np.array(values, dtype=object if None in list(values) else None)
    assert tidy(given, "x", missing=True).tolist() == expected


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        (
            {"labels": "tipe"},
            ParameterError,
            "no column 'tipe'; did you mean 'type'? (it has id, a",
        ),
        ({"sites": "type", "labels": "a"}, DataError, "sites: sample 3 has none"),
        (
            {"labels": ["x"], "sites": "type"},
            DataError,
            "labels: 3 samples, but the labels have shape (1,)",
        ),
        (
            {"labels": "no.txt", "sites": "type"},
            MissingDataError,
            "no.txt: labels of my.csv: there is no such file",
        ),
        ({"labels": Path("no.rst"), "sites": "type"}, MissingDataError, "there is no such file"),
        ({"labells": "x"}, ParameterError, "option 'labells'; did you mean 'labels'?"),
        (
            {"samples": "hospital", "labels": "type", "sites": "id"},
            DataError,
            "sample id '7' comes more than once",
        ),
        ({}, DataError, "line 2, column 'type': 'x' is not a number (name it as the labels, sites"),
    ],
)
def test_what_does_not_fit_a_file(path, options, error, text):
    with pytest.raises(error) as found:
        datasets.load(path, **options)
    assert text in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("name", "held", "error", "text"),
    [
        ("l.txt", "x\ny\n", DataError, "3 samples, but 2 lines"),
        ("l.txt", "0\n1\n2\n0\n", DataError, "3 samples, but 4 lines"),
        ("l.txt", "x\ny\nx\ny\n", DataError, "3 samples, but 4 lines"),
        ("l.csv.gz", "plain", FileFormatError, "no valid table (Not a gzipped file"),
        ("l.csv", "\udcff", FileFormatError, "the file is not in UTF-8"),
        ("l.csv", "a,b,c\n", FileFormatError, "lines must have one cell or two, got [3]"),
        ("l.csv", "s1,x\ns2,y\n", DataError, "sample 's3' is not in the file"),
        ("l.csv", "s1,x\ns1,y\n", DataError, "sample id 's1' comes more than once"),
        ("l.npy", "no array", FileFormatError, "this is no .npy file"),
    ],
)
def test_what_does_not_fit_a_second_file(path, name, held, error, text):
    path.write_text("id,a\ns1,1\ns2,2\ns3,3\n")
    second = path.with_name(name)
    second.write_text(held, errors="surrogateescape")
    with pytest.raises(error) as found:
        datasets.load(path, labels=second)
    assert text in str(found.value)
    assert str(second) in str(found.value)


def test_a_second_file_with_ids_needs_ids(tmp_path):
    np.save(tmp_path / "x.npy", np.eye(2))
    (tmp_path / "l.csv").write_text("a,1\nb,2\n")
    with pytest.raises(DataError, match="two cells a line need sample ids in the data"):
        datasets.load(tmp_path / "x.npy", labels=tmp_path / "l.csv")
    (tmp_path / "l.xls").write_text("")
    with pytest.raises(FileFormatError, match="unknown ending"):
        datasets.load(tmp_path / "x.npy", labels=tmp_path / "l.xls")


@pytest.fixture
def folder(tmp_path):
    found = tmp_path / "sites"
    found.mkdir()
    (found / "bonn.csv").write_text("id,a,b,type\ns1,1,2,x\ns2,3,4,y\n")
    (found / "aachen.csv").write_text("id,a,b,type\ns7,5,6,x\n")
    (found / ".hidden").write_text("")
    return found


def test_a_folder_holds_a_file_for_each_site(folder):
    table = datasets.load(folder, labels="type")
    np.testing.assert_array_equal(table.X, [[5, 6], [1, 2], [3, 4]])
    assert table.sites.tolist() == ["aachen", "bonn", "bonn"]
    assert table.labels.tolist() == ["x", "x", "y"]
    assert table.samples == ("s7", "s1", "s2")


def test_sites_of_a_folder_can_stay_apart_and_on_the_disk(tmp_path):
    for name, count in (("a", 2), ("b", 3)):
        np.save(tmp_path / f"{name}.npy", np.ones((count, 4)))
    sites = datasets.load_sites(tmp_path)
    assert {name: table.X.shape for name, table in sites.items()} == {"a": (2, 4), "b": (3, 4)}
    assert all(isinstance(table.X, np.memmap) for table in sites.values())


def test_sparse_sites(tmp_path):
    for name in "ab":
        sparse.save_npz(tmp_path / f"{name}.npz", sparse.csr_matrix(np.eye(3)))
    table = datasets.load(tmp_path)
    assert isinstance(table.X, sparse.csr_matrix)
    assert table.X.shape == (6, 3)
    assert table.labels is None


def test_sites_that_do_not_fit(folder):
    with pytest.raises(ParameterError, match="sites cannot be given"):
        datasets.load(folder, sites="type")
    (folder / "bonn.npy").write_bytes(b"")
    with pytest.raises(DataError, match="site 'bonn' comes more than once"):
        datasets.load(folder, labels="type")
    (folder / "bonn.npy").rename(folder / "notes.doc")
    with pytest.raises(FileFormatError, match=r"notes\.doc: unknown ending '.doc' \(allowed: .csv"):
        datasets.load(folder, labels="type")
    (folder / "notes.doc").unlink()
    (folder / "bonn.csv").write_text("id,a,c,type\ns1,1,2,x\n")
    with pytest.raises(
        SiteMismatchError, match="feature 2 is 'c' at site 'bonn', 'b' at site 'aach"
    ):
        datasets.load(folder, labels="type")
    (folder / "bonn.csv").write_text("id,a,type\ns1,1,x\n")
    with pytest.raises(SiteMismatchError, match="site 'bonn' has 1 features, site 'aachen' 2"):
        datasets.load(folder, labels="type")
    (folder / "bonn.csv").write_text("id,a,b,type\ns1,1,2,7\n")
    with pytest.raises(
        SiteMismatchError, match="labels are numbers at one site and text at another"
    ):
        datasets.load(folder, labels="type")
    (folder / "bonn.csv").unlink()
    sparse.save_npz(folder / "bonn.npz", sparse.csr_matrix(np.eye(2)))
    (folder / "aachen.csv").write_text("a,b\n1,2\n")
    with pytest.raises(SiteMismatchError, match="one is sparse, one dense"):
        datasets.load(folder)


def test_folders_that_are_not_there(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(MissingDataError, match="the folder holds no file"):
        datasets.load(tmp_path / "empty")
    with pytest.raises(MissingDataError, match="there is no such folder"):
        datasets.load_sites(tmp_path / "none")
    with pytest.raises(MissingDataError, match="there is no such file or folder"):
        datasets.load(tmp_path / "none.csv")


def test_names():
    assert datasets.names() == ["mnist", "synthetic", "tcga", "tcga-mirna", "tcga-mrna", "tdt2"]
    with pytest.raises(ParameterError) as error:
        datasets.load("minst")
    assert str(error.value).startswith("data set must be one of mnist, synthetic, ")
    with pytest.raises(MissingDataError, match=r"^minst\.txt: there is no such file or folder$"):
        datasets.load("minst.txt")  # with an ending it was meant as a file
    with pytest.raises(ParameterError, match=r"^data set must be one of .* got ''"):
        datasets.load("")
    for given in (5, None, ["my.csv"]):
        with pytest.raises(InputTypeError, match=r"^data must be a path or a .*, got \w+$"):
            datasets.load(given)
    assert str(error.value).endswith("got 'minst'; did you mean 'mnist'?")


@pytest.mark.parametrize("name", datasets.names())
def test_each_built_in_set_has_a_card(name):
    card = datasets.describe(name)
    assert card.name == name
    for text in (card.title, card.source, card.licence, card.notes, *card.files):
        assert text
        assert "\n" not in text
    assert all(url.startswith("http") for remote in card.remotes for url in remote.urls)


def test_nothing_heavy_is_imported_early():
    code = (
        "import sys, fedmf.datasets, fedmf.readers; fedmf.readers.endings(); "
        "[fedmf.datasets.describe(n) for n in fedmf.datasets.names()]; "
        "print([m for m in ('pandas', 'pyarrow', 'sklearn', 'anndata', 'scipy.io') "
        "if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
