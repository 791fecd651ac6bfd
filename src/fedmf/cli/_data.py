"""From DATA and the options beside it to the sites' rows.

A built-in data set and a partition can have options of their own, written behind a colon:
`synthetic:preset=paper,N=3000`, `dirichlet:alpha=0.3`.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from fedmf.errors import ParameterError
from fedmf.plugins import with_options

if TYPE_CHECKING:
    from fedmf.arrays import IntArray, Rows
    from fedmf.datasets import Table

KEYS = ("source", "sites", "labels", "samples", "drop", "partition", "n_sites", "data_dir")


class Spread(NamedTuple):
    """A table spread over sites."""

    table: Table  # its X is None where the sites' rows are apart
    places: list[IntArray]  # which rows of the table each site has
    names: list[str]  # the sites', where the data name them
    apart: list[Rows] | None = None  # each site's rows, where they have a file each
    features: list[Any] | None = None  # each site's, where they may differ

    @property
    def rows(self) -> list[Rows]:
        """Each site's rows, (n_p, M)."""
        from fedmf.partitions import split

        return split(self.table.X, self.places) if self.apart is None else self.apart

    @property
    def X(self) -> Any:
        """All samples in the order of the data; what lies in several files is not read yet."""
        from scipy import sparse

        from fedmf.partitions import Stacked

        if self.apart is None:
            return self.table.X
        if sparse.issparse(self.apart[0]):
            return sparse.vstack(self.apart, format="csr")
        return Stacked(self.apart)

    @contextmanager
    def mapped(self, beside: Path) -> Iterator[list[Rows]]:
        """Give each site's rows; what is too large for memory is put in order in a file meanwhile.

        That file is in a temporary folder beside the one that is named.
        """
        from fedmf.partitions._split import is_too_large, rewrite

        if self.apart is not None or not is_too_large(self.table.X, self.places):
            yield self.rows
            return
        place = beside.resolve().parent
        place.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".fedmf-", dir=place) as folder:
            click.echo(
                f"note: the sites' rows are scattered over a file too large for memory; they are "
                f"written site by site to {folder} for this run",
                err=True,
            )
            yield rewrite(self.table.X, self.places, Path(folder) / "rows.npy")

    @property
    def classes(self) -> Any:
        """The true class of each sample in the order of the sites, or None."""
        labels = self.table.labels
        return None if labels is None else np.asarray(labels)[np.concatenate(self.places)]


def read(data: dict[str, Any]) -> Table:
    """Return the table that a [data] table of settings describes."""
    from fedmf import datasets

    if not data.get("source"):
        raise click.UsageError("name the data: a file, a folder or one of `fedmf data list`")
    source, options = with_options(str(data["source"]), datasets.names())
    return datasets.load(source, data_dir=data.get("data_dir"), **_columns(data), **options)


def spread(data: dict[str, Any], seed: int, *, fit: bool = True) -> Spread:
    """Read the data and spread them over sites; a folder's files are not put together.

    `fit`: these files must have the same features.
    """
    if _is_folder(data.get("source")):
        _refuse_partition(data)
        return _by_file(data, fit)
    table = read(data)
    asked, partition = data.get("n_sites"), data.get("partition")
    if table.sites is not None:
        _refuse_partition(data)
        return _by_column(table)
    if partition is None and asked is None:
        click.echo(
            "note: no sites were given, so all samples are one site; "
            "--sites COLUMN or --partition NAME says otherwise",
            err=True,
        )
        return Spread(table, [np.arange(table.X.shape[0])], [])
    return Spread(table, _dealt(table, partition or "iid", asked, seed), [])


def _refuse_partition(data: dict[str, Any]) -> None:
    if data.get("n_sites") is not None or data.get("partition") not in (None, "column"):
        raise ParameterError("the data name their sites: leave out --partition and --n-sites")


def _is_folder(source: Any) -> bool:
    named = bool(source) and not _is_builtin("source", source)
    return named and Path(str(source)).expanduser().is_dir()


def _by_file(data: dict[str, Any], fit: bool) -> Spread:
    """Return the files of a folder as sites, in the order of their names, each left where it is."""
    from fedmf import datasets
    from fedmf.datasets._files import facts

    folder = Path(str(data["source"])).expanduser()
    tables = dict(sorted(datasets.load_sites(folder, **_columns(data)).items()))
    rows = [table.X for table in tables.values()]
    edges = np.cumsum([0, *(own.shape[0] for own in rows)])
    places = list(map(np.arange, edges[:-1], edges[1:]))
    features = None if fit else [table.features for table in tables.values()]
    return Spread(facts(folder, tables, fit=fit), places, list(tables), rows, features)


def _columns(data: dict[str, Any]) -> dict[str, Any]:
    found = {key: data[key] for key in ("sites", "labels", "samples", "drop") if data.get(key)}
    if "drop" in found:
        found["drop"] = next(csv.reader([found["drop"]], skipinitialspace=True))
    return found


def _by_column(table: Table) -> Spread:
    from fedmf.partitions import partition

    places = partition("column", table.X, column=table.sites)
    return Spread(table, places, [str(name) for name in np.unique(np.asarray(table.sites))])


def _dealt(table: Table, text: str, asked: int | None, seed: int) -> list[IntArray]:
    from fedmf import partitions

    name, options = with_options(text, partitions.names())
    labels: Any = table.labels
    return partitions.partition(name, table.X, labels, asked, seed, **options)


def absolute(data: dict[str, Any]) -> dict[str, Any]:
    """Return the same settings with full paths, to be found again from anywhere."""
    return {
        key: str(Path(value).expanduser().resolve()) if _is_path(key, value) else value
        for key, value in data.items()
        if value is not None
    }


def _is_path(key: str, value: Any) -> bool:
    from fedmf.datasets._files import names_file

    if key in ("sites", "labels"):  # else a column, even where a file has its name
        named = names_file(value)
    else:
        named = key in ("source", "data_dir") and not _is_builtin(key, value)
    return named and Path(str(value)).expanduser().exists()


def _is_builtin(key: str, value: Any) -> bool:
    from fedmf import datasets

    return key == "source" and str(value).partition(":")[0] in datasets.names()
