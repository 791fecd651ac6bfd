"""Programs for NMF on a CPU, to the same objective from the same start, in one run.

    python benchmarks/peers.py [--samples 10000] [--iterations 200] [--only NAME ...]
                               [--limit 180] [--out FILE.json]

The objective to reach is what scikit-learn's NMF (cd) ends at after so many iterations:
||X - W H||_F^2 / N with W, H >= 0 and no penalties. Everybody may use all cores and starts from the
same W0, H0 where the program takes one. Some programs have no callback: they are run again and
again from the start, with twice the iterations, until they are there or the limit in seconds is
passed; the seconds are those of the first run that is there. Each program runs in a process of its
own, whose peak of memory beyond the data is told too. Programs that are not installed are named.

The others: scikit-learn's mu and MiniBatchNMF, nimfa, torchnmf, and FedMGS written naively.
"""

from __future__ import annotations

import argparse
import multiprocessing as mp
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from measuring import anonymous_mb, peak_of, report

K = 20
# After so many iterations (or rounds, or epochs): W (M, K) and H (K, N).
Program = Callable[[np.ndarray, np.ndarray, np.ndarray, int], tuple[np.ndarray, np.ndarray]]


def objective(X: np.ndarray, W: np.ndarray, H: np.ndarray) -> float:
    """Return ||X' - W H||^2 / N of samples X (N, M)."""
    cross, gram = np.sum((X @ W) * H.T), np.sum((W.T @ W) * (H @ H.T))
    return float((np.sum(X * X) - 2 * cross + gram) / len(X))


