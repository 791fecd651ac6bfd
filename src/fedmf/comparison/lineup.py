"""Which methods take part in a comparison, and the trials that they are.

A method is written as its name, with settings behind a colon: "fedmgs:participants=10",
"bel:samples=500". Without a list there are the two algorithms, with all sites and with ten drawn in
a round, the rivals and the pooled references.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fedmf import recommended
from fedmf.checks import check_integer, check_real, check_type
from fedmf.errors import InputTypeError, ParameterError
from fedmf.plugins import with_options
from fedmf.starts.grouping import Grouping
from fedmf.trials import Trial
from fedmf.trials.methods import method_from, names

ALGORITHMS = ("fedmgs", "fedmavg")
OTHERS = ("km-parallel", "bel", "cal", "k-fed", "kmeans++", "central-sncp")
DRAWN, SEEDS = 10, 5
Table = dict[str, Any]


@dataclass(frozen=True)
class Course:
    """How algorithms run in a comparison: None is what is recommended.

    Parameters
    ----------
    init : the start, the same for all algorithms with the same seed.
    rho : where SNCP begins.
    rounds, tol : where a run ends.
    """

    init: str | None = None
    rho: float | None = None
    rounds: int | None = None
    tol: float | None = None

    def __post_init__(self) -> None:
        """Check what would be told of by another name."""
        if self.rho is not None:
            check_real("rho", self.rho, minimum=0, above=True)

    def entries(self, sizes: Sequence[int]) -> Table:
        """Return a trial's entries for sites of these sizes."""
        init = self.init or (recommended.INIT if max(sizes) >= Grouping.n_min else "random")
        schedule = recommended.Recommended({} if self.rho is None else {"start": self.rho})
        return {
            "init": init,
            "cluster": {"start": schedule.after(random=init == "random").start},
            "rounds": recommended.ROUNDS if self.rounds is None else self.rounds,
            "tol": recommended.TOL if self.tol is None else self.tol,
        }


def default_methods(sites: int, participants: int | None = None) -> list[Table]:
    """Return the methods that are compared where none are named."""
    drawn = DRAWN if participants is None and sites > DRAWN else participants
    few: list[Table] = [] if drawn is None else [{"participants": drawn}]
    own = [{"name": name, **with_few} for name in ALGORITHMS for with_few in [{}, *few]]
    return [*own, *({"name": name} for name in OTHERS)]


def read_methods(
    methods: Sequence[str | Mapping[str, Any]] | None, sites: int, participants: int | None
) -> list[Table]:
    """Return methods as tables; what they are told is checked by `Trial`."""
    if methods is None:
        return default_methods(sites, participants)
    if isinstance(methods, str | bytes) or not isinstance(methods, Sequence):
        raise InputTypeError(f"methods must be a list of names or tables, got {methods!r}")
    if not methods:
        raise ParameterError(f"methods must name at least one of {', '.join(names())}")
    return [_read(method, participants) for method in methods]


def _read(method: str | Mapping[str, Any], participants: int | None) -> Table:
    if isinstance(method, Mapping):
        table = dict(method)
    elif isinstance(method, str):
        name, settings = with_options(method, names())
        table = {"name": name, **settings}
    else:
        raise InputTypeError(f"a method must be a name or a table, got {method!r}")
    if participants is not None and table.get("name") in ALGORITHMS:
        table.setdefault("participants", participants)
    return table


def read_seeds(seeds: int | Sequence[int]) -> list[int]:
    """Return the seeds: a list, or how many from 0 on."""
    if isinstance(seeds, Sequence) and not isinstance(seeds, str | bytes):
        found = [check_integer("seeds", seed, minimum=0) for seed in seeds]
        if not found:
            raise ParameterError("seeds must hold at least one")
        return found
    return list(range(check_integer("seeds", seeds, minimum=1)))


def trials_of(
    methods: Sequence[Table],
    seeds: Sequence[int],
    clusters: int,
    course: Course,
    sizes: Sequence[int],
    data: Mapping[bool, str],
    dtype: str,
) -> list[Trial]:
    """Return a trial for each method and seed; `data`: their name by whether they are pooled."""
    check_type("course", course, Course)
    common = {"rank": clusters, "partition": None, "dtype": dtype, "labels": True,
              **course.entries(sizes)}  # fmt: skip
    found = []
    for table in methods:
        how = method_from(table, clusters)
        if how.algorithm is not None and not how.pooled:
            how.algorithm.check_sites(len(sizes))
        found += [Trial(data[how.pooled], table, seed=seed, **common) for seed in seeds]
    return found
