"""FedMGS as one would first write it: numpy, a loop over the sites, no blocks and no threads.

What the benchmarks compare with, and an independent reading of Algorithm 2. `Clock` adds up the
seconds of each part of a round.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np


class Clock:
    """Seconds by name."""

    def __init__(self) -> None:
        self.seconds: defaultdict[str, float] = defaultdict(float)

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the block's time under a name."""
        start = time.perf_counter()
        yield
        self.seconds[name] += time.perf_counter() - start


def rounds(
    sites: list[np.ndarray], W: np.ndarray, H: list[np.ndarray], q1: int = 10, q2: int = 100
) -> Iterator[tuple[np.ndarray, list[np.ndarray], dict[str, float]]]:
    """Yield W, the H_p and the seconds of each part after every round.

    W >= 0, H >= 0, no penalties; F is computed, as part of a round, and not used.

    `sites` are (n_p, M), W is (M, K), H holds each site's (K, n_p).
    """
    N = sum(len(X) for X in sites)
    squared = sum(float(np.sum(X * X)) for X in sites)
    H = list(H)
    sent: list[Any] = [None] * len(sites)
    while True:
        clock = Clock()
        A = 2 / N * W.T @ W
        c = 1.02 / 2 * np.linalg.eigvalsh(A)[-1]
        G1, G2 = np.zeros(A.shape), np.zeros(W.shape)
        for p, X in enumerate(sites):
            with clock.part("W'X"):
                B = 2 / N * W.T @ X.T
            with clock.part("steps on H"):
                for _ in range(q1):
                    H[p] = np.maximum(H[p] - (A @ H[p] - B) / c, 0)
            with clock.part("X H'"):
                V = X.T @ H[p].T
            with clock.part("sums"):
                sent[p] = H[p] @ H[p].T, V
                G1 += 2 / N * sent[p][0]
                G2 += 2 / N * sent[p][1]
        with clock.part("steps on W"):
            d = 1.002 / 2 * np.linalg.eigvalsh(G1)[-1]
            for _ in range(q2):
                W = np.maximum(W - (W @ G1 - G2) / d, 0)
        with clock.part("objective"):
            F = squared / N + np.sum((W.T @ W) * G1) / 2 - np.sum(W * G2)
        assert np.isfinite(F)
        yield W, H, dict(clock.seconds)
