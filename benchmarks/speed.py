"""What a round costs over the two products with X that it cannot do without.

    python benchmarks/speed.py [--only NAME ...] [--rounds 30] [--data-dir DIR] [--out FILE.json]

Every figure is a ratio: the median round over the median of a reference that takes turns with the
rounds of the same run, so that both see the same machine. The whole round counts, the objective
and the history included. A limit is what the software is to stay under on 2 cores.

Without --only everything is measured; --data-dir is where the files of TDT2 are, --folder where
there is room for 3.1 GB.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import fedmf
from measuring import anonymous_mb, peak_of, report

SHAPE = {"M": 2000, "N": 10_000, "K": 20}
AFTERMATH = 0.15  # OpenBLAS keeps the cores busy for 0.1 s after a product
TURN = 3  # rounds, then calls of the reference
Row = dict[str, Any]


def synthetic(dtype: str = "float64") -> np.ndarray:
    """Return the synthetic preset's samples, (10000, 2000)."""
    return fedmf.datasets.load("synthetic", preset="paper", seed=0, dtype=dtype).X


def products(X: Any, K: int) -> Callable[[], None]:
    """Return a function that multiplies the pooled matrix from both sides, on all cores."""
    random = np.random.default_rng(0)
    W = random.random((X.shape[1], K)).astype(X.dtype)
    H = random.random((X.shape[0], K)).astype(X.dtype)

    def work() -> None:
        with threadpool_limits(os.cpu_count()):
            X @ W
            X.T @ H

    return work


