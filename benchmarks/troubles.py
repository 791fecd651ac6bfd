"""What befalls a federation besides kills: a part of the chaos command, see `chaos`."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from disturbed import JOBS, Job, Outcome, answered, fedmf, finish, real, same

LATE = "FedMGS, m = 2"
FAKE = "faketime/libfaketime.so.1"
Row = dict[str, Any]


def troubles(there: real.Real, calm: dict[str, Outcome]) -> list[Row]:
    """Return a row for each trouble."""
    every = (frozen, full_disk, damaged_site, damaged_server, damaged_twice, clocks)
    return [one(there, calm[LATE]) for one in every]


def row(trouble: str, good: bool, seen: str, runs: int = 1) -> Row:
    print(f"{trouble}: {seen}", flush=True)
    return {"trouble": trouble, "runs": runs, "the same": int(good), "seen": seen}


def frozen(there: real.Real, _: Outcome) -> Row:
    """SIGSTOP past the deadline, then SIGCONT: the sums are exact, the site is back."""
    client, job = there.client, Job(fedmf.FedMGS(q1=3, q2=5), {}, 60)
    started = time.monotonic()
    run = client.submit({**job.tables, "federation": {"deadline": 3.0}})
    real.until(lambda: progress(client, run) >= 5)
    pid = there.pid("east")
    os.kill(pid, signal.SIGSTOP)
    try:
        real.until(lambda: client.log(run)[0].count("went on without east") >= 3)
    finally:
        os.kill(pid, signal.SIGCONT)
    found = finish(there, run, started)
    missing = [line[-1] for line in found.history]
    away = sum(sites == [1] for sites in missing)
    F, told = objective(there, found), found.history[-1][0]
    exact = abs(F - told) <= 1e-10 * F
    back = missing[-1] == [] and all(sites in ([], [1]) for sites in missing)
    text = f"{away} rounds without it, back in the last, F from W and every H: {F / told - 1:+.0e}"
    return row("a site frozen past the deadline", exact and back and away >= 3, text)


def objective(there: real.Real, found: Outcome) -> float:
    """Return F of what the sites have, without the server's sums."""
    data = list(there.data.values())
    N, norm = sum(map(len, data)), sum(float(np.sum(X**2)) for X in data)
    fit = sum(float(np.sum((X.T - found.W @ H) ** 2)) for X, H in zip(data, found.H, strict=True))
    overlap = sum(float(np.sum(H.sum(axis=0) ** 2) - np.sum(H**2)) for H in found.H)
    energy = sum(float(np.sum(H**2)) for H in found.H)
    rho, nu = (weight * norm / N for weight in (1e-4, 1e-10))
    return fit / N + rho / 2 * overlap + nu / 2 * energy


def progress(client: fedmf.Federation, run: str) -> int:
    """Return how many rounds are done."""
    return int(client.status(run)["runs"][0]["last"].get("round", 0))


def full_disk(there: real.Real, calm: Outcome) -> Row:
    """A disk of half a megabyte for a site's state, filled up in the middle of a run."""
    name, place = "a site's disk full", there.kits / "east" / "state"
    place.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        return row(name, True, "left out: only root may mount a small disk", runs=1)
    try:
        client, started = there.client, time.monotonic()
        run = client.submit(JOBS[LATE].tables)
        real.until(lambda: progress(client, run) >= 5)
        fill(place / "filler")
        real.until(lambda: "No space left on device" in client.log(run)[0])
        time.sleep(1.0)
        (place / "filler").unlink()
        found = finish(there, run, started)
    finally:
        subprocess.run(["umount", str(place)], check=True)
    return row(name, same(found, calm), "the run waited, said so, and went on")


def fill(path: Path) -> None:
    """Write until nothing more fits."""
    with path.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1024))
        except OSError:
            return


def damaged_site(there: real.Real, calm: Outcome) -> Row:
    """A bit turned over in every state of a site, which then is killed."""
    run, started = begun(there)
    with stopped(there, "east"):
        count = spoil(there.kits / "east" / "state" / run, "*.state")
    found = finish(there, run, started)
    return row("a site's state damaged", same(found, calm), f"{count} files; the copies were read")


def damaged_server(there: real.Real, calm: Outcome) -> Row:
    """The same at the server."""
    run, started = begun(there)
    with stopped(there, "server"):
        count = sum(spoil(there.kits / "server" / "runs" / run, name)
                    for name in ("checkpoint.state", "rounds.jsonl"))  # fmt: skip
    found = finish(there, run, started)
    return row("the checkpoint damaged", same(found, calm), f"{count} files; the copies were read")


def damaged_twice(there: real.Real, _: Outcome) -> Row:
    """State and copy: the run waits, says for whom, and can be stopped; the next one is as ever."""
    run, _ = begun(there)
    with stopped(there, "east"):
        for folder in ("", "copy"):
            spoil(there.kits / "east" / "state" / run / folder, "*.state")
    client = there.client
    real.until(lambda: "its stored state is missing or damaged" in client.log(run)[0], 60)
    client.stop(run)
    found = client.follow(run)
    return row("state and copy damaged", found["state"] == "stopped",
               "the run waited and said so; stopped after a complete round")  # fmt: skip


def clocks(there: real.Real, calm: Outcome) -> Row:
    """Two sites' clocks an hour off, one each way."""
    name = "clocks an hour apart"
    libraries = [str(path) for path in Path("/usr/lib").glob(f"*/{FAKE}")]
    if not libraries:
        return row(name, True, "left out: needs libfaketime (Debian: faketime)")
    shifted = {"north": "+1h", "south": "-1h"}
    for site, shift in shifted.items():
        there.stop(site)
        there.start(site, supervised=True, LD_PRELOAD=libraries[0], FAKETIME=shift,
                    FAKETIME_DONT_FAKE_MONOTONIC="1")  # fmt: skip
    try:
        started = time.monotonic()
        found = finish(there, there.client.submit(JOBS[LATE].tables), started)
        off = {site: round((last_upload(there, site) - now()) / timedelta(hours=1))
               for site in shifted}  # fmt: skip
    finally:
        for site in shifted:
            there.stop(site)
            there.start(site, supervised=True)
    right = same(found, calm) and off == {"north": 1, "south": -1}
    return row(name, right, f"by the sites' own records: {off}")


def last_upload(there: real.Real, site: str) -> datetime:
    import json

    lines = (there.kits / site / "egress.jsonl").read_text().splitlines()
    return datetime.fromisoformat(json.loads(lines[-1])["time"])


def now() -> datetime:
    return datetime.now(UTC)


def begun(there: real.Real) -> tuple[str, float]:
    """Return a run that has played some rounds, and when it began."""
    client, started = there.client, time.monotonic()
    run = answered(lambda: client.submit(JOBS[LATE].tables))
    real.until(lambda: progress(client, run) >= 5)
    return run, started


@contextmanager
def stopped(there: real.Real, name: str) -> Iterator[None]:
    """Let a process do nothing meanwhile, and kill it then: its supervisor starts another."""
    pid = there.pid(name)
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGKILL)


def spoil(folder: Path, pattern: str) -> int:
    """Turn a bit over in the middle of files; return how many."""
    paths = list(folder.glob(pattern))
    for path in paths:
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    return len(paths)