def start(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return W0 (M, K) and H0 (K, N): uniform, as large as the data ask for."""
    random = np.random.default_rng(0)
    scale = np.sqrt(np.abs(X).mean() / K)
    return random.random((X.shape[1], K)) * scale, random.random((K, len(X))) * scale


def sklearn_with(solver: str) -> Program:
    """Return scikit-learn's NMF with a solver."""

    def program(X: np.ndarray, W: np.ndarray, H: np.ndarray, count: int) -> Any:
        from sklearn.decomposition import non_negative_factorization

        left, right, _ = non_negative_factorization(
            X, W=H.T.copy(), H=W.T.copy(), n_components=K, init="custom", solver=solver,
            max_iter=count, tol=0,
        )  # fmt: skip
        return right.T, left.T

    return program


def minibatch(X: np.ndarray, W: np.ndarray, H: np.ndarray, count: int) -> Any:
    """Run scikit-learn's MiniBatchNMF for so many passes over the data."""
    from sklearn.decomposition import MiniBatchNMF

    model = MiniBatchNMF(
        K, init="custom", max_iter=count, tol=0, max_no_improvement=None, random_state=0
    )
    left = model.fit_transform(X, W=H.T.copy(), H=W.T.copy())
    return model.components_.T, left.T


def nimfa(X: np.ndarray, W: np.ndarray, H: np.ndarray, count: int) -> Any:
    """Run nimfa's Lsnmf."""
    import nimfa as package

    found = package.Lsnmf(X.T, seed=None, W=W.copy(), H=H.copy(), rank=K, max_iter=count)()
    return np.asarray(found.basis()), np.asarray(found.coef())


def torchnmf(X: np.ndarray, W: np.ndarray, H: np.ndarray, count: int) -> Any:
    """Run torchnmf's multiplicative updates in double precision."""
    import torch
    from torchnmf.nmf import NMF

    data = torch.from_numpy(X)
    model = NMF(W=torch.from_numpy(W.copy()), H=torch.from_numpy(H.T.copy()))
    model.fit(data, beta=2, tol=0, max_iter=count)
    return model.W.detach().numpy(), model.H.detach().numpy().T


def naive_fedmgs(X: np.ndarray, W: np.ndarray, H: np.ndarray, count: int) -> Any:
    """Run FedMGS as one would first write it."""
    import naive

    sites = np.array_split(X, 100)
    parts = np.split(H, np.cumsum([len(own) for own in sites])[:-1], axis=1)
    loop = naive.rounds(sites, W, parts)
    for _ in range(count):
        W, parts, _ = next(loop)
    return W, np.hstack(parts)


def fedmgs(X: np.ndarray, W: np.ndarray, H: np.ndarray, count: int) -> Any:
    """Run FedMGS of this package over 100 sites."""
    import fedmf

    sites = np.array_split(X, 100)
    parts = np.split(H, np.cumsum([len(own) for own in sites])[:-1], axis=1)
    problem = fedmf.Problem(K, rho=0, nu=0, bounds="nonnegative")
    run = fedmf.fit(sites, problem, fedmf.FedMGS(), rounds=count, tol=0, init=(W, parts))
    return run.W, np.hstack(run.H)


# Name, the package that it needs, what runs it, and the iterations to try first.
PROGRAMS: dict[str, tuple[str, Program, int]] = {
    "fedmf, FedMGS, 100 sites": ("fedmf", fedmgs, 50),
    "FedMGS in plain numpy": ("numpy", naive_fedmgs, 50),
    "scikit-learn, mu": ("sklearn", sklearn_with("mu"), 200),
    "scikit-learn, MiniBatchNMF": ("sklearn", minibatch, 10),
    "nimfa, Lsnmf": ("nimfa", nimfa, 10),
    "torchnmf": ("torchnmf", torchnmf, 200),
}


def trial(X: np.ndarray, name: str, wanted: float, limit: float, pipe: Any) -> None:
    """Run a program until it is there; send how it went."""
    _, program, count = PROGRAMS[name]
    W, H = start(X)
    try:
        program(X[:200], W, H[:, :200], 2)  # imports, and whatever else is done once
    except Exception as error:  # noqa: BLE001 - somebody else's program: told in the table
        pipe.send({"failed": type(error).__name__})
        return
    before, begun = anonymous_mb(), time.perf_counter()
    while True:
        (found, seconds, peak) = peak_of(lambda n=count: program(X, W, H, n))
        reached = objective(X, *found)
        there, late = reached <= wanted * (1 + 1e-9), time.perf_counter() - begun > limit
        if there or late:
            pipe.send({"there": there, "iterations": count, "seconds": seconds,
                       "objective": reached, "MB": peak - before})  # fmt: skip
            return
        count = -(-count * 5 // 4) if reached < 1.01 * wanted else count * 2


def apart(X: np.ndarray, name: str, wanted: float, limit: float) -> dict[str, Any]:
    """Run a program's trial in a process of its own."""
    ours, theirs = mp.Pipe()
    process = mp.get_context("fork").Process(target=trial, args=(X, name, wanted, limit, theirs))
    process.start()
    theirs.close()
    found: dict[str, Any] = ours.recv()
    process.join()
    return found


def row(name: str, found: dict[str, Any] | None, reference: float) -> dict[str, Any]:
    """Return a line of the table."""
    if found is None or "failed" in found:
        said = "not installed" if found is None else f"fails: {found['failed']}"
        return {"program": name, "reached": said} | dict.fromkeys(
            ("seconds", "over cd", "iterations", "objective", "MB"), "-"
        )
    return {
        "program": name,
        "reached": "yes" if found["there"] else "no",
        "seconds": found["seconds"],
        "over cd": found["seconds"] / reference,
        "iterations": found["iterations"],
        "objective": found["objective"],
        "MB": round(found["MB"]),
    }


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--iterations", type=int, default=200)
    parser.add_argument("--only", nargs="+", choices=list(PROGRAMS))
    parser.add_argument("--limit", type=float, default=180.0)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    from speed import synthetic

    X = synthetic()[: given.samples]
    PROGRAMS["scikit-learn, cd"] = ("sklearn", sklearn_with("cd"), given.iterations)
    reference = apart(X, "scikit-learn, cd", np.inf, given.limit)
    rows = [row("scikit-learn, cd", reference, reference["seconds"])]
    for name in given.only or [name for name in PROGRAMS if name != "scikit-learn, cd"]:
        installed = find_spec(PROGRAMS[name][0]) is not None
        found = apart(X, name, reference["objective"], given.limit) if installed else None
        rows.append(row(name, found, reference["seconds"]))
    report("to the objective of scikit-learn's NMF", rows, given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
