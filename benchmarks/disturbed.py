"""What the chaos command compares: runs over real processes, disturbed or not, bit for bit."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import fedmf
from fedmf.config import penalty_table, to_table
from fedmf.network.link import UnreachableError
from fedmf.runtimes import local
from network import real

SITES = {"north": 60, "east": 25, "south": 40}
FEATURES, RANK, ROUNDS = 300, 5, 80
PATIENCE = 120.0  # seconds in which a run has to end, whatever happens to it
PROBLEM = fedmf.Problem(RANK, rho=1e-4)
SAME = ("objective", "change", "rho", "participants", "uplink_bytes", "downlink_bytes", "missing")


class Job(NamedTuple):
    """A run to be disturbed."""

    algorithm: Any
    options: dict[str, Any]
    rounds: int = ROUNDS

    @property
    def tables(self) -> dict[str, Any]:
        """What the coordinator hands in."""
        run = {"rounds": self.rounds, "tol": 0.0, "seed": 3, "init": None}
        penalty = penalty_table(self.options.get("penalty")) or {}
        return {"problem": to_table(PROBLEM), "algorithm": to_table(self.algorithm),
                "run": run, "penalty": penalty}  # fmt: skip


JOBS = {
    "FedMGS, m = 2": Job(fedmf.FedMGS(q1=3, q2=5, participants=2), {}),
    "FedMAvg, m = 2": Job(fedmf.FedMAvg(q1=3, q2=3, participants=2), {}, ROUNDS // 2),
    "FedMGS, SNCP": Job(fedmf.FedMGS(q1=3, q2=5), {"penalty": fedmf.SNCP(patience=2)}),
}


class Outcome(NamedTuple):
    """What a run left behind."""

    W: np.ndarray
    H: list[np.ndarray]
    history: list[list[Any]]
    seconds: float


def federation(folder: Path) -> Any:
    """Return a federation that starts, under supervisors."""
    data = real.samples(tuple(SITES), tuple(SITES.values()), FEATURES, RANK)
    return real.running(folder, data, supervised=True)


def finish(there: real.Real, run: str, started: float) -> Outcome:
    """Wait for a run's end and for what every site keeps of it."""
    client, end = there.client, started + PATIENCE
    while (found := answered(lambda: client.status(run)["runs"][0]))["state"] != "done":
        assert found["state"] in ("queued", "running"), f"{run} {found['state']}: {found['status']}"
        assert time.monotonic() < end, f"{run} does not end"
        time.sleep(0.05)
    kept = [there.kits / name / "results" / run / "factors.safetensors" for name in there.data]
    real.until(lambda: all(path.exists() for path in kept), PATIENCE)
    seconds = time.monotonic() - started
    result = answered(lambda: client.result(run))
    return outcome(result, [own["H"] for own in there.results(run)], seconds)


def outcome(run: fedmf.Run, H: list[np.ndarray], seconds: float = 0.0) -> Outcome:
    """Return what is compared of a run."""
    rows = run.rows if "missing" in run.rows[0] else [{**row, "missing": []} for row in run.rows]
    return Outcome(run.W, H, [[row[name] for name in SAME] for row in rows], seconds)


def same(found: Outcome, wanted: Outcome) -> bool:
    """Whether two runs are the same, bit for bit."""
    pairs = zip([found.W, *found.H], [wanted.W, *wanted.H], strict=True)
    arrays = all(np.array_equal(own, other) for own, other in pairs)
    return arrays and found.history == wanted.history


def undisturbed(there: real.Real, name: str) -> Outcome:
    """Return a run's outcome, which has to be that of the run in one process."""
    job = JOBS[name]
    started = time.monotonic()
    found = finish(there, there.client.submit(job.tables), started)
    with apart():
        here = fedmf.fit(list(there.data.values()), PROBLEM, job.algorithm, job.rounds, 0.0,
                         seed=3, **job.options)  # fmt: skip
    assert same(found, outcome(here, here.H)), f"{name}: not the run in one process"
    print(f"{name}: {found.seconds:.1f} s undisturbed, equal to the run in one process")
    return found


@contextmanager
def apart() -> Iterator[None]:
    """Let every site of the run in one process be by itself, as a real one is."""
    before, local.COHORT_BYTES = local.COHORT_BYTES, 0
    try:
        yield
    finally:
        local.COHORT_BYTES = before


def answered(ask: Callable[[], Any]) -> Any:
    """Ask the server until it answers: it may have been killed a moment ago."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return ask()
        except UnreachableError:
            assert time.monotonic() < end, "the server does not come back"
            time.sleep(0.1)
