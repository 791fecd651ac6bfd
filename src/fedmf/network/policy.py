"""A site's own limits, from policy.toml in its kit: what it does not do, whoever asks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from fedmf.checks import check_integer
from fedmf.errors import FileFormatError, RefusedError
from fedmf.files import read_toml
from fedmf.network.jobs import Job

DEFAULT = """\
# This site's limits. They are read when `fedmf site` starts.
min_samples = 10          # with fewer samples nothing leaves
samples_per_column = 1    # nor with no more than K times as many: uploads would give them away
max_rounds = 100000
max_rank = 1000
algorithms = ["fedmgs", "fedmavg", "fedpalm"]
starts = ["random", "kmeans", "linkage"]    # of a random one the server knows H
"""


@dataclass(frozen=True)
class Policy:
    """The limits."""

    min_samples: int = 10
    samples_per_column: int = 1
    max_rounds: int = 100_000
    max_rank: int = 1000
    algorithms: tuple[str, ...] = ("fedmgs", "fedmavg", "fedpalm")
    starts: tuple[str, ...] = ("random", "kmeans", "linkage")

    @classmethod
    def read(cls, path: Path) -> Policy:
        """Return the limits in a file; those that it does not name have their defaults."""
        if not path.is_file():
            return cls()
        table = read_toml(path)
        known = [one.name for one in fields(cls)]
        for name, value in table.items():
            if name not in known:
                raise FileFormatError(f"{path}: no limit {name!r}; there are {', '.join(known)}")
            if name in ("algorithms", "starts"):
                if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
                    raise FileFormatError(f"{path}: {name} must be a list of names, got {value!r}")
                table[name] = tuple(value)
            else:
                check_integer(f"{path}: {name}", value, minimum=0)
        return cls(**table)

    def check(self, job: Job, number: int, samples: int) -> None:
        """Refuse a job, or a round of it, that is beyond the limits."""
        rounds, rank = max(number, int(job.run["rounds"])), int(job.problem["rank"])
        name, start = job.algorithm["name"], (job.run["init"] or "random").partition(":")[0]
        self._at_most("rounds", rounds, self.max_rounds)
        self._at_most("rank", rank, self.max_rank)
        self._among("algorithm", name, self.algorithms)
        self.check_start(start)
        if samples < self.min_samples:
            raise RefusedError("refused by its policy: it has fewer samples than min_samples")
        if samples <= self.samples_per_column * rank:
            raise RefusedError(f"refused by its policy: it has too few samples for rank {rank}")

    def check_start(self, name: str) -> None:
        """Refuse to begin in a way that is not allowed."""
        self._among("start", name, self.starts)

    def _at_most(self, what: str, value: int, most: int) -> None:
        if value > most:
            raise RefusedError(f"refused by its policy: {what} {value} is over max_{what} {most}")

    def _among(self, what: str, value: str, allowed: tuple[str, ...]) -> None:
        if value not in allowed:
            raise RefusedError(
                f"refused by its policy: {what} {value!r} is not among {', '.join(allowed)}"
            )