def seconds_of(work: Callable[[], None]) -> float:
    """Return how long a call takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def rounds_of(sites: Any, K: int, algorithm: Any, count: int, between: Callable[[], None]) -> Row:
    """Return the medians of a round and of the reference, which take turns.

    For a while after a turn of the reference, rounds are played but not timed: BLAS keeps the cores
    busy that long, waiting for its next product, and the caches and the threads have to find back
    to where they are in a run. So does the reference's first call of a turn.
    """
    rounds: list[float] = []
    references: list[float] = []
    last = quiet = time.perf_counter()

    def after(position: Any) -> None:
        nonlocal last, quiet
        now = time.perf_counter()
        if last > quiet:
            rounds.append(now - last)
            if len(rounds) % TURN == 0:
                between()
                references.extend(seconds_of(between) for _ in range(TURN))
                quiet = time.perf_counter() + AFTERMATH
        if len(rounds) >= count + TURN:
            raise KeyboardInterrupt  # ends the run
        last = time.perf_counter()

    fedmf.fit(sites, fedmf.Problem(rank=K), algorithm, rounds=10**6, tol=0, callback=after)
    return {
        "round_ms": 1e3 * statistics.median(rounds[TURN:]),
        "reference_ms": 1e3 * statistics.median(references[TURN:]),
    }


def against_products(
    what: str,
    limit: float,
    X: Any,
    sites: Any,
    K: int,
    algorithm: Any,
    count: int,
    share: float = 1,
) -> Row:
    """Return the ratio of a round over (a share of) the two pooled products."""
    found = rounds_of(sites, K, algorithm, count, products(X, K))
    ratio = found["round_ms"] / (share * found["reference_ms"])
    return {"what": what, "ratio": ratio, "limit": limit, **found}


def against_fewer_sites(what: str, limit: float, X: Any, P: int, algorithm: Any, count: int) -> Row:
    """Return the ratio of a round with P sites over one with 100, the two runs side by side."""
    problem, few, many = fedmf.Problem(rank=SHAPE["K"]), [], []

    def alternate(sites: Any, kept: list[float]) -> None:
        run = fedmf.fit(sites, problem, algorithm, rounds=8, tol=0)
        kept.extend(run.history.seconds[3:])

    while len(many) < count:
        alternate(np.array_split(X, 100), few)
        alternate(np.array_split(X, P), many)
    found = {
        "round_ms": 1e3 * statistics.median(many),
        "reference_ms": 1e3 * statistics.median(few),
    }
    return {
        "what": what,
        "ratio": found["round_ms"] / found["reference_ms"],
        "limit": limit,
        **found,
    }


def dense(count: int) -> list[Row]:
    """Measure the dense synthetic data."""
    X, K = synthetic(), SHAPE["K"]
    sites, single = np.array_split(X, 100), synthetic("float32")
    full, drawn = fedmf.FedMGS(), fedmf.FedMGS(participants=10)
    average = fedmf.FedMAvg(q2=100)
    return [
        against_products("FedMGS, float64", 1.25, X, sites, K, full, count),
        against_products(
            "FedMGS, float32", 1.4, single, np.array_split(single, 100), K, full, count
        ),
        against_products("FedMAvg, Q2 = 100, float64", 1.6, X, sites, K, average, count),
        against_products("FedMGS, m = 10, over a tenth", 2.0, X, sites, K, drawn, count, share=0.1),
    ]


def many_sites(count: int) -> list[Row]:
    """Measure how a round grows with the number of sites."""
    X, average = synthetic(), fedmf.FedMAvg(q2=10)
    return [
        against_fewer_sites("FedMGS, P = 1,000 over 100", 1.2, X, 1_000, fedmf.FedMGS(), count),
        against_fewer_sites("FedMGS, P = 10,000 over 100", 2.0, X, 10_000, fedmf.FedMGS(), count),
        against_fewer_sites("FedMAvg, P = 1,000 over 100", 3.0, X, 1_000, average, count),
    ]


def sparse(count: int, data_dir: Path | None) -> list[Row]:
    """Measure TDT2 with all its words."""
    X = fedmf.datasets.load("tdt2", features=None, data_dir=data_dir).X
    parts = fedmf.partitions.partition("iid", X, n_sites=100, seed=0)
    sites = [X[rows] for rows in parts]
    what = f"FedMGS, TDT2 {X.shape[0]} x {X.shape[1]}, CSR, K = 30"
    return [against_products(what, 2.0, X, sites, 30, fedmf.FedMGS(), count)]


def on_disk(count: int, folder: Path | None, rows: int = 1_000_000) -> list[Row]:
    """Measure a memory-mapped matrix of 3.1 GB."""
    K, M = SHAPE["K"], 784
    with tempfile.TemporaryDirectory(dir=folder) as place:
        path = Path(place) / "large.npy"
        written = np.lib.format.open_memmap(path, "w+", np.float32, (rows, M))
        random = np.random.default_rng(0)
        for first in range(0, rows, 10_000):
            written[first : first + 10_000] = random.random((10_000, M), dtype=np.float32)
        written.flush()
        X = np.load(path, mmap_mode="r")
        W = random.random((M, K)).astype(np.float32)
        H = random.random((rows, K)).astype(np.float32)

        def by_blocks() -> None:
            total = np.zeros((M, K), np.float32)
            with threadpool_limits(os.cpu_count()):
                for first in range(0, rows, 10_000):
                    block = X[first : first + 10_000]
                    block @ W
                    total += block.T @ H[first : first + 10_000]

        sites = [X[first : first + rows // 100] for first in range(0, rows, rows // 100)]
        found, _, peak = peak_of(lambda: rounds_of(sites, K, fedmf.FedMGS(), count, by_blocks))
    ratio = found["round_ms"] / found["reference_ms"]
    return [
        {"what": f"FedMGS, {rows:,} x {M} on disk", "ratio": ratio, "limit": 1.5, **found},
        {"what": "its anonymous memory, MB", "ratio": peak, "limit": 1500.0,
         "round_ms": 0.0, "reference_ms": 0.0},
    ]  # fmt: skip


def against_sklearn(count: int) -> list[Row]:
    """Measure the time to the objective that scikit-learn's NMF ends at, from the same start."""
    from sklearn.decomposition import non_negative_factorization

    X, K = synthetic(), SHAPE["K"]
    random = np.random.default_rng(0)
    scale = np.sqrt(np.abs(X).mean() / K)
    W0, H0 = random.random((X.shape[1], K)) * scale, random.random((K, X.shape[0])) * scale
    start = time.perf_counter()
    H, W, _ = non_negative_factorization(
        X, W=np.ascontiguousarray(H0.T), H=np.ascontiguousarray(W0.T), n_components=K,
        init="custom", solver="cd", max_iter=200, tol=0,
    )  # fmt: skip
    theirs = time.perf_counter() - start
    wanted = float(np.sum((X - H @ W) ** 2)) / len(X)
    sites = np.array_split(X, 100)
    init = (W0, np.split(H0, np.cumsum([len(own) for own in sites])[:-1], axis=1))
    problem = fedmf.Problem(rank=K, rho=0, nu=0, bounds="nonnegative")
    start, ours = time.perf_counter(), float("nan")

    def after(position: Any) -> None:
        nonlocal ours
        if np.isnan(ours) and position.objective <= wanted:
            ours = time.perf_counter() - start
            raise KeyboardInterrupt

    fedmf.fit(sites, problem, fedmf.FedMGS(), rounds=5_000, tol=0, init=init, callback=after)
    found = {"round_ms": 1e3 * ours, "reference_ms": 1e3 * theirs}
    return [
        {
            "what": "FedMGS to scikit-learn's objective",
            "ratio": ours / theirs,
            "limit": 0.5,
            **found,
        }
    ]


