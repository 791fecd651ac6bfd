"""Where a round's time goes: FedMGS written naively, and here without and with compiled kernels.

    python benchmarks/parts.py [--rounds 30] [--out FILE.json]

All on one thread, so that the parts add up to the round, in milliseconds (medians); below, the
round with all threads. Data: the synthetic preset, M=2000, N=10000, K=20, P=100, Q1=10, Q2=100.
"""

from __future__ import annotations

import argparse
import pkgutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from threadpoolctl import threadpool_limits

import fedmf
import naive
from fedmf import native
from measuring import report
from speed import SHAPE, rounds_of, synthetic

PARTS = ("W'X", "steps on H", "X H'", "sums", "steps on W", "objective", "the rest")
# Where each part is found: the function's owner and name, in the modules that use it.
TIMED = {
    "W'X": [("fedmf.sites.Cohort", "cross")],
    "X H'": [("fedmf.sites.Cohort", "moment")],
    "steps": [("fedmf.problem", "projected_steps")],
    "sums": [("fedmf.runtimes.local", "add_up"), ("fedmf.algorithms.fedmgs", "_add")],
    "objective": [("fedmf.engine", "_objective")],
}


def timed(clock: naive.Clock, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that does the same and counts its time."""

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        label = name
        if name == "steps":  # (A, B, Z, steps, ...): Q1 of them on H, Q2 on W
            label = "steps on H" if args[3] == fedmf.FedMGS().q1 else "steps on W"
        with clock.part(label):
            return function(*args, **kwargs)

    return wrapped


def parts_here(sites: list[np.ndarray], K: int, count: int) -> list[dict[str, float]]:
    """Return each round's seconds by part, on one thread."""
    clock, found = naive.Clock(), []
    last = time.perf_counter()

    def after(position: Any) -> None:
        nonlocal last
        found.append({**clock.seconds, "all": time.perf_counter() - last})
        clock.seconds.clear()
        last = time.perf_counter()

    patches = []
    for name, places in TIMED.items():
        for owner, attribute in places:
            whole = pkgutil.resolve_name(owner)
            function = timed(clock, name, getattr(whole, attribute))
            patches.append(mock.patch.object(whole, attribute, function))
    for patch in patches:
        patch.start()
    problem = fedmf.Problem(rank=K)
    fedmf.fit(sites, problem, fedmf.FedMGS(), rounds=count, tol=0, threads=1, callback=after)
    for patch in patches:
        patch.stop()
    return found


def parts_naive(sites: list[np.ndarray], K: int, count: int) -> list[dict[str, float]]:
    """Return the same of the naive loop."""
    random = np.random.default_rng(0)
    W, H = random.random((sites[0].shape[1], K)), [random.random((K, len(X))) for X in sites]
    found = []
    with threadpool_limits(1):
        loop = naive.rounds(sites, W, H)
        for _ in range(count):
            start = time.perf_counter()
            *_, seconds = next(loop)
            found.append({**seconds, "all": time.perf_counter() - start})
    return found


def medians(found: list[dict[str, float]]) -> dict[str, float]:
    """Return the median milliseconds of each part; the rest is what no part accounts for."""
    kept = found[3:]
    rows = {name: 1e3 * float(np.median([f.get(name, 0.0) for f in kept])) for name in PARTS}
    rows["a round"] = 1e3 * float(np.median([f["all"] for f in kept]))
    rows["the rest"] = rows["a round"] - sum(rows[name] for name in PARTS[:-1])
    return rows


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    X, K, count = synthetic(), SHAPE["K"], given.rounds + 3
    sites = np.array_split(X, 100)
    columns = {"naive": medians(parts_naive(sites, K, count))}
    many: dict[str, Any] = {"naive": "-"}
    for label, kernels in (("numpy", dict), ("compiled", native.kernels)):
        with mock.patch.object(native, "kernels", kernels):
            columns[label] = medians(parts_here(sites, K, count))
            idle = rounds_of(sites, K, fedmf.FedMGS(), given.rounds, lambda: None)
            many[label] = idle["round_ms"]
    rows = [
        {"ms": name, **{label: columns[label][name] for label in columns}}
        for name in (*PARTS, "a round")
    ]
    report("a round, part by part", [*rows, {"ms": "a round, all threads", **many}], given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
