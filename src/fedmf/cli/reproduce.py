"""Reproduce the figures and the table of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from fedmf.cli._group import INTERRUPTED

if TYPE_CHECKING:
    from fedmf.paper import Exhibit
    from fedmf.paper.shown import Shown
    from fedmf.trials import Outcome, Store

FAILED, UNFINISHED = 1, 75


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option(
    "--out", default="fedmf-paper", metavar="DIR",
    help="Where the page and the figures go  [default: fedmf-paper]",
)  # fmt: skip
@click.option("--store", metavar="DIR", help="Where the results are kept  [default: OUT/trials]")
@click.option("--data-dir", metavar="DIR", help="Where the data sets' files lie  [FEDMF_DATA]")
@click.option("--seeds", type=click.IntRange(min=1), help="How many starting points.")
@click.option("--quick", is_flag=True, help="Smaller data, fewer rounds and starting points.")
@click.option("--files", metavar="DIR", help="A changed copy of the figures' files.")
@click.option("--workers", type=click.IntRange(min=1), help="Processes  [default: all cores]")
@click.option("--max-seconds", type=click.FloatRange(min=0), help="Stop computing after this time.")
@click.option("--cache", metavar="DIR", help="Keep the data, dealt out, for the next call.")
@click.option("--markdown", metavar="DIR", help="Also write the page as Markdown, with pictures.")
@click.option("--plan-only", is_flag=True, help="Say what there is to do, and do nothing.")
@click.option("--runs-only", is_flag=True, help="Compute, and draw nothing.")
@click.option("--draw-only", is_flag=True, help="Draw what is there, and compute nothing.")
def command(
    names: tuple[str, ...],
    out: str,
    store: str | None,
    data_dir: str | None,
    seeds: int | None,
    quick: bool,
    files: str | None,
    workers: int | None,
    max_seconds: float | None,
    cache: str | None,
    markdown: str | None,
    plan_only: bool,
    runs_only: bool,
    draw_only: bool,
) -> int:
    """Draw the paper's figures and its table from runs of our own, next to what the paper says.

    NAME is all, or some of fig1 ... fig7, table1, figs1 ... figs4. Each is a small file of settings
    in the package's folder paper/exhibits. Whatever was computed is kept, so that the same command
    goes on after it was stopped.

    \b
    Examples
      fedmf reproduce all --quick --data-dir data --out quick
      fedmf reproduce fig1 table1 --data-dir data --out paper --max-seconds 3600
    """
    from fedmf.paper import chosen, read
    from fedmf.trials import Store

    target = Path(out).expanduser()
    folder = None if files is None else Path(files).expanduser()
    exhibits = [
        read(name, seeds=seeds, quick=quick, folder=folder) for name in chosen(names, folder)
    ]
    results = Store(target / "trials" if store is None else Path(store).expanduser())
    _tell_plan(exhibits, results, workers)
    if plan_only:
        return 0
    status = 0
    if not draw_only:
        status = _compute(exhibits, results, workers=workers, data_dir=data_dir, cache=cache,
                          max_seconds=max_seconds)  # fmt: skip
    if not runs_only and status != INTERRUPTED:
        pages = None if markdown is None else Path(markdown).expanduser()
        _draw(exhibits, results, target, folder, pages)
    return status


def _tell_plan(exhibits: list[Exhibit], store: Store, workers: int | None) -> None:
    """Print what there is to do."""
    import os

    from fedmf.cli._show import table
    from fedmf.paper.running import every, plan

    works = plan(exhibits, store)
    cores = workers or os.cpu_count() or 1
    rows = [
        (f"{w.exhibit.name:<6}  {w.exhibit.title}", w.trials, w.left, _about(w.seconds / cores))
        for w in works
    ]
    left, seconds = sum(w.left for w in works), sum(w.seconds for w in works)
    rows.append(("all", len(every(exhibits)), left, _about(seconds / cores)))
    table("", ("", "runs", "left", f"about, cores: {cores}"), rows)
    if len(works) > 1:
        click.echo("A run that several of them show is left only once: to the first.")


def _about(seconds: float) -> str:
    from fedmf.report.words import time

    return time(seconds) if seconds else ""


def _compute(exhibits: list[Exhibit], store: Store, **how: object) -> int:
    """Run what is left; return the status."""
    from fedmf.cli._trials import following
    from fedmf.paper.running import compute

    try:
        with following("runs") as show:
            outcome = compute(exhibits, store, progress=show, **how)  # type: ignore[arg-type]
    except KeyboardInterrupt:
        click.echo(
            f"stopped; what is done is in {store.folder}, the same command goes on", err=True
        )
        return INTERRUPTED
    return _conclude(outcome, store)


def _conclude(outcome: Outcome, store: Store) -> int:
    """Say what became of the runs."""
    click.echo(
        f"{len(outcome.done)} runs done in {outcome.seconds:.0f} s, {len(outcome.before)} were "
        f"there, {len(outcome.failed)} failed, {len(outcome.left)} left; results in {store.folder}"
    )
    for trial, error in outcome.failed:
        click.echo(f"failed: {trial.name}: {error.strip().splitlines()[-1]}", err=True)
    return FAILED if outcome.failed else UNFINISHED if outcome.left else 0


def _draw(
    exhibits: list[Exhibit], store: Store, target: Path, folder: Path | None, pages: Path | None
) -> None:
    """Write the page and its files, and say what the verdicts are."""
    from fedmf.cli._show import working
    from fedmf.paper.saved import save, save_document
    from fedmf.paper.shown import shared_settings, show

    with working("drawing"):
        shown = [show(exhibit, store, folder) for exhibit in exhibits]
        made = save(shown, shared_settings(folder), target)
        if pages is not None:
            save_document(shown, _command(exhibits), pages)
    _tell_verdicts(shown)
    click.echo(made[0])


def _command(exhibits: list[Exhibit]) -> str:
    """Return the command that computes these exhibits."""
    from fedmf.paper import names

    own = [exhibit.name for exhibit in exhibits]
    told = "all" if own == names() else " ".join(own)
    quick = " --quick" if any(exhibit.quick for exhibit in exhibits) else ""
    return f"fedmf reproduce {told}{quick} --data-dir DATA --out paper"


def _tell_verdicts(shown: list[Shown]) -> None:
    """Print how many claims hold."""
    from fedmf.cli._show import table
    from fedmf.paper.shown import KINDS

    rows = [
        (f"{one.name:<6}", one.points, *(one.counts[kind] or "" for kind in KINDS)) for one in shown
    ]
    table("", ("", "starting points", *KINDS), rows)
