"""Where SNCP should begin after the start `linkage`: accuracy on small data of everyday kinds.

    python benchmarks/first_rho.py [--rho 1e-4 1e-3 1e-2] [--rounds 1000]

The four tables for classification that scikit-learn brings, and made ones like values of a
laboratory: four classes, twelve features in units that differ by up to a ten thousandfold. Each as
it is and scaled to [0, 1], dealt out at random to six sites. A row has the accuracy of pooled
k-means++ (mean of ten single runs), of the start alone, and at the end of the run.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn import datasets
from sklearn.cluster import KMeans
from sklearn.preprocessing import minmax_scale
from threadpoolctl import threadpool_limits

import fedmf
from fedmf.clustering.metrics import accuracy
from measuring import machine

SITES, SAMPLES, CLASSES, FEATURES = 6, 240, 4, 12


def tables() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield name, samples (N, M) and classes (N,) of each table."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        yield name, *getattr(datasets, f"load_{name}")(return_X_y=True)
    for seed in range(3):
        random = np.random.default_rng(seed)
        classes = random.integers(0, CLASSES, SAMPLES)
        centres = random.lognormal(0, 1, (CLASSES, FEATURES))
        units = 10 ** random.uniform(-1, 3, FEATURES)
        spread = random.lognormal(0, 0.25, (SAMPLES, FEATURES))
        yield f"laboratory {seed}", centres[classes] * units * spread, classes


def row(X: np.ndarray, classes: np.ndarray, rhos: list[float], rounds: int) -> list[float]:
    """Return the accuracies on one table: pooled, at the start, and from each first rho."""
    K = len(np.unique(classes))
    places = np.array_split(np.random.default_rng(0).permutation(len(X)), SITES)
    sites, truth = [X[own] for own in places], classes[np.concatenate(places)]

    def found(run: fedmf.Run) -> float:
        return accuracy(truth, np.concatenate(run.labels))

    with threadpool_limits(1):
        single = [KMeans(K, n_init=1, random_state=seed).fit(X).labels_ for seed in range(10)]
    problem, algorithm = fedmf.Problem(rank=K), fedmf.FedMGS()
    held = fedmf.SNCP(start=1.0)  # so large that no label leaves its place in the one round
    start = fedmf.fit(sites, problem, algorithm, init="linkage", penalty=held, rounds=1)
    ends = [
        fedmf.fit(
            sites, problem, algorithm, init="linkage", penalty=fedmf.SNCP(start=rho), rounds=rounds
        )
        for rho in rhos
    ]
    return [float(np.mean([accuracy(classes, own) for own in single])), *map(found, [start, *ends])]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rho", nargs="+", type=float, default=[1e-4, 1e-3, 1e-2])
    parser.add_argument("--rounds", type=int, default=1000)
    given = parser.parse_args()
    heads = ("data", "pooled k-means++", "start", *(f"from {rho:g}" for rho in given.rho))
    shown, every = Table(*heads), []
    for name, X, classes in tables():
        for kind, data in (("", X), (", scaled", minmax_scale(X))):
            every.append(row(data, classes, given.rho, given.rounds))
            shown.add_row(name + kind, *(f"{100 * one:.1f}" for one in every[-1]))
    shown.add_row("mean", *(f"{100 * one:.1f}" for one in np.mean(every, axis=0)))
    Console().print(shown)
    for what, value in machine().items():
        print(f"{what}: {value}")


if __name__ == "__main__":
    main()
