"""What torch would bring: the parts of a FedMGS round on torch tensors, over numpy and over here.

    python benchmarks/backends.py [--device cpu] [--rounds 20] [--samples 10000] [--out FILE.json]

The same lines of mathematics run on numpy's arrays and on torch's tensors (`@`, `clip`, slices are
all they need), all data pooled; the largest difference of W after the rounds is told. Where fedmf
is installed, a round of it is timed too. M=2000, K=20, Q1=10, Q2=100. torch is not a dependency.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

M, K, Q1, Q2 = 2000, 20, 10, 100


def one_round(X: Any, W: Any, H: Any, largest: Callable[[Any], float]) -> tuple[Any, Any]:
    """Return W (M, K) and H (N, K) after a round on samples X (N, M); any kind of array."""
    N = X.shape[0]
    A, B = 2 / N * (W.T @ W), 2 / N * (X @ W)
    c = 1.02 / 2 * largest(A)
    for _ in range(Q1):
        H = (H - (H @ A - B) / c).clip(0, None)
    G1, G2 = 2 / N * (H.T @ H), 2 / N * (X.T @ H)
    d = 1.002 / 2 * largest(G1)
    for _ in range(Q2):
        W = (W - (W @ G1 - G2) / d).clip(0, None)
    return W, H


def timed(work: Callable[[], Any], count: int) -> tuple[float, Any]:
    """Return the median milliseconds of a round, and the last result."""
    seconds, found = [], None
    for _ in range(count):
        start = time.perf_counter()
        found = work()
        seconds.append(time.perf_counter() - start)
    return 1e3 * statistics.median(seconds[2:]), found


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    import torch

    rows = []
    for name in ("float64", "float32"):
        random = np.random.default_rng(0)
        arrays = [random.random(s) for s in ((given.samples, M), (M, K), (given.samples, K))]
        X, W, H = (own.astype(name) for own in arrays)
        state = [W, H]

        def with_numpy(X: Any = X, state: Any = state) -> Any:
            state[:] = one_round(X, *state, lambda A: float(np.linalg.eigvalsh(A)[-1]))
            return state[0]

        numpy_ms, wanted = timed(with_numpy, given.rounds)
        there = [torch.from_numpy(own).to(given.device) for own in (X, W, H)]

        def with_torch(there: Any = there) -> Any:
            there[1:] = one_round(*there, lambda A: float(torch.linalg.eigvalsh(A)[-1]))
            return there[1].cpu().numpy()  # as a message leaves, every round

        torch_ms, got = timed(with_torch, given.rounds)
        row = {
            "type": name,
            "numpy, ms": numpy_ms,
            f"torch {given.device}, ms": torch_ms,
            "largest difference of W": float(abs(got - wanted).max()),
        }
        if find_spec("fedmf") is not None:
            row["fedmf, 100 sites, ms"] = here(X, given.rounds)
        rows.append(row)
    show(rows, given)
    return 0


def here(X: np.ndarray, count: int) -> float:
    """Return the median milliseconds of a round of this package."""
    import fedmf

    sites, problem = np.array_split(X, 100), fedmf.Problem(K, bounds="nonnegative")
    run = fedmf.fit(sites, problem, fedmf.FedMGS(q1=Q1, q2=Q2), rounds=count, tol=0, seed=0)
    return float(1e3 * run.history.seconds[2:].median())


def show(rows: list[dict[str, Any]], given: Any) -> None:
    """Print the rows; as a table where this package's dependencies are."""
    if find_spec("rich") is None or find_spec("fedmf") is None:
        for row in rows:
            print(row)
        return
    from measuring import report

    report(f"a round of {given.samples} samples", rows, given.out)


if __name__ == "__main__":
    sys.exit(main())
