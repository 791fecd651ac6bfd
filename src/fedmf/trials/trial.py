"""What a trial is: one run, said in full, and the key that is made of it.

    Trial("tdt2", {"name": "fedmgs", "participants": 10}, rank=30, partition="kmeans", cluster={})

A trial is plain values, so that a TOML table can say it. `resolved` fills in every default and
drops what does not matter to the method (a rival has no start, a pooled reference no sites), and
the key is a hash of that: two spellings of one run have one key, and a default that changes
changes the key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cached_property
from hashlib import blake2b, sha256
from pathlib import Path
from typing import Any

from fedmf import datasets, partitions, preparation
from fedmf.checks import check_integer, check_real, unknown
from fedmf.clustering import SNCP
from fedmf.config import problem_from, to_table
from fedmf.errors import InputTypeError, ParameterError
from fedmf.plugins import module_in, options_of, with_options
from fedmf.starts import find
from fedmf.trials.methods import Method, method_from

FORMAT = 1  # of what a result holds: a new one makes new keys
GIVEN = "given:"  # data that the caller put beside the store, named by their digest
Table = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """One run.

    Parameters
    ----------
    data : a built-in data set with options behind a colon ("synthetic:preset=paper"), or a path.
    method : "name" and its settings: an algorithm (as in a run's config.toml), a rival (as in
        `fedmf.baselines`), "kmeans++" or "central-sncp", for which the data are pooled.
    rank : K.
    partition, n_sites, partition_seed : how the samples are dealt out; partition=None: one site.
    prepare : a preparation across the sites, options behind a colon ("tfidf"), or None.
    problem : settings of `fedmf.Problem` other than the rank.
    init : the start's name.
    cluster : settings of `SNCP`, {} for its defaults; None: rho stays as the problem has it.
    rounds, tol : where the run ends.
    seed : of the start, of who takes part, and of all else that is random in the method. Methods
        with the same seed begin from the same point.
    dtype : in which the data are.
    points : about how many rounds the curves have: the first, the last, and others between, close
        at first and then further apart.
    labels : whether to keep each sample's cluster.
    """

    data: str
    method: Mapping[str, Any]
    rank: int
    partition: str | None = "iid"
    n_sites: int = 100
    partition_seed: int = 0
    prepare: str | None = None
    problem: Mapping[str, Any] = field(default_factory=dict)
    init: str = "random"
    cluster: Mapping[str, Any] | None = None
    rounds: int = 500
    tol: float = 1e-8
    seed: int = 0
    dtype: str = "float64"
    points: int = 60
    labels: bool = False

    def __post_init__(self) -> None:
        """Check every setting once; what only the data can tell is found when it is run."""
        for name, least in (("rank", 1), ("n_sites", 1), ("rounds", 1), ("points", 2)):
            check_integer(name, getattr(self, name), minimum=least)
        for name in ("seed", "partition_seed"):
            check_integer(name, getattr(self, name), minimum=0)
        check_real("tol", self.tol, minimum=0)
        if self.dtype not in ("float32", "float64"):
            raise unknown("dtype", self.dtype, ("float32", "float64"))
        _ = self.resolved

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Trial:
        """Return the trial that a table describes."""
        allowed = [one.name for one in fields(cls)]
        for name in table:
            if name not in allowed:
                raise ParameterError(f"a trial has no entry {name!r}; it has {', '.join(allowed)}")
        for name in ("data", "method", "rank"):
            if name not in table:
                raise ParameterError(f"a trial needs an entry {name!r}")
        return cls(**table)

    def as_table(self) -> Table:
        """Return the trial as a table of plain values."""
        return asdict(self)

    @cached_property
    def how(self) -> Method:
        """The method."""
        return method_from(self.method, self.rank)

    @cached_property
    def resolved(self) -> Table:
        """Everything that decides the result, all defaults filled in."""
        return {"format": FORMAT, **self.place, **self._course, "seed": self.seed,
                "method": self.how.table, "rank": self.rank, "labels": self.labels}  # fmt: skip

    @cached_property
    def key(self) -> str:
        """A short hash of `resolved`."""
        return digest(self.resolved)

    @property
    def name(self) -> str:
        """A readable name; only with the key is it unique."""
        drawn, parts = self.method.get("participants"), [self.source]
        if not self.how.pooled and not self.data.startswith(GIVEN):  # which are dealt out already
            parts.append(str(self.partition or "one").partition(":")[0])
        parts += [self.how.name] + ([f"m{drawn}"] if drawn else []) + [f"s{self.seed}"]
        return "-".join(parts)

    @cached_property
    def place(self) -> Table:
        """What decides the federation: the data, how they are dealt out and prepared."""
        sites = None
        if not self.how.pooled and self.partition is not None:
            dealt = _named(self.partition, "partition", partitions.names(), partitions.options)
            sites = {**dealt, "n_sites": self.n_sites, "seed": self.partition_seed}
        prepared = None
        if self.prepare is not None:
            prepared = _named(self.prepare, "preparation", preparation.names(), preparation.options)
        return {"data": _data(self.data), "sites": sites, "prepare": prepared, "dtype": self.dtype}

    @property
    def source(self) -> str:
        """The data's name, fit for files."""
        return _short(self.data)

    @property
    def _course(self) -> Table:
        """What decides the course of an algorithm; nothing for methods that have no rounds."""
        algorithm = self.how.algorithm
        if algorithm is None:
            return {}
        given = dict(self.problem)
        if "rank" in given:
            raise ParameterError("the rank is an entry of the trial, not of its problem")
        if self.cluster is not None and not isinstance(self.cluster, Mapping):
            raise InputTypeError(f"cluster must be a table of settings, got {self.cluster!r}")
        grows = None
        if self.cluster is not None:
            grows = asdict(sncp(self.cluster).for_algorithm(algorithm))
        find(self.init)
        return {
            "problem": to_table(problem_from({**given, "rank": self.rank})),
            "init": self.init,
            "cluster": grows,
            "rounds": self.rounds,
            "tol": self.tol,
            "points": self.points,
        }


