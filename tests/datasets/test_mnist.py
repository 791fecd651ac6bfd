import gzip
import struct

import numpy as np
import pytest

from fedmf import datasets
from fedmf.datasets.mnist import read_idx
from fedmf.errors import FileFormatError, MissingDataError, ParameterError


def _idx(array):
    return (
        b"\0\0\x08"
        + bytes([array.ndim])
        + struct.pack(f">{array.ndim}I", *array.shape)
        + bytes(array)
    )


@pytest.fixture
def digits():
    rng = np.random.default_rng(0)
    return rng.integers(0, 256, (30, 28, 28), np.uint8), np.arange(30, dtype=np.uint8) % 10


@pytest.fixture
def folder(tmp_path, digits):
    for name, array in zip(("images-idx3", "labels-idx1"), digits, strict=True):
        (tmp_path / f"train-{name}-ubyte.gz").write_bytes(gzip.compress(_idx(array.copy())))
    return tmp_path


def test_the_first_images_scaled(folder, digits):
    table = datasets.load("mnist", data_dir=folder, images=12)
    np.testing.assert_array_equal(table.X, digits[0][:12].reshape(12, 784) / 255)
    np.testing.assert_array_equal(table.labels, digits[1][:12])


def test_all_images_and_float32(folder):
    table = datasets.load("mnist", data_dir=folder, images=None, dtype=np.float32)
    assert table.X.shape == (30, 784)
    assert table.X.dtype == np.float32


def test_a_seed_draws_in_the_order_of_the_file(folder, digits):
    table = datasets.load("mnist", data_dir=folder, images=10, seed=3)
    rows = [int(np.flatnonzero((digits[0].reshape(30, -1) / 255 == x).all(1))[0]) for x in table.X]
    assert rows == sorted(set(rows))
    assert rows != list(range(10))
    again = datasets.load("mnist", data_dir=folder, images=10, seed=3)
    np.testing.assert_array_equal(table.X, again.X)


def test_plain_files_with_a_dot_in_a_folder_of_the_name(tmp_path, digits):
    (tmp_path / "mnist").mkdir()
    for name, array in zip(("images.idx3", "labels.idx1"), digits, strict=True):
        (tmp_path / "mnist" / f"t10k-{name}-ubyte").write_bytes(_idx(array.copy()))
    table = datasets.load("mnist", data_dir=tmp_path, part="test")
    assert table.X.shape == (30, 784)


@pytest.mark.parametrize(
    ("held", "text"),
    [
        (gzip.compress(b"\0\0\x08\x01\0\0\0\x02ab", mtime=0)[:-6], "cut short or damaged"),
        (b"plain", "cut short or damaged"),
        (gzip.compress(b"\0\0\x08\x01\0\0\0\x05ab", mtime=0), "5 bytes promised, got 2"),
        (
            gzip.compress(b"\0\0\x0d\x01\0\0\0\x01abcd", mtime=0),
            "no IDX file of bytes (it begins with 00000d01)",
        ),
        (gzip.compress(b"\0\0", mtime=0), "no IDX file of bytes"),
        (gzip.compress(b"\0\0\x08\x03\0\0\0\x01", mtime=0), "no IDX file of bytes"),
    ],
)
def test_a_broken_file(tmp_path, held, text):
    path = tmp_path / "x.gz"
    path.write_bytes(held)
    with pytest.raises(FileFormatError) as error:
        read_idx(path)
    assert str(error.value).startswith(f"{path}: ")
    assert text in str(error.value)


def test_errors(folder, monkeypatch):
    with pytest.raises(ParameterError, match="part must be train or test, got 'valid'"):
        datasets.load("mnist", data_dir=folder, part="valid")
    with pytest.raises(ParameterError, match=r"images must be None or 1 \.\.\. 30, got 2\.5"):
        datasets.load("mnist", data_dir=folder, images=2.5)
    (folder / "train-labels-idx1-ubyte.gz").write_bytes(gzip.compress(_idx(np.zeros(3, np.uint8))))
    with pytest.raises(
        FileFormatError, match=r"images \(30, 28, 28\) and labels \(3,\) do not fit"
    ):
        datasets.load("mnist", data_dir=folder)
    monkeypatch.delenv("FEDMF_DATA", raising=False)
    with pytest.raises(
        MissingDataError, match="no data folder: name it with --data-dir or FEDMF_DATA"
    ):
        datasets.load("mnist")
    monkeypatch.setenv("FEDMF_DATA", str(folder))
    with pytest.raises(FileFormatError, match="do not fit"):
        datasets.load("mnist")
