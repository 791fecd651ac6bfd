"""`fit`: one run over sites in this process, from data to result."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import replace
from typing import Any, Protocol, TypeAlias

import numpy as np

from fedmf.algorithms import Algorithm
from fedmf.algorithms.base import Given
from fedmf.arrays import Array
from fedmf.border import Sites, as_sites, as_start
from fedmf.checks import check_integer, check_type
from fedmf.devices import Device
from fedmf.devices import find as find_device
from fedmf.driver import begin_run, drive
from fedmf.engine import Federation, Position, set_up
from fedmf.errors import ParameterError
from fedmf.fingerprints import differ, fingerprints
from fedmf.keeping import Folder, LocalKeeper, Looker
from fedmf.ledger import Ledger
from fedmf.parallel import threads as threads_of
from fedmf.penalties import PenaltySchedule
from fedmf.private import split_up
from fedmf.problem import Problem
from fedmf.rng import resolve_seed
from fedmf.run import Run
from fedmf.runtimes.local import LocalRuntime
from fedmf.starts import Start, find
from fedmf.stopping import Stopping
from fedmf.tracking import Tracker

Init: TypeAlias = Run | Start | str | tuple[Any, Sequence[Any]] | None
Notes: TypeAlias = dict[str, dict[str, Any]]


class Remote(Protocol):
    """Sites elsewhere, with their own data: a `fedmf.Federation`."""

    def fit(
        self,
        problem: Problem,
        algorithm: Algorithm,
        *,
        penalty: PenaltySchedule | None = None,
        tracker: Tracker | None = None,
        **run: Any,
    ) -> Run:
        """Run over these sites; every H stays there."""


def fit(
    sites: Sequence[Any] | None,
    problem: Problem,
    algorithm: Algorithm,
    rounds: int = 500,
    tol: float = 1e-8,
    seed: int | None = 0,
    init: Init = None,
    *,
    max_seconds: float | None = None,
    penalty: PenaltySchedule | None = None,
    checkpoint: Folder | None = None,
    checkpoint_seconds: float = 30.0,
    callback: Callable[[Position], None] | None = None,
    inspect: Callable[[Run], None] | None = None,
    inspect_at: Container[int] | None = None,
    threads: int | None = None,
    device: str | None = None,
    notes: Notes | None = None,
    runtime: Remote | None = None,
) -> Run:
    """Factorise X_p ~ W H_p over all sites.

    Parameters
    ----------
    sites : a sequence of (n_p, M) arrays, numpy (float32 or float64) or scipy CSR, samples in rows.
    problem, algorithm : what to minimise, and how.
    rounds, tol, max_seconds : stop at this round, at this relative change of F, after this time.
    seed : of everything random; None draws one, which the run records.
    init : None or "random" for the paper's start, "linkage" for one found across the sites (one of
        `fedmf.starts`, by its name or made by yourself), (W0, [H0 of each site]), or a Run to
        start from.
    penalty : given the history's rows before a round, returns its rho (like `Problem.rho`), or
        None to leave it, as `SNCP` does; `fedmf.recommended.Recommended()` is an SNCP that begins
        where it is best for the start.
    checkpoint : a folder to save the run in, every `checkpoint_seconds` and at its end.
    callback : called with the position after each round; one of `fedmf.tracking`, perhaps.
    inspect : called with the run as it stands, its H and ledger included, at the start (round 0)
        and after each round, or only after those in `inspect_at`.
    threads : how many threads; the result does not depend on it.
    device : where the sites' samples and H are meanwhile, by torch's name for it ("cuda"); the
        server's side and the result are numpy's. None: in this process's memory, with numpy.
    notes : tables of your own for the run's config.toml, such as where the data came from.
    runtime : a `fedmf.Federation` with sites that have their own data; `sites` is None then, the
        run has no H, and settings of this process (threads, checkpoint, ...) do not apply; a
        callback that is a tracker does.

    Returns
    -------
    Run
        Stopped by Ctrl-C, it is complete up to the last full round: `resume` goes on with it.
    """
    check_type("problem", problem, Problem)
    check_type("algorithm", algorithm, Algorithm)
    seed = resolve_seed(seed)
    stopping = Stopping(rounds, tol, max_seconds)
    if runtime is not None:
        tracker = callback if isinstance(callback, Tracker) else None
        other = callback if tracker is None else None
        here = (checkpoint, other, inspect, inspect_at, threads, device, notes)
        _refuse_own_data(sites, init, any(value is not None for value in here))
        settings = {"seed": seed, "init": init, "max_seconds": max_seconds, "tol": tol}
        return runtime.fit(problem, algorithm, penalty=penalty, tracker=tracker, rounds=rounds,
                           **settings)  # fmt: skip
    there = _device(device)
    data = as_sites(sites)
    algorithm.check_sites(len(data.rows))
    start = find(init) if isinstance(init, str) else init if isinstance(init, Start) else None
    W, H = _start(None if start else init, data, problem.rank)
    with threads_of(check_threads(threads)):
        local = LocalRuntime(data.rows, data.features, device=there)
        known, federation = set_up(local)
        if H is not None:
            local.place([Given(own) for own in H])
        run = begin_run(
            problem,
            algorithm,
            known,
            federation,
            data.dtype,
            seed,
            start=start,
            W=W,
            settings={"rounds": int(rounds), "tol": float(tol), "seed": seed}
            | ({"init": init} if isinstance(init, str) else {}),
            penalty=penalty,
            fingerprints=_fingerprints(local),
            features=data.features[0],
            notes=notes or {},
        )
        keeper = LocalKeeper(run, local, checkpoint, checkpoint_seconds)
        looker = Looker(keeper, inspect, inspect_at)
        return drive(keeper, federation, stopping, callback, looker)


def _refuse_own_data(sites: Any, init: Any, here: bool) -> None:
    """Refuse what makes no sense where the data are elsewhere."""
    if sites is not None:
        raise ParameterError("sites must be None with a runtime: its sites have their own data")
    if init is not None and not isinstance(init, str):
        raise ParameterError("init must be None or a name with a runtime: H is at the sites")
    if here:
        raise ParameterError(
            "checkpoint, callback, inspect, threads, device and notes are of runs in this process: "
            "leave them out with a runtime"
        )


def resume(
    run: Run,
    sites: Sequence[Any],
    rounds: int | None = None,
    tol: float | None = None,
    *,
    algorithm: Algorithm | None = None,
    max_seconds: float | None = None,
    penalty: PenaltySchedule | None = None,
    checkpoint: Folder | None = None,
    checkpoint_seconds: float = 30.0,
    callback: Callable[[Position], None] | None = None,
    threads: int | None = None,
    device: str | None = None,
    notes: Notes | None = None,
) -> Run:
    """Go on with a stopped run on the same sites, as if it had never stopped.

    The rounds that follow are those of an uninterrupted run, bit for bit. `rounds` is the number
    of the last round, those already done included; without it and `tol` the run's own limits hold.
    The run knows its algorithm and penalty too: they are only needed where it was loaded and used
    a schedule of the user's own, which no file can hold. Returns a new Run.
    """
    limits = {"rounds": 500, "tol": 1e-8, **run.settings}
    limits |= {k: v for k, v in (("rounds", rounds), ("tol", tol)) if v is not None}
    stopping = Stopping(limits["rounds"], limits["tol"], max_seconds)
    if limits["rounds"] < run.position.round:
        raise ParameterError(
            f"the run has {run.position.round} rounds already: rounds must be at least that, "
            f"got {limits['rounds']}"
        )
    there = _device(device)
    data = as_sites(sites)
    if data.dtype != run.W.dtype:
        raise ParameterError(f"the run is in {run.W.dtype}, the sites are in {data.dtype}")
    with threads_of(check_threads(threads)):
        runtime = LocalRuntime(data.rows, data.features, device=there)
        _, federation = set_up(runtime)
        _same_sites(run, federation)
        _same_data(run, _fingerprints(runtime))
        runtime.restore(split_up(run.private, [host.data for host in runtime.hosts]))
        ledger = Ledger(list(run.ledger.entries))
        again = replace(run, rows=list(run.rows), ledger=ledger)
        again.algorithm = algorithm or run.algorithm
        again.penalty = run.penalty if penalty is None else penalty
        again.settings = {**limits, "rounds": int(limits["rounds"]), "tol": float(limits["tol"])}
        again.notes = run.notes if notes is None else notes
        keeper = LocalKeeper(again, runtime, checkpoint, checkpoint_seconds)
        return drive(keeper, federation._replace(ledger=ledger), stopping, callback)


def _same_sites(run: Run, federation: Federation) -> None:
    """Refuse sites whose figures are not those of the run's; on another machine sums may round."""
    known = run.goal.known
    there = federation.figures
    if there.shape != run.figures.shape:
        raise ParameterError(f"the run has {len(run.figures)} sites, these are {len(there)}")
    bad = np.flatnonzero(~np.isclose(there, run.figures, rtol=1e-9, atol=0).all(axis=1))
    if len(bad):
        raise ParameterError(
            f"site {bad[0]} is not that of the run: its size or figures differ from those it was "
            f"made with ({len(run.figures)} sites, {known.samples} samples)"
        )


def _fingerprints(runtime: LocalRuntime) -> Array:
    """Return every site's, (P,)."""
    return np.concatenate([fingerprints(host.data) for host in runtime.hosts])


def _same_data(run: Run, found: Array) -> None:
    """Refuse sites with the run's figures but other data."""
    bad = np.flatnonzero(differ(found, run.fingerprints, run.figures))
    if len(bad):
        raise ParameterError(
            f"site {bad[0]} is not that of the run: its samples are others, or in another order"
        )


def _start(init: Any, data: Sites, rank: int) -> tuple[Any, Any]:
    """Return W0 and the sites' H0 that a user's `init` means; None for a random one."""
    if init is None:
        return None, None
    return as_start((init.W, init.H) if isinstance(init, Run) else init, data, rank)


def _device(name: str | None) -> Device | None:
    """Return the device that a user's name means."""
    return None if name is None else find_device(name)


def check_threads(threads: int | None) -> int | None:
    """Refuse a number of threads below one."""
    return None if threads is None else check_integer("threads", threads, minimum=1)
