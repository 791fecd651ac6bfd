"""`compare`: from a federation to a comparison of all methods on it."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

from fedmf.arrays import IntArray, Rows
from fedmf.blocks import stack
from fedmf.border import as_rows, as_sites
from fedmf.checks import check_integer
from fedmf.comparison.lineup import SEEDS, Course, read_methods, read_seeds, trials_of
from fedmf.comparison.outcome import Comparison, Facts
from fedmf.comparison.saved import RESULTS
from fedmf.engine import set_up
from fedmf.errors import DataError, ParameterError
from fedmf.estimators._sites import from_list, from_table, is_list_of_tables, no_ids
from fedmf.runtimes.local import LocalRuntime
from fedmf.trials import Cache, Progress, Spread, Store, Trial, run_all
from fedmf.trials.trial import GIVEN

if TYPE_CHECKING:
    from collections.abc import Iterator

COPY = ".data-"  # and the process: the data, dealt out, while methods run on them
Methods = Sequence[str | Mapping[str, Any]]
Folder = str | os.PathLike[str]


def compare(
    X: Any,
    n_clusters: int,
    sites: Any = None,
    labels: Any = None,
    *,
    methods: Methods | None = None,
    participants: int | None = None,
    seeds: int | Sequence[int] = SEEDS,
    init: str | None = None,
    rho: float | None = None,
    rounds: int | None = None,
    tol: float | None = None,
    out: Folder | None = None,
    workers: int | None = None,
    max_seconds: float | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Run all methods on one federation, with several seeds each, over the cores.

    Parameters
    ----------
    X : (N, M) array, CSR matrix or data frame with a site id for each row in `sites`; or a list
        with one for each site.
    n_clusters : K.
    labels : (N,), each sample's true class in the order of X, for accuracy and NMI; None: what can
        be said without. No method sees it.
    methods : names ("fedmgs:participants=10", "bel") or tables; None: all.
    participants : how many sites the algorithms draw in a round; None: all of them, and 10.
    seeds : how many, from 0 on, or a list. Algorithms with the same seed begin at the same point.
    init, rho, rounds, tol : of the algorithms: the start, where SNCP begins, where a run ends;
        None: what is recommended for clusters.
    out : a folder in which every result is kept at once; another call goes on there. None: nothing
        is kept but what is returned.
    workers : how many processes; None: one for each core.
    max_seconds : stop then; what was not run is in `left`.
    progress : called with a `fedmf.trials.Progress` whenever something has happened.
    """
    rows, places = _shared_out(X, sites)
    classes = _classes(labels, places)
    course = Course(init, rho, rounds, tol)
    with TemporaryDirectory(prefix="fedmf-") as temporary:
        folder = Path(temporary if out is None else out).expanduser()
        return compare_spread(
            Spread(rows, places, classes), n_clusters, methods, participants, seeds, course,
            folder, workers=workers, max_seconds=max_seconds, progress=progress,
        )  # fmt: skip


def compare_spread(
    spread: Spread,
    n_clusters: int,
    methods: Methods | None,
    participants: int | None,
    seeds: int | Sequence[int],
    course: Course,
    folder: Path,
    **how: Any,
) -> Comparison:
    """Compare on a federation that is put together, with the results in a folder.

    how : `workers`, `max_seconds` and `progress` of `run_all`.
    """
    clusters = check_integer("n_clusters", n_clusters, minimum=1)
    checked = as_sites(spread.rows)
    set_up(LocalRuntime(checked.rows, checked.features))  # refuses what no method could use
    spread = Spread(checked.rows, spread.places, spread.classes)
    sizes = [own.shape[0] for own in spread.rows]
    if clusters > sum(sizes):
        raise ParameterError(
            f"n_clusters must be at most the number of samples, {sum(sizes)}; got {clusters}"
        )
    tables = read_methods(methods, len(sizes), participants)
    numbers = read_seeds(seeds)
    with _placed(spread, folder) as (data, cache):
        dtype = spread.rows[0].dtype.name
        trials = trials_of(tables, numbers, clusters, course, sizes, data, dtype)
        store = Store(folder / RESULTS)
        _put(cache, trials, data, spread)
        outcome = run_all(trials, store, cache=cache, **how)
    facts = Facts(clusters, sizes, spread.rows[0].shape[1], spread.classes is not None)
    results = {trial.key: result for trial in trials if (result := store.get(trial)) is not None}
    return Comparison(facts, trials, results, outcome.failed, outcome.left, outcome.seconds)


def _shared_out(X: Any, sites: Any) -> tuple[list[Rows], IntArray]:
    """Return the sites' rows, checked, and where each of their samples is in X."""
    if is_list_of_tables(X):
        no_ids(sites)
        found = from_list(as_sites(X).rows)
    else:
        found = from_table(as_rows(X, "X"), sites)
    return found.rows, found.places


def _classes(labels: Any, places: IntArray) -> IntArray | None:
    """Return each sample's class as a number, in the order of the sites."""
    if labels is None:
        return None
    one_each = isinstance(labels, list | tuple) and labels and np.ndim(labels[0]) == 1
    flat = np.concatenate([np.asarray(own) for own in labels]) if one_each else np.asarray(labels)
    if flat.shape != places.shape:
        raise DataError(
            f"labels must hold a class for each of the {len(places)} samples, "
            f"got the shape {flat.shape}"
        )
    codes: IntArray = np.unique(flat, return_inverse=True)[1]
    return codes[places]


@contextmanager
def _placed(spread: Spread, folder: Path) -> Iterator[tuple[dict[bool, str], Path]]:
    """Give the names of the data, by whether they are pooled, and a folder for them meanwhile."""
    data = {False: GIVEN + digest_of(spread), True: GIVEN + digest_of(pooled(spread))}
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{COPY}*"):
        if not _is_running(left.name.split("-")[1]):
            rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=f"{COPY}{os.getpid()}-", dir=folder) as cache:
        yield data, Path(cache)


def _is_running(process: str) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError):
        return False
    except PermissionError:  # it is somebody else's
        return True
    return True


def _put(cache: Path, trials: Sequence[Trial], data: Mapping[bool, str], spread: Spread) -> None:
    """Write the data where the workers find them: for those that need them pooled once more."""
    store = Cache(cache)
    for whole in (False, True):
        needed = next((one for one in trials if one.data == data[whole]), None)
        if needed is not None:
            store.put(needed, pooled(spread) if whole else spread)


def pooled(spread: Spread) -> Spread:
    """Return the same samples at one site."""
    return Spread([stack(spread.rows)], spread.places, spread.classes)


def digest_of(spread: Spread) -> str:
    """Return a hash of all that a federation is: who has which rows, their order, their classes."""
    found = blake2b(digest_size=12)
    for own in spread.rows:
        parts = [own] if isinstance(own, np.ndarray) else [own.data, own.indices, own.indptr]
        found.update(repr([(part.shape, part.dtype.str) for part in [own, *parts]]).encode())
        for part in parts:
            found.update(np.ascontiguousarray(part).data)
    for known in (spread.places, spread.classes):
        found.update(b"-" if known is None else np.ascontiguousarray(known).data)
    return found.hexdigest()
