"""Kill processes of a running federation at random moments: every run must end as if undisturbed.

python benchmarks/chaos.py                      60 runs with kills, then the other troubles
python benchmarks/chaos.py --runs 12 --seed 7   fewer, at other moments
python benchmarks/chaos.py --runs 0             the other troubles alone

A server and three sites run as processes on loopback, with mutual TLS and their supervisors. In
every run some of them get SIGKILL, once to three times: at a moment drawn from the length of an
undisturbed run, or, in every second run, at the first moment after that at which the process is
writing a file; the half written file is then there to show it. W, every site's H, the objective,
the participants and the bytes sent must be those of the undisturbed run, bit for bit, and those of
the run in one process. The exit status is 0 only if all of them are.
"""

from __future__ import annotations

import argparse
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from disturbed import JOBS, SITES, Outcome, answered, federation, finish, real, same, undisturbed
from fedmf.files import is_temporary
from measuring import machine, show
from troubles import troubles

VICTIMS = {
    "server": ("server",),
    "one site": ("east",),
    "server and a site": ("server", "south"),
    "all four": ("server", *SITES),
}


class Blow(NamedTuple):
    """A kill: whether its victim was there, and was writing a file."""

    killed: bool = False
    saving: bool = False


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=60, help="with kills (default: 60)")
    parser.add_argument("--seed", type=int, default=0, help="of the moments (default: 0)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, federation(Path(folder)) as there:
        calm = {name: undisturbed(there, name) for name in JOBS}
        rows = kills(there, calm, given.runs, given.seed) if given.runs else []
        others = troubles(there, calm)
    if rows:
        show(f"SIGKILL, seed {given.seed}", rows)
    show("other troubles", others)
    for name, value in machine().items():
        print(f"{name}: {value}")
    if not all(row["the same"] == row["runs"] for row in [*rows, *others]):
        raise SystemExit("some runs did not end as they should")


def kills(there: real.Real, calm: dict[str, Outcome], runs: int, seed: int) -> list[dict[str, Any]]:
    """Play runs with kills; return the table."""
    random = np.random.default_rng(seed)
    table: dict[tuple[str, str], dict[str, Any]] = {}
    for number in range(runs):
        job, victims = list(JOBS)[number % 3], list(VICTIMS)[number // 3 % 4]
        found, blows = struck(there, job, VICTIMS[victims], calm[job].seconds,
                              bool(number % 2), random)  # fmt: skip
        right = same(found, calm[job])
        row = table.setdefault((job, victims), {
            "run": job, "killed": victims, "runs": 0, "kills": 0, "while saving": 0,
            "the same": 0, "extra s": 0.0,
        })  # fmt: skip
        row["runs"] += 1
        row["kills"] += sum(blow.killed for blow in blows)
        row["while saving"] += sum(blow.saving for blow in blows)
        row["the same"] += right
        row["extra s"] += found.seconds - calm[job].seconds
        print(f"{number + 1:3} {job:15} {victims:18} {len(blows)} kills, "
              f"{'the same' if right else 'DIFFERENT'}", flush=True)  # fmt: skip
    rows = [table[key] for key in sorted(table)]
    sums = {name: sum(row[name] for row in rows) for name in list(rows[0])[2:]}
    rows.append({"run": "all", "killed": "", **sums})
    for row in rows:
        row["extra s"] = round(row["extra s"] / row["runs"], 1)
    return rows


def struck(
    there: real.Real, job: str, victims: tuple[str, ...], seconds: float, saving: bool, random: Any
) -> tuple[Outcome, list[Blow]]:
    """Play one run and kill these meanwhile; return how it ended, and the kills."""
    client, blows = there.client, []
    answered(client.status)
    started = time.monotonic()
    run = client.submit(JOBS[job].tables)
    for _ in range(random.integers(1, 4)):
        time.sleep(random.uniform(0, seconds / 2))
        blows += [strike(there, victim, run, saving) for victim in victims]
    return finish(there, run, started), [blow for blow in blows if blow.killed]


def strike(there: real.Real, victim: str, run: str, saving: bool) -> Blow:
    """Kill a process, while it is writing a file if that is wanted."""
    pid = there.pid(victim)
    if pid is None:
        return Blow()  # its supervisor is about to start it
    kit = there.kits / victim
    places = [kit, kit / "runs" / run] if victim == "server" else [kit, kit / "state" / run]
    places += [place / "copy" for place in places]
    end = time.monotonic() + 1.0
    while saving and time.monotonic() < end and not writing(places, pid):
        pass
    os.kill(pid, signal.SIGKILL)
    real.until(lambda: there.pid(victim) != pid)
    return Blow(True, writing(places, pid))


def writing(places: list[Path], pid: int) -> bool:
    """Whether there is a file that this process was writing."""
    there = (path.name for place in places if place.is_dir() for path in place.iterdir())
    return any(is_temporary(name) and name.startswith(f".{pid}-") for name in there)


if __name__ == "__main__":
    main()
