"""How a round's time and memory grow in N, M, K, P, m, Q1 and Q2.

    python benchmarks/growth.py [--rounds 30] [--out FILE.json]

One figure at a time is varied, the others stay at N=5000, M=1000, K=20, P=100, m=P, Q1=10, Q2=100
(FedMGS, float64, dense, all threads). The exponent is the slope of log time over log figure, least
squares over all values. Then one model for all points, by nonnegative least squares:

    seconds = a + b n M K + c n K^2 Q1 + d M K^2 Q2 + e m       n: the samples of the drawn sites

Memory is the most that a run of three rounds holds at a time, its data not counted (tracemalloc):

    bytes = a + b N K + c M K + d P
"""

from __future__ import annotations

import argparse
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

import fedmf
from measuring import report, show

BASE = {"N": 5000, "M": 1000, "K": 20, "P": 100, "m": 0, "Q1": 10, "Q2": 100}
VALUES = {
    "N": (2500, 5000, 10_000, 20_000),
    "M": (500, 1000, 2000, 4000),
    "K": (10, 20, 40, 60),
    "P": (10, 100, 1000, 5000),
    "m": (10, 25, 50, 100),
    "Q1": (1, 10, 100, 400),
    "Q2": (1, 10, 100, 400),
}


def measure(setting: dict[str, int], count: int) -> tuple[float, float]:
    """Return a round's median seconds and the megabytes that a run takes beside its data."""
    random, K = np.random.default_rng(0), setting["K"]
    shape = setting["N"], setting["M"]
    X = random.random((shape[0], K)) @ random.random((K, shape[1])) + random.random(shape)
    sites = np.array_split(X, setting["P"])
    algorithm = fedmf.FedMGS(q1=setting["Q1"], q2=setting["Q2"], participants=setting["m"] or None)

    def fit(rounds: int) -> fedmf.Run:
        return fedmf.fit(sites, fedmf.Problem(rank=K), algorithm, rounds=rounds, tol=0, seed=0)

    seconds = fit(count + 3).history.seconds[3:].median()
    tracemalloc.start()
    fit(3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return float(seconds), peak / 1e6


def time_terms(setting: dict[str, int]) -> dict[str, float]:
    """Return what the model of the time has coefficients for."""
    m = setting["m"] or setting["P"]
    n = setting["N"] * m / setting["P"]
    M, K = setting["M"], setting["K"]
    return {
        "s": 1.0,
        "s per n M K": n * M * K,
        "s per n K^2 Q1": n * K**2 * setting["Q1"],
        "s per M K^2 Q2": M * K**2 * setting["Q2"],
        "s per drawn site": m,
    }


def memory_terms(setting: dict[str, int]) -> dict[str, float]:
    """Return what the model of the memory has coefficients for."""
    N, M, K, P = (setting[name] for name in "NMKP")
    return {"MB": 1.0, "MB per N K": N * K, "MB per M K": M * K, "MB per site": P}


def fitted(terms: list[dict[str, float]], found: list[float]) -> list[dict[str, Any]]:
    """Return the coefficients of nonnegative least squares of the relative errors."""
    A, y = np.array([list(own.values()) for own in terms]), np.array(found)
    coefficients, _ = nnls(A / y[:, None], np.ones(len(y)))
    off = np.abs(A @ coefficients / y - 1)
    named = zip(terms[0], coefficients, strict=True)
    errors = {"median relative error": np.median(off), "largest": off.max()}
    return [{"term": k, "value": float(v)} for k, v in (*named, *errors.items())]


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    measure(BASE, 3)
    settings, seconds, memory, rows = [], [], [], []
    for name, values in VALUES.items():
        tried = [{**BASE, name: value} for value in values]
        times, sizes = zip(*(measure(own, given.rounds) for own in tried), strict=True)
        settings, seconds, memory = settings + tried, [*seconds, *times], [*memory, *sizes]
        rows.append(
            {
                "varied": name,
                "values": ", ".join(map(str, values)),
                "ms": ", ".join(f"{1e3 * t:.3g}" for t in times),
                "exponent": float(np.polyfit(np.log(values), np.log(times), 1)[0]),
                "MB": ", ".join(f"{m:.3g}" for m in sizes),
                "its exponent": float(np.polyfit(np.log(values), np.log(sizes), 1)[0]),
            }
        )
    time_model = fitted([time_terms(own) for own in settings], seconds)
    memory_model = fitted([memory_terms(own) for own in settings], memory)
    show("the time of a round", time_model)
    show("the memory of a run", memory_model)
    report("one figure varied at a time", rows, given.out, time=time_model, memory=memory_model)
    return 0


if __name__ == "__main__":
    sys.exit(main())
