"""Cluster one data set with every method there is, and compare them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedmf.cli._group import INTERRUPTED
from fedmf.cli._options import Sectioned, data_options, given, setting

if TYPE_CHECKING:
    from fedmf.cli._data import Spread
    from fedmf.comparison import Comparison

FAILED, UNFINISHED = 1, 75


@click.command(cls=Sectioned)
@click.argument("source", metavar="DATA")
@data_options
@setting(
    "data",
    "--partition-seed",
    type=click.IntRange(min=0),
    help="Seed of a partition that is random  [default: 0]",
)
@setting("run", "--clusters", metavar="K", type=int, help="How many clusters; always needed.")
@setting(
    "run",
    "--method",
    "methods",
    metavar="NAME[:KEY=VALUE,...]",
    multiple=True,
    help="A method to compare, again for another, such as bel:samples=500  [default: all]",
)
@setting(
    "run",
    "--participants",
    metavar="m",
    type=int,
    help="How many sites algorithms draw in a round  [default: all, and 10]",
)
@setting(
    "run",
    "--seeds",
    metavar="N",
    type=click.IntRange(min=1),
    help="How many seeds, from 0 on  [default: 5]",
)
@setting(
    "run",
    "--init",
    metavar="NAME",
    help="Where algorithms begin: linkage across the sites, or random  [default: linkage]",
)
@setting("run", "--rho", type=float, help="Where SNCP begins  [default: 1e-4; 1e-8 at random]")
@setting(
    "run",
    "--rounds",
    metavar="S",
    type=int,
    help="Stop an algorithm at this round  [default: 1000]",
)
@setting(
    "run",
    "--tol",
    type=float,
    help="Stop below this relative change of the objective  [default: 1e-8]",
)
@setting(
    "output",
    "--out",
    metavar="FOLDER",
    help="Where tables, page and results go  [default: fedmf-compare]",
)
@setting("output", "--workers", type=click.IntRange(min=1), help="Processes  [default: all cores]")
@setting(
    "output",
    "--max-seconds",
    type=click.FloatRange(min=0),
    help="Stop computing after this time; the same command goes on",
)
@click.pass_context
def command(ctx: click.Context, /, source: str, **options: Any) -> int:
    """Cluster the samples of all sites with FedMGS, FedMAvg, the rivals and the pooled references.

    Every method runs with several seeds; algorithms with the same seed begin at the same point.
    With --labels the clusters are compared with the classes, without them they are judged by
    themselves. Results are kept as they come: after Ctrl-C the same command goes on.

    \b
    Examples
      fedmf compare samples.csv --sites hospital --labels diagnosis --clusters 4
      fedmf compare synthetic:M=200,N=1000,K=5 --partition kmeans --n-sites 20 --clusters 5
      fedmf compare cells.h5ad --sites donor --clusters 12 --method fedmgs --method k-fed
    """
    from fedmf.cli._data import spread
    from fedmf.cli._show import working
    from fedmf.comparison.saved import prepare

    settings = given(ctx, "data", "run")
    clusters = settings["run"].pop("clusters", None)
    if clusters is None:
        raise click.UsageError("how many clusters? Say --clusters K")
    folder = Path(options["out"] or "fedmf-compare").expanduser()
    partition_seed = settings["data"].pop("partition_seed", 0)
    with working("reading the data"):
        sites = spread({"source": source, **settings["data"]}, partition_seed)
    prepare(folder)
    try:
        found = _compare(sites, clusters, settings["run"], folder, options)
    except KeyboardInterrupt:
        click.echo(f"stopped; what is done is in {folder}, the same command goes on", err=True)
        return INTERRUPTED
    return _finish(found, sites, source, folder)


def _compare(
    sites: Spread, clusters: int, run: dict[str, Any], folder: Path, options: dict[str, Any]
) -> Comparison:
    """Run all methods on the sites' rows."""
    import numpy as np

    from fedmf.cli._trials import following
    from fedmf.comparison.comparing import compare_spread
    from fedmf.comparison.lineup import SEEDS, Course
    from fedmf.trials import Spread as Dealt

    course = Course(**{name: run.get(name) for name in ("init", "rho", "rounds", "tol")})
    classes = None
    if sites.classes is not None:
        classes = np.unique(sites.classes, return_inverse=True)[1]
    with sites.mapped(folder) as rows, following("methods and seeds") as show:
        return compare_spread(
            Dealt(rows, np.concatenate(sites.places), classes), clusters,
            run.get("methods") or None, run.get("participants"), run.get("seeds", SEEDS), course,
            folder, workers=options["workers"], max_seconds=options["max_seconds"], progress=show,
        )  # fmt: skip


def _finish(found: Comparison, sites: Spread, source: str, folder: Path) -> int:
    """Write the files, show the table, and say what is missing."""
    from fedmf.cli._show import table, working

    shown = found.table()
    best = shown.best()
    with working("drawing"):
        files = found.save(folder, name=Path(source).name)
        files.append(_write_clusters(found, sites, folder))
    rows = [
        [f"[bold]{word}[/bold]" if (line, place) in best else word
         for place, word in enumerate(words)]
        for line, words in enumerate(shown.words())
    ]  # fmt: skip
    click.echo(str(found.facts))
    if rows:
        table("", shown.headings, rows)
        _explain(found)
    click.echo(f"look at  {'  '.join(map(str, files))}")
    for trial, error in found.failed:
        click.echo(f"failed: {trial.name}: {error.strip().splitlines()[-1]}", err=True)
    if found.left:
        click.echo(f"{len(found.left)} runs are left: the same command goes on", err=True)
    return FAILED if found.failed else UNFINISHED if found.left else 0


def _explain(found: Comparison) -> None:
    """Say what the columns are."""
    seeds = max((len(line.results) for line in found.lines), default=0)
    shown = "one seed." if seeds == 1 else f"means of {seeds} seeds."
    if found.facts.labelled:
        if seeds > 1:
            shown = f"means of {seeds} seeds ± their standard deviation."
        shown += " accuracy: the best one-to-one match of clusters to classes."
    else:
        shown += (
            " stability: how alike the clusters of two seeds are (ARI).\n"
            "error: a sample's squared distance to W h, or to its centre for methods that have\n"
            "centres; the two are not to be compared."
        )
    click.echo(
        f"{shown}\n"
        "uplink: all messages, the set-up and the start included; reals: by the paper's count.\n"
        "raw sent: whether samples left a site as they are. pooled: all samples in one place."
    )


def _write_clusters(found: Comparison, sites: Spread, folder: Path) -> Path:
    """Write each sample's site and its cluster by every method, with the first seed."""
    from fedmf.cli._folders import CLUSTERS, samples_of
    from fedmf.files import write_atomically

    frame = samples_of(sites)
    for line in found.lines:
        frame[line.title] = found.labels(line.title)
    write_atomically(folder / CLUSTERS, frame.to_csv)
    return folder / CLUSTERS
