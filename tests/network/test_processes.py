"""Real processes that are killed, frozen, started again, or have another clock."""

import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import fedmf
from fedmf.config import to_table
from fedmf.network.supervisor import FAILED, MISTAKE, supervise
from network.real import RANK, until
from network.test_hostile import lines

pytestmark = pytest.mark.xdist_group("real")

PROBLEM = fedmf.Problem(RANK, rho=1e-3, nu=1e-4)
MGS = fedmf.FedMGS(q1=3, q2=5)


def submit(federation, rounds, algorithm=MGS, **settings):
    tables = {"problem": to_table(PROBLEM), "algorithm": to_table(algorithm),
              "run": {"rounds": rounds, "tol": 0.0, "seed": 3}, "federation": settings}  # fmt: skip
    return federation.client.submit(tables)


def finished(federation, name):
    """Return a run that has ended well, and each site's H."""
    found = federation.client.follow(name)
    assert found["state"] == "done", found["status"]
    kept = [federation.kits / site / "results" / name / "factors.safetensors"
            for site in federation.data]  # fmt: skip
    until(lambda: all(path.exists() for path in kept))
    return federation.client.result(name), [own["H"] for own in federation.results(name)]


def same(found, wanted):
    for own, other in zip([found[0].W, *found[1]], [wanted[0].W, *wanted[1]], strict=True):
        np.testing.assert_array_equal(own, other)
    for name in ("objective", "participants", "uplink_bytes", "missing"):
        assert found[0].history[name].tolist() == wanted[0].history[name].tolist()


def round_of(federation, name):
    return federation.client.status(name)["runs"][0]["last"].get("round", 0)


MAVG = fedmf.FedMAvg(q1=3, q2=3, participants=2)


@pytest.mark.parametrize("algorithm", [MGS, MAVG], ids=["fedmgs", "fedmavg"])
def test_two_runs_with_the_same_seed_are_the_same(federation, algorithm):
    first, second = (finished(federation, submit(federation, 15, algorithm)) for _ in range(2))
    same(first, second)


def test_a_run_whose_ends_were_killed_is_the_same(federation):
    plain = finished(federation, submit(federation, 15, MAVG))
    name = submit(federation, 15, MAVG)
    until(lambda: round_of(federation, name) >= 2)
    for victim in ("server", "east"):
        federation.stop(victim)
        federation.start(victim)
    until(federation.is_complete)
    same(finished(federation, name), plain)
    assert "went on without" not in federation.client.log(name)[0]


def test_a_frozen_site_is_gone_on_without_and_comes_back(federation):
    name = submit(federation, 30, deadline=0.3)
    until(lambda: round_of(federation, name) >= 3)
    pid = federation.pid("north")
    os.kill(pid, signal.SIGSTOP)
    try:
        until(lambda: federation.client.log(name)[0].count("went on without north") >= 2)
    finally:
        os.kill(pid, signal.SIGCONT)
    run, H = finished(federation, name)
    missing = run.history["missing"].tolist()
    assert missing.count([0]) >= 2
    assert missing[-1] == []
    fit = sum(np.sum((X.T - run.W @ own) ** 2)
              for X, own in zip(federation.data.values(), H, strict=True))  # fmt: skip
    assert run.algorithm.parts(run.goal, run.position.server).loss == pytest.approx(fit, rel=1e-9)


def test_a_clock_that_is_an_hour_off_changes_nothing(federation):
    found = [str(path) for path in Path("/usr/lib").glob("*/faketime/libfaketime.so.1")]
    if not found:
        pytest.skip("needs libfaketime, Debian's package faketime")
    plain = finished(federation, submit(federation, 5))
    federation.stop("south")
    federation.start("south", LD_PRELOAD=found[0], FAKETIME="-1h",
                     FAKETIME_DONT_FAKE_MONOTONIC="1")  # fmt: skip
    try:
        same(finished(federation, submit(federation, 5)), plain)
    finally:
        federation.stop("south")
        federation.start("south")
    told = datetime.fromisoformat(lines(federation.kits / "south")[-1]["time"])
    assert round((told - datetime.now(UTC)) / timedelta(hours=1)) == -1


@pytest.mark.parametrize(("status", "starts"), [(0, 1), (MISTAKE, 1), (FAILED, 2), (-9, 2)])
def test_a_supervisor_starts_again_what_did_not_end_by_itself(status, starts, tmp_path):
    """The first child ends with this status, or is killed; a second one ends well."""
    text = f"""
import os, signal, sys
from pathlib import Path
count = Path(sys.argv[1])
count.write_text(count.read_text() + "x" if count.exists() else "x")
if len(count.read_text()) == 1:
    os.kill(os.getpid(), 9) if {status} == -9 else sys.exit({status})
"""
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    try:
        ended = supervise([sys.executable, "-c", text, str(tmp_path / "count")])
    finally:
        for number, handler in zip((signal.SIGTERM, signal.SIGINT), before, strict=True):
            signal.signal(number, handler)
    assert (tmp_path / "count").read_text() == "x" * starts
    assert ended == (MISTAKE if status == MISTAKE else 0)


def test_a_second_process_with_the_same_kit_is_refused(federation):
    words = ["site", str(federation.kits / "east"), "--data", str(federation.folder / "east.npy")]
    found = subprocess.run([sys.executable, "-m", "fedmf", *words, "--child"], text=True,
                           stdin=subprocess.PIPE, capture_output=True, timeout=60,
                           check=False)  # fmt: skip
    assert found.returncode == MISTAKE
    assert "is in use: another site runs with this kit" in found.stderr
