"""Make a small federation, run both algorithms on it and compare them: under a minute."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.progress import Progress

    from fedmf.algorithms import Algorithm
    from fedmf.arrays import Rows
    from fedmf.cli._data import Spread
    from fedmf.engine import Position
    from fedmf.run import Run

SITES, SEED, DRAWN = 100, 0, 10
SHAPE: dict[str, Any] = {"M": 500, "N": 3000, "K": 10}
PAGE = "report.html"


@click.command()
@click.option(
    "--out",
    default="fedmf-demo",
    show_default=True,
    metavar="FOLDER",
    help="Where runs, figures and the page go; runs of an earlier demo are replaced.",
)
@click.option(
    "--rounds",
    default=300,
    show_default=True,
    type=click.IntRange(min=1),
    help="Rounds of each run.",
)
@click.option(
    "--samples",
    default=SHAPE["N"],
    show_default=True,
    type=click.IntRange(min=SITES),
    help="How many samples to make.",
)
def command(out: str, rounds: int, samples: int) -> None:
    """Run FedMGS and FedMAvg on a made-up federation of 100 sites that differ much.

    Samples of 10 clusters are made, buried in noise (-3 dB), and dealt out so that samples which
    are alike lie at the same site (k-means). Both algorithms look for the clusters with all sites
    and with 10 drawn in each round. Nothing is downloaded.

    \b
    Example
      fedmf demo --out my-demo
    """  # fmt: skip
    from fedmf.cli._show import progress, working

    folder = Path(out).expanduser()
    with working("making the federation"):
        sites = _federation(samples)
        rows, pooled = sites.rows, _pooled(sites)
    algorithms = _methods()
    folders = [folder / f"{each.name}-{each.participants or 'all'}" for each in algorithms]
    with progress() as bar:
        pairs = zip(algorithms, folders, strict=True)
        results = [_fit(algorithm, rows, rounds, bar, own) for algorithm, own in pairs]
    with working("drawing"):
        files = _draw(folders, [F for _, F in results], folder)
    _show(results, sites, pooled)
    click.echo(f"look at  {'  '.join(map(str, files))}")


def _federation(samples: int) -> Spread:
    from fedmf.cli._data import Spread
    from fedmf.datasets import load
    from fedmf.partitions import partition

    table = load("synthetic", seed=SEED, **{**SHAPE, "N": samples})
    return Spread(table, partition("kmeans", table.X, n_sites=SITES, seed=SEED), [])


def _pooled(sites: Spread) -> float:
    """Return the accuracy of k-means++ on the pooled data, which no federation has."""
    from sklearn.cluster import KMeans
    from threadpoolctl import threadpool_limits

    from fedmf.clustering.metrics import accuracy

    table = sites.table
    with threadpool_limits(1):  # as k-means deals the samples out: threads would wait for threads
        found = KMeans(SHAPE["K"], n_init=1, random_state=SEED).fit_predict(table.X)
    return accuracy(table.labels if table.labels is not None else found, found)


def _methods() -> list[Algorithm]:
    """Return the four algorithms, with the paper's settings."""
    from fedmf.algorithms import Diminishing, FedMAvg, FedMGS

    schedule = Diminishing(10)
    return [
        FedMGS(),
        FedMGS(participants=DRAWN),
        FedMAvg(q2=schedule),
        FedMAvg(q2=schedule, participants=DRAWN),
    ]


def _fit(
    algorithm: Algorithm, rows: list[Rows], rounds: int, bar: Progress | None, folder: Path
) -> tuple[Run, list[float]]:
    """Run one algorithm with SNCP's growing penalty and save it in its folder.

    Also return F after each round with the first penalty: the same yardstick for all rounds.
    """
    from fedmf.cli._folders import prepare
    from fedmf.cli._show import Watch
    from fedmf.clustering import SNCP
    from fedmf.fitting import fit
    from fedmf.problem import Problem
    from fedmf.report.record import described

    prepare(folder, overwrite=True)
    problem, penalty = Problem(rank=SHAPE["K"]), SNCP()
    watch = Watch(described(algorithm, SITES), rounds, bar)
    servers = []

    def after_round(position: Position) -> None:
        servers.append(position.server)
        watch(position)

    run = fit(rows, problem, algorithm, rounds, seed=SEED, penalty=penalty, callback=after_round)
    watch.finish()
    run.save(folder)
    goal = run.goal
    return run, [goal.objective(algorithm.parts(goal, s), s.W, goal.rho) for s in servers]


def _draw(folders: list[Path], objectives: list[list[float]], folder: Path) -> list[Path]:
    """Write the figure and the page."""
    import numpy as np

    from fedmf.report import write_figure, write_page
    from fedmf.report.record import read_all
    from fedmf.report.runs.convergence import progress

    figure = progress(read_all(folders), [np.array(F) for F in objectives])
    pictures = [write_figure(figure, folder / f"progress.{kind}") for kind in ("svg", "png")]
    return [*pictures, write_page(folders, folder / PAGE)]


def _show(results: list[tuple[Run, list[float]]], sites: Spread, pooled: float) -> None:
    """Print the table."""
    from fedmf.cli._show import table

    first, _ = results[0]
    known, sizes = first.goal.known, first.sizes
    click.echo(
        f"{known.samples:,} samples of {SHAPE['K']} clusters, {known.features:,} features, at "
        f"{len(sizes)} sites of {sizes.min()} to {sizes.max()} samples (k-means: not i.i.d.)"
    )
    headings = ("", "objective", "rounds", "uplink, reals", "uplink", "accuracy", "time")
    rows = [_row(run, F[-1], sites) for run, F in results]
    reference = ("k-means++ on pooled data", "", "", "", "", f"{pooled:.1%}", "")
    table("", headings, [*rows, reference])
    click.echo(
        "objective: F with the first penalty, so that the runs can be compared. reals: by the\n"
        "paper's count. uplink: all messages, the set-up and the first upload included."
    )


def _row(run: Run, F: float, sites: Spread) -> tuple[str, ...]:
    import numpy as np

    from fedmf.clustering.metrics import accuracy
    from fedmf.report.record import communication, described
    from fedmf.report.words import count, data_size, time

    sent = communication(run)
    found = accuracy(sites.classes, np.concatenate(run.labels))
    seconds = sum(row["seconds"] for row in run.rows)
    return (
        described(run.algorithm, SITES), f"{F:.5g}", f"{run.position.round}", count(sent.reals),
        data_size(sent.up), f"{found:.1%}", time(seconds),
    )  # fmt: skip
