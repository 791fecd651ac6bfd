"""From DATA and the options beside it to the sites' rows.

A built-in data set and a partition can have options of their own, written behind a colon:
`synthetic:preset=paper,N=3000`, `dirichlet:alpha=0.3`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
import numpy as np

from fedmf.errors import ParameterError

if TYPE_CHECKING:
    from fedmf.arrays import IntArray, Rows
    from fedmf.datasets import Table

KEYS = ("source", "sites", "labels", "samples", "partition", "n_sites", "data_dir")


class Spread(NamedTuple):
    """A table spread over sites."""

    table: Table
    places: list[IntArray]  # which rows of the table each site has
    names: list[str]  # the sites', where the data name them

    @property
    def rows(self) -> list[Rows]:
        """Each site's rows, (n_p, M)."""
        from fedmf.partitions import split

        return split(self.table.X, self.places)

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
    columns = {key: data[key] for key in ("sites", "labels", "samples") if data.get(key)}
    return datasets.load(source, data_dir=data.get("data_dir"), **columns, **options)


def spread(data: dict[str, Any], seed: int) -> Spread:
    """Read the data and spread them over sites."""
    table = read(data)
    asked, partition = data.get("n_sites"), data.get("partition")
    if table.sites is not None:
        if asked is not None or partition not in (None, "column"):
            raise ParameterError("the data name their sites: leave out --partition and --n-sites")
        return _by_column(table)
    if partition is None and asked is None:
        click.echo(
            "note: no sites were given, so all samples are one site; "
            "--sites COLUMN or --partition NAME says otherwise",
            err=True,
        )
        return Spread(table, [np.arange(table.X.shape[0])], [])
    return Spread(table, _dealt(table, partition or "iid", asked, seed), [])


def _by_column(table: Table) -> Spread:
    from fedmf.partitions import partition

    places = partition("column", table.X, column=table.sites)
    return Spread(table, places, [str(name) for name in np.unique(np.asarray(table.sites))])


def _dealt(table: Table, text: str, asked: int | None, seed: int) -> list[IntArray]:
    from fedmf import partitions

    name, options = with_options(text, partitions.names())
    labels: Any = table.labels
    return partitions.partition(name, table.X, labels, asked, seed, **options)


def with_options(text: str, names: Iterable[str]) -> tuple[str, dict[str, Any]]:
    """Return a name and the options behind its colon; a path is left as it is."""
    name, colon, rest = text.partition(":")
    if not colon or name not in names:
        return text, {}
    options = {}
    for part in filter(None, rest.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ParameterError(f"options are written NAME:KEY=VALUE,KEY=VALUE; got {text!r}")
        options[key.strip()] = _value(value.strip())
    return name, options


def _value(text: str) -> Any:
    """Return a number, a boolean or None where the text is one."""
    words = {"true": True, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def absolute(data: dict[str, Any]) -> dict[str, Any]:
    """Return the same settings with full paths, to be found again from anywhere."""
    return {
        key: str(Path(value).expanduser().resolve()) if _is_path(key, value) else value
        for key, value in data.items()
        if value is not None
    }


def _is_path(key: str, value: Any) -> bool:
    named = key in ("source", "sites", "labels", "data_dir")
    return named and Path(str(value)).expanduser().exists() and not _is_builtin(key, value)


def _is_builtin(key: str, value: Any) -> bool:
    from fedmf import datasets

    return key == "source" and str(value).partition(":")[0] in datasets.names()