def sncp(settings: Mapping[str, Any]) -> SNCP:
    """Return the SNCP of a table."""
    allowed = [one.name for one in fields(SNCP)]
    for name in settings:
        if name not in allowed:
            raise ParameterError(f"cluster has no setting {name!r}; it has {', '.join(allowed)}")
    return SNCP(**settings)


def digest(table: Mapping[str, Any]) -> str:
    """Return a hash of plain values, the same for 1 and 1.0 and for any order of the entries."""
    text = json.dumps(plain(table), sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode(), digest_size=8).hexdigest()


def plain(value: Any) -> Any:
    """Return a value as JSON has it, with one form for whole numbers."""
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(getattr(value, "__name__", value))  # a type among the defaults


def _data(text: str) -> Table:
    """Return what names the data: a built-in set's options, or the digest of a file's content."""
    if text.startswith(GIVEN):
        return {"digest": text.removeprefix(GIVEN)}
    if text.partition(":")[0] in datasets.names():
        return _named(text, "data set", datasets.names(), _options_of_data)
    path = Path(text).expanduser()
    if not path.is_file():
        raise ParameterError(
            f"data must be a file or one of {', '.join(datasets.names())}; got {text!r}"
        )
    return {"digest": sha256(path.read_bytes()).hexdigest()}


def _options_of_data(name: str) -> Table:
    return options_of(module_in("fedmf.datasets", name, "data set").load)


def _named(text: str, what: str, names: Any, options: Any) -> Table:
    """Return a plugin's name and all its options, those behind the colon and the defaults."""
    name, given = with_options(text, names)
    known = options(name)
    for option in given:
        if option not in known:
            raise ParameterError(
                f"{what} {name!r} has no option {option!r} (allowed: {', '.join(known)})"
            )
    return {"name": name, "options": {**known, **given}}


def _short(data: str) -> str:
    """Return a name for files: without options that are plain, and without a folder."""
    if data.startswith(GIVEN):
        return "given"
    name, _, rest = data.partition(":")
    values = [part.partition("=")[2] for part in rest.split(",") if "=" in part]
    stem = Path(name).stem if "/" in name or "." in name else name
    words = [word for word in [stem, *values] if word.replace("-", "").isalnum()]
    return "-".join(words)[:40]
