"""Factorise the data of all sites and save the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from fedmf.cli._fit_options import fit_options
from fedmf.cli._group import INTERRUPTED
from fedmf.cli._options import Sectioned, data_options, given

if TYPE_CHECKING:
    from fedmf.cli._data import Spread
    from fedmf.cli._settings import Settings, Tables
    from fedmf.engine import Position
    from fedmf.run import Run
    from fedmf.tracking import Tracker


@click.command(cls=Sectioned)
@click.argument("source", metavar="[DATA]", required=False)
@data_options
@fit_options
@click.pass_context
def command(ctx: click.Context, /, source: str | None, **options: Any) -> int:
    """Factorise X_p ~ W H_p over all sites: one W for all, an H_p for each.

    DATA is a file (.npy, .npz, .csv, .parquet, .h5ad, ...; samples in rows), a folder with a file
    for each site, or the name of a built-in data set (see `fedmf data list`), options behind a
    colon: synthetic:preset=paper,N=3000.

    \b
    Examples
      fedmf fit cells.h5ad --sites hospital --rank 20 --participants 10 --out run
      fedmf fit synthetic:M=500,N=3000,K=10 --partition kmeans --rank 10 --cluster --out run
      fedmf fit --resume run --rounds 1000
    """
    from fedmf.cli._settings import from_file, merged
    from fedmf.cli._show import stoppable

    options["track"] = _tracker(options["track"])
    flags = given(ctx, "problem", "algorithm", "run", "data")
    flags["data"] |= {"source": source} if source is not None else {}
    with stoppable():
        if options["resume"] is not None:
            return _go_on(Path(options["resume"]).expanduser(), flags, options)
        config = options["config"]
        settings = merged(from_file(None if config is None else Path(config).expanduser()), flags)
        return _begin(settings, options)


def _begin(settings: Settings, options: dict[str, Any]) -> int:
    """Make a new run."""
    from fedmf.cli._data import absolute, spread
    from fedmf.cli._folders import need_out, prepared
    from fedmf.cli._show import working
    from fedmf.fitting import fit

    out = need_out(options["out"])
    problem, algorithm = settings.make_problem(), settings.make_algorithm()
    with working("reading the data"):
        sites = spread(settings.data, settings.run["seed"])
    algorithm.check_sites(len(sites.places))
    settings.data = absolute(settings.data)
    with (
        prepared(out, overwrite=bool(options["overwrite"])),
        _begun(options["track"], out.name, settings) as track,
        _driven(settings, algorithm.name, options, out, track) as how,
        sites.mapped(out) as rows,
    ):
        run = fit(rows, problem, algorithm, seed=settings.run["seed"], init=settings.run["init"],
                  penalty=settings.make_penalty(), **how)  # fmt: skip
        if track is not None:
            track.end(run.status)
    return _finish(run, sites, settings, out)


def _go_on(folder: Path, flags: Tables, options: dict[str, Any]) -> int:
    """Go on with a saved run as it was made."""
    from fedmf.cli._data import absolute, spread
    from fedmf.cli._settings import from_file, merged
    from fedmf.cli._show import working
    from fedmf.config import penalty_table
    from fedmf.fitting import resume
    from fedmf.storage import load

    _refuse_changes(flags, options)
    run = load(folder)
    penalty = {"penalty": penalty_table(run.penalty) or {}}
    begun = {"run": {"init": run.settings.get("init"), **run.notes.get("run", {})}}
    settings = merged({**from_file(None), **run.notes, **begun, **penalty}, flags)
    with working("reading the data"):
        sites = spread(settings.data, run.seed)
    settings.data = absolute(settings.data)
    with (
        _begun(options["track"], folder.name, settings) as track,
        _driven(settings, run.algorithm.name, options, folder, track, run) as how,
        sites.mapped(folder) as rows,
    ):
        run = resume(run, rows, **how)
        if track is not None:
            track.end(run.status)
    return _finish(run, sites, settings, folder)


def _refuse_changes(flags: Tables, options: dict[str, Any]) -> None:
    """Refuse options that would make another run of the one to go on with."""
    fixed = [*flags["problem"], *flags["algorithm"]]
    fixed += [key for key in ("seed", "init", "cluster") if key in flags["run"]]
    fixed += [key for key in ("out", "config", "overwrite") if options[key]]
    if fixed:
        name = "algorithm" if fixed[0] == "name" else fixed[0].replace("_", "-")
        raise click.UsageError(f"--resume goes on with a run as it was made: leave out --{name}")


@contextmanager
def _driven(
    settings: Settings,
    name: str,
    options: dict[str, Any],
    out: Path,
    track: Tracker | None,
    run: Run | None = None,
) -> Iterator[dict[str, Any]]:
    """Give what `fit` and `resume` are told alike: limits, checkpoints, progress."""
    from fedmf.cli._show import Watch, progress

    every, done = options["checkpoint_every"], 0 if run is None else run.position.round
    with progress() as bar:
        watch = Watch(name, settings.run["rounds"], bar, done)

        def callback(position: Position) -> None:
            watch(position)
            if track is not None:
                track(position)

        yield {
            "rounds": settings.run["rounds"],
            "tol": settings.run["tol"],
            "max_seconds": settings.run["max_seconds"],
            "checkpoint": out,
            "checkpoint_seconds": 30.0 if every is None else every,
            "callback": callback,
            "notes": settings.notes(),
            "threads": options["threads"],
            "device": options["device"],
        }
        watch.finish()


def _tracker(place: str | None) -> Tracker | None:
    """Return what tracks the run elsewhere, where that is wanted."""
    if place is None:
        return None
    from fedmf.tracking import find

    return find(place)


@contextmanager
def _begun(tracker: Tracker | None, name: str, settings: Settings) -> Iterator[Tracker | None]:
    """Let what tracks the run elsewhere begin, and end whatever happens."""
    if tracker is None:
        yield None
        return
    with tracker.begin(name, vars(settings)):
        yield tracker


def _finish(run: Run, sites: Spread, settings: Settings, out: Path) -> int:
    """Add the command's own files to the run's folder and say what came out."""
    from fedmf.cli._folders import CLUSTERS, PAGE, write_clusters
    from fedmf.cli._show import working
    from fedmf.report import write_page

    if settings.run["cluster"]:
        write_clusters(out, run, sites)
    else:
        (out / CLUSTERS).unlink(missing_ok=True)  # of a run that this one replaced
    with working("writing the report"):
        write_page([out], out / PAGE)
    _summarise(run, sites, settings, out)
    if run.status.startswith("stopped by the user"):
        s = run.position.round
        click.echo(
            f"stopped by the user after round {s}; go on with: fedmf fit --resume {out}", err=True
        )
        return INTERRUPTED
    return 0


def _summarise(run: Run, sites: Spread, settings: Settings, out: Path) -> None:
    """Print what came out and where it is."""
    from fedmf.cli._folders import CLUSTERS, PAGE
    from fedmf.cli._show import pairs
    from fedmf.partitions._text import many
    from fedmf.report.record import communication
    from fedmf.report.words import count, data_size

    known, position, sent = run.goal.known, run.position, communication(run)
    grew = " (with the penalty, which grew)" if settings.run["cluster"] else ""
    rows = [
        ("data", f"{many(known.samples, 'sample')} at {many(len(run.sizes), 'site')}, "
                 f"{many(known.features, 'feature')}, rank {run.goal.rank}"),
        ("objective", f"{position.objective:.6g}, at the start {run.initial_objective:.6g}{grew}"),
        ("rounds", f"{position.round}; {run.status}"),
        ("uplink", f"{count(sent.reals)} reals by the paper's count; "
                   f"{data_size(sent.up)} in all, the set-up and the first upload included"),
        ("downlink", data_size(sent.down)),
    ]  # fmt: skip
    if settings.run["cluster"]:
        rows += _clusters(run, sites, out / CLUSTERS)
    rows += [("report", str(out / PAGE)), ("model", f"fedmf.load({str(out)!r})")]
    pairs(f"{run.algorithm.name}, {settings.data['source']}", rows)


def _clusters(run: Run, sites: Spread, path: Path) -> list[tuple[str, str]]:
    """Return what can be said of the clusters, and how well they fit classes that are known."""
    import numpy as np

    from fedmf.clustering.metrics import accuracy, nmi, summary

    told, found = summary(run), np.concatenate(run.labels)
    used = [size for size in told["sizes"] if size]
    rows = [
        ("clusters", f"{len(used)} of {run.goal.rank} in use, of {min(used):,} to {max(used):,} "
                     f"samples, in {path}"),
        ("overlap", f"{told['orthogonality']:.2g} (0 where every sample has one cluster)"),
    ]  # fmt: skip
    if sites.classes is not None:
        matched, shared = accuracy(sites.classes, found), nmi(sites.classes, found)
        rows.append(("accuracy", f"{matched:.1%} against the labels, NMI {shared:.1%}"))
    return rows