def memory(count: int) -> list[Row]:
    """Measure the memory beyond X itself, as a share of what is allowed: 15 % of X and 200 MB."""
    X = synthetic()
    sites = np.array_split(X, 100)
    before = anonymous_mb()
    _, _, peak = peak_of(
        lambda: fedmf.fit(sites, fedmf.Problem(rank=SHAPE["K"]), fedmf.FedMGS(), rounds=5, tol=0)
    )
    allowed = 0.15 * X.nbytes / 1e6 + 200
    row = {"what": f"memory beyond X, of {allowed:.0f} MB", "ratio": (peak - before) / allowed}
    return [{**row, "limit": 1.0, "round_ms": 0.0, "reference_ms": 0.0}]


def start_up(count: int) -> list[Row]:
    """Measure `import fedmf` and `fedmf --help`, in seconds over what is allowed."""
    rows = []
    for what, allowed, command in (
        ("import fedmf", 0.5, ["-c", "import fedmf"]),
        ("fedmf --help", 0.3, ["-m", "fedmf", "--help"]),
    ):
        call = [sys.executable, *command]
        times = [
            seconds_of(lambda call=call: subprocess.run(call, check=True, capture_output=True))
            for _ in range(count)
        ]
        found = {"round_ms": 1e3 * statistics.median(times), "reference_ms": 1e3 * allowed}
        ratio = found["round_ms"] / found["reference_ms"]
        rows.append({"what": f"{what}, of {allowed} s", "ratio": ratio, "limit": 1.0, **found})
    return rows


def main() -> int:
    """Run the benchmark; the exit status is 1 where a limit was passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--folder", type=Path, help="where the matrix on disk is made")
    parser.add_argument("--out", type=Path)
    parts: dict[str, Callable[[int], list[Row]]] = {
        "dense": dense,
        "sites": many_sites,
        "sklearn": against_sklearn,
        "memory": memory,
        "start": start_up,
    }
    parser.add_argument("--only", nargs="+", choices=[*parts, "sparse", "disk"])
    given = parser.parse_args()
    parts["sparse"] = lambda count: sparse(count, given.data_dir)
    parts["disk"] = lambda count: on_disk(count, given.folder)
    rows = [row for name in given.only or parts for row in parts[name](given.rounds)]
    report("a round over its reference", rows, given.out)
    return int(any(row["ratio"] > row["limit"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
