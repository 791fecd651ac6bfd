"""What a device brings: rounds with the sites' samples and H on it, over rounds with numpy.

    python benchmarks/devices.py [--device cuda] [--rounds 20] [--only NAME ...] [--out FILE.json]

Both runs are `fedmf.fit` from the same start; the largest difference of W after the rounds is told,
in units of W's largest entry. K=20, Q1=10, all sites, random samples; a round is their median, the
first two left out.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

import fedmf
from measuring import report

# (N, M, P, type)
SHAPES = {
    "small": (10_000, 2_000, 1, "float64"),
    "100 sites": (10_000, 2_000, 100, "float64"),
    "large": (1_000_000, 784, 1, "float32"),
    "ten large": (1_000_000, 784, 10, "float32"),
}
K = 20


def run_on(device: str | None, sites: list[np.ndarray], rounds: int, algorithm: Any) -> Any:
    """Return the run and the median milliseconds of a round."""
    problem = fedmf.Problem(K, bounds="nonnegative")
    run = fedmf.fit(sites, problem, algorithm, rounds=rounds, tol=0, device=device)
    return run, float(1e3 * run.history["seconds"][2:].median())


def measured(name: str, given: argparse.Namespace) -> list[dict[str, Any]]:
    """Return a row for each algorithm."""
    N, M, P, kind = SHAPES[name]
    sites = np.array_split(np.random.default_rng(0).random((N, M), dtype=kind), P)
    rows = []
    for algorithm in (fedmf.FedMGS(), fedmf.FedMAvg()):
        here, here_ms = run_on(None, sites, given.rounds, algorithm)
        there, there_ms = run_on(given.device, sites, given.rounds, algorithm)
        rows.append(
            {
                "what": f"{algorithm.name}, {N:,} x {M}, P = {P}, {kind}",
                "numpy, ms": here_ms,
                f"{given.device}, ms": there_ms,
                "ratio": there_ms / here_ms,
                "difference of W": float(abs(here.W - there.W).max() / abs(here.W).max()),
            }
        )
    return rows


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    rows = [row for name in given.only for row in measured(name, given)]
    report("a round on a device", rows, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
