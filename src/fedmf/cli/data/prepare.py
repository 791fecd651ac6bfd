"""Download a built-in data set; prepare data across sites and write them to a file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedmf.cli._options import Sectioned, data_options, given, setting
from fedmf.errors import ParameterError

if TYPE_CHECKING:
    from fedmf.arrays import Rows
    from fedmf.cli._data import Spread
    from fedmf.datasets._download import Progress
    from fedmf.preparation import Preparation

Names = tuple[str, ...] | list[Any] | None  # a list has the names of each site


@click.command(cls=Sectioned)
@click.argument("source", metavar="DATA")
@data_options
@setting(
    "output",
    "--steps",
    metavar="STEPS",
    help="What to do, in this order, separated by spaces: log1p, standard, min-max, tfidf, ...",
)
@setting("output", "--out", metavar="FILE", help="The .npz to write")
@setting("output", "--seed", type=int, help="Seed of the partition  [default: 0]")
@click.pass_context  # fmt: skip
def command(ctx: click.Context, /, source: str, **options: Any) -> None:
    """Download what DATA needs; prepare it without pooling it, and write it with its sites.

    Each step learns its figures (means, ranges, ...) from what the sites send for it, and says what
    that was. The file holds X, the samples' sites and labels, and can be given to `fedmf fit`.

    \b
    Examples
      fedmf data prepare mnist --data-dir ~/data
      fedmf data prepare cells.h5ad --sites hospital --steps "log1p standard" --out cells.npz
      fedmf fit cells.npz --sites site --rank 20 --bounds free --out run
    """
    from fedmf.cli._data import spread
    from fedmf.cli._show import working

    out = None if options["out"] is None else Path(options["out"]).expanduser()
    if out is None and options["steps"] is not None:
        raise click.UsageError("where shall the prepared data go? Say --out FILE.npz")
    if out is not None and out.suffix != ".npz":
        raise ParameterError(f"--out must end in .npz, got {out.name}")
    steps = [_step(text) for text in (options["steps"] or "").split()]
    _download(source, options["data_dir"], wanted=out is None)
    if out is None:
        return
    seed = 0 if options["seed"] is None else options["seed"]
    fit = not steps or steps[0].same_features
    with working("reading the data"):
        sites = spread({"source": source, **given(ctx, "data")["data"]}, seed, fit=fit)
    rows, names = sites.rows, sites.features or sites.table.features
    for step in steps:
        with working(step.name):
            rows, names = _apply(step, rows, names, sites)
    _write(out, rows, names, sites)
    click.echo(out)
    labels = "" if sites.table.labels is None else " --labels label"
    click.echo(f"go on with: fedmf fit {out} --sites site{labels} --rank K", err=True)


def _download(source: str, data_dir: str | None, *, wanted: bool) -> None:
    """Fetch the files of a built-in data set; `wanted`: it is a mistake if there are none."""
    from fedmf import datasets
    from fedmf.cli._present import present
    from fedmf.plugins import with_options

    name, _ = with_options(source, datasets.names())
    card = datasets.describe(name) if name in datasets.names() else None
    if card is None or not card.files:
        if wanted:
            raise click.UsageError("there is nothing to download: say --steps and --out FILE.npz")
        return
    if not present(card, data_dir):
        with _transfers() as progress:
            datasets.download(name, data_dir=data_dir, progress=progress)
    click.echo(f"{name}: all files are there", err=True)


@contextmanager
def _transfers() -> Iterator[Progress | None]:
    """Give a callback that shows downloads, on a terminal."""
    from fedmf.cli._show import console

    out = console(error=True)
    if not out.is_terminal:
        yield None
        return
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, TimeRemainingColumn(), console=out) as bar:
        tasks: dict[str, Any] = {}

        def show(name: str, here: int, total: int | None) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=here)

        yield show


def _step(text: str) -> Preparation:
    """Return the preparation that a word of --steps means, its options checked."""
    from fedmf import preparation
    from fedmf.plugins import with_options

    name, options = with_options(text, preparation.names())
    step = preparation.make(name, **options)
    step.check()
    return step


def _apply(
    step: Preparation, rows: list[Rows], names: Names, sites: Spread
) -> tuple[list[Rows], Names]:
    """Take one step: learn it from all sites, apply it at each, and say what that cost."""
    import numpy as np

    from fedmf.report.words import data_size

    labels = None
    if step.needs_labels():
        if sites.table.labels is None:
            raise ParameterError(f"step {step.name!r} needs labels: say --labels COLUMN")
        labels = [np.asarray(sites.table.labels)[place] for place in sites.places]
    step.fit(rows, labels, features=names)
    sent = step.ledger_.totals(0)["uplink_bytes"]
    click.echo(f"{step.name}: sites sent {step.sends} ({data_size(sent)} in all)", err=True)
    after = None if names is None else tuple(map(str, step.get_feature_names_out()))
    return list(step.transform(rows, features=names)), after


def _write(out: Path, rows: list[Rows], names: Names, sites: Spread) -> None:
    """Write all samples in the order of the data, with site and label beside them."""
    import numpy as np
    from scipy import sparse

    from fedmf.files import write_atomically

    order = np.argsort(np.concatenate(sites.places), kind="stable")
    ids = np.asarray(sites.names or range(len(rows)))
    site = np.repeat(ids, [len(place) for place in sites.places])[order]
    arrays: dict[str, Any] = {"site": site}
    if sites.table.labels is not None:
        arrays["label"] = sites.table.labels
    if sites.table.samples is not None:
        arrays["sample"] = np.asarray(sites.table.samples)
    if names is not None:
        arrays["features"] = np.asarray(names)
    if sparse.issparse(rows[0]):
        X = sparse.csr_array(sparse.vstack(rows, format="csr"))[order]
        arrays |= {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": X.shape}
    else:
        arrays["X"] = np.concatenate(rows)[order]

    def save(temporary: Path) -> None:
        np.savez(temporary, **arrays)

    write_atomically(out, save)
