"""The data of a trial, dealt out to sites: made once, shared by all trials that need them.

A federation is kept in a folder of a cache: the rows in the order of the sites in one .npy (three
for CSR), so that every process maps the same file and a site is a view of it. The folder appears
under its name when it is complete.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from fedmf import datasets, partitions, preparation
from fedmf.arrays import IntArray, Rows
from fedmf.errors import MissingDataError
from fedmf.plugins import with_options
from fedmf.trials.trial import GIVEN, digest

if TYPE_CHECKING:
    from fedmf.trials.trial import Trial


@dataclass(frozen=True)
class Spread:
    """The sites' rows, each sample's place in the data, and its class where classes are known."""

    rows: list[Rows]
    places: IntArray  # (N,), in the order of the sites
    classes: IntArray | None  # (N,), in the order of the sites


def key_of(trial: Trial) -> str:
    """Return the name of a trial's federation."""
    return digest(trial.place)


def make(trial: Trial, data_dir: str | None = None) -> Spread:
    """Read a trial's data and deal them out."""
    if trial.data.startswith(GIVEN):
        raise MissingDataError(f"the data {trial.data!r} are not in the cache")
    source, options = with_options(trial.data, datasets.names())
    table = datasets.load(source, data_dir=data_dir, **options)
    X: Any = table.X
    X = X.astype(trial.dtype, copy=False) if isinstance(X, np.ndarray) else X.tocsr().astype(
        trial.dtype
    )  # fmt: skip
    codes = None if table.labels is None else np.unique(table.labels, return_inverse=True)[1]
    whole = [np.arange(X.shape[0])]
    if trial.how.pooled or trial.partition is None:
        dealt = whole
    else:
        name, given = with_options(trial.partition, partitions.names())
        labels: Any = table.labels
        seed = trial.partition_seed
        dealt = partitions.partition(name, X, labels, trial.n_sites, seed, **given)
    rows = partitions.split(X, dealt)
    if trial.prepare is not None:
        name, given = with_options(trial.prepare, preparation.names())
        rows = preparation.make(name, **given).fit_transform(rows)
    places = np.concatenate(dealt)
    return Spread(rows, places, None if codes is None else codes[places])


class Cache:
    """Federations in a folder.

    Parameters
    ----------
    folder : made where it is not there.
    data_dir : where the files of the built-in data sets lie; None: `FEDMF_DATA`.
    """

    def __init__(self, folder: str | os.PathLike[str], data_dir: str | None = None) -> None:
        self.folder = Path(folder)
        self.data_dir = data_dir

    def holds(self, trial: Trial) -> bool:
        """Whether a trial's federation is there."""
        return (self.folder / key_of(trial)).is_dir()

    def get(self, trial: Trial) -> Spread:
        """Return a trial's federation, made now if it is not there."""
        if not self.holds(trial):
            self.put(trial, make(trial, self.data_dir))
        return read(self.folder / key_of(trial))

    def put(self, trial: Trial, spread: Spread) -> None:
        """Keep a federation; where another process was faster, its copy stays."""
        self.folder.mkdir(parents=True, exist_ok=True)
        target, half = self.folder / key_of(trial), Path(mkdtemp(prefix=".half-", dir=self.folder))
        try:
            write(half, spread)
            if not target.is_dir():
                half.rename(target)
        except OSError:
            if not target.is_dir():
                raise
        finally:
            rmtree(half, ignore_errors=True)


def write(folder: Path, spread: Spread) -> None:
    """Write a federation's files."""
    sizes = np.array([own.shape[0] for own in spread.rows])
    files: dict[str, Any] = {"sizes": sizes, "places": spread.places}
    if spread.classes is not None:
        files["classes"] = spread.classes
    first = spread.rows[0]
    if isinstance(first, np.ndarray):
        _write_rows(folder / "rows.npy", spread.rows)
    else:
        together = sparse.vstack(spread.rows, format="csr")
        files |= {name: getattr(together, name) for name in ("data", "indices", "indptr")}
        files["shape"] = np.array(together.shape)
    for name, array in files.items():
        np.save(folder / f"{name}.npy", array, allow_pickle=False)


def read(folder: Path) -> Spread:
    """Return a federation from its files; dense rows stay in the file."""
    sizes, places = _load(folder, "sizes"), _load(folder, "places")
    classes = _load(folder, "classes") if (folder / "classes.npy").exists() else None
    if (folder / "rows.npy").exists():
        X: Any = np.load(folder / "rows.npy", mmap_mode="r", allow_pickle=False)
    else:
        parts = tuple(_load(folder, name) for name in ("data", "indices", "indptr"))
        X = sparse.csr_array(parts, shape=tuple(_load(folder, "shape").tolist()))
    edges = np.cumsum([0, *sizes])
    return Spread([X[first:last] for first, last in pairwise(edges)], places, classes)


def _write_rows(path: Path, rows: Sequence[Any]) -> None:
    """Write the sites' rows below each other, without a copy of all in memory."""
    count = sum(own.shape[0] for own in rows)
    header = {"descr": rows[0].dtype.str, "fortran_order": False,
              "shape": (count, rows[0].shape[1])}  # fmt: skip
    with path.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for own in rows:
            file.write(np.ascontiguousarray(own).data)


def _load(folder: Path, name: str) -> Any:
    return np.load(folder / f"{name}.npy", allow_pickle=False)
