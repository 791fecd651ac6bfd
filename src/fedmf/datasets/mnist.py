"""MNIST: handwritten digits, 28 x 28 pixels scaled to [0, 1] (Section V of the paper).

The paper takes 10000 images of the training set and does not say which. The default here is the
first 10000; with a seed it is a draw without replacement, in the order of the file.
"""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fedmf.datasets import _folder
from fedmf.datasets._card import Card, Remote
from fedmf.datasets._select import check_count
from fedmf.datasets._table import Table, float_type
from fedmf.errors import FileFormatError, ParameterError
from fedmf.readers import Vector
from fedmf.readers._content import one_line
from fedmf.rng import resolve_seed, stream

MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)
# the files as first published; repackaged ones differ in their gzip bytes, not in what they hold
PUBLISHED = {
    "train-images-idx3-ubyte": "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
    "train-labels-idx1-ubyte": "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
    "t10k-images-idx3-ubyte": "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
    "t10k-labels-idx1-ubyte": "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
}
CARD = Card(
    name="mnist",
    title="MNIST handwritten digits, the first 10000 of the training set",
    samples=10000,
    features=784,
    classes=10,
    source="http://yann.lecun.com/exdb/mnist/ (LeCun, Cortes, Burges)",
    licence="not stated there",
    files=("train-images-idx3-ubyte.gz and train-labels-idx1-ubyte.gz (or without .gz)",),
    remotes=tuple(
        Remote(f"{name}.gz", tuple(f"{mirror}{name}.gz" for mirror in MIRRORS), checksum)
        for name, checksum in PUBLISHED.items()
    ),
    notes="options: images (None: all), seed (None: the first ones), part (train or test), dtype",
)


def load(
    data_dir: Path | None,
    *,
    images: int | None = 10000,
    seed: int | None = None,
    part: str = "train",
    dtype: npt.DTypeLike = np.float64,
) -> Table:
    """Return images x pixels; `images` None takes all, a seed draws instead of taking the first."""
    if part not in ("train", "test"):
        raise ParameterError(f"part must be train or test, got {part!r}")
    prefix = "train" if part == "train" else "t10k"
    path = _need(data_dir, f"{prefix}-images", "idx3-ubyte")
    pixels = read_idx(path)
    labels = read_idx(_need(data_dir, f"{prefix}-labels", "idx1-ubyte"))
    if pixels.ndim != 3 or labels.shape != (len(pixels),):
        raise FileFormatError(f"{path}: images {pixels.shape} and labels {labels.shape} do not fit")
    kept = _choose(len(pixels), images, seed)
    X = pixels[kept].reshape(len(kept), -1).astype(float_type(dtype))
    X /= 255
    return Table(
        X, labels[kept].astype(np.int64), name="mnist", source=f"{path}, {part}, seed {seed}"
    )


def read_idx(path: Path) -> Vector:
    """Return the bytes of an IDX file, plain or gzipped, as an array of uint8."""
    opener = gzip.open if path.suffix == ".gz" else open
    try:
        with opener(path, "rb") as file:
            held = file.read()
    except (OSError, EOFError, zlib.error) as problem:
        raise FileFormatError(f"{path}: cut short or damaged ({one_line(problem)})") from None
    if len(held) < 4 or held[:3] != b"\0\0\x08" or len(held) < 4 + 4 * held[3]:
        raise FileFormatError(f"{path}: no IDX file of bytes (it begins with {held[:4].hex()})")
    start = 4 + 4 * held[3]
    shape = struct.unpack(f">{held[3]}I", held[4:start])
    if len(held) - start != math.prod(shape):
        raise FileFormatError(f"{path}: {math.prod(shape)} bytes promised, got {len(held) - start}")
    return np.frombuffer(held, np.uint8, offset=start).reshape(shape)


def _need(data_dir: Path | None, stem: str, kind: str) -> Path:
    names = (f"{stem}{joint}{kind}{end}" for end in (".gz", "") for joint in "-.")
    return _folder.need(data_dir, CARD, names)


def _choose(total: int, images: int | None, seed: int | None) -> Vector:
    check_count("images", images, total)
    count = total if images is None else min(int(images), total)
    if seed is None:
        return np.arange(count)
    drawn = stream(resolve_seed(seed), "mnist").choice(total, size=count, replace=False)
    return np.sort(drawn)
