"""Compare the starts: accuracy at the start and along FedMGS under SNCP, and pooled k-means++.

    python benchmarks/starts.py --data-dir DIR [--data tcga-mirna,mnist] [--participants 0,10] \
        [--rounds 300] [--seeds 3] [--out FILE.json]

Each line is one data set and way of dealing it out to 100 sites (iid; similar: by k-means, for
MNIST two digits a site): the accuracy in per cent of pooled k-means++ (mean of 5), then, for each
start and number of participants (0: all), the accuracy after so many rounds, mean over the seeds.
"linkage 1e-5" is the default start with SNCP begun at rho = 1e-5. Single precision, one thread.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans as Pooled

import fedmf
from fedmf.clustering import SNCP
from fedmf.clustering.metrics import accuracy
from fedmf.datasets import load
from fedmf.engine import begin, rounds, set_up
from fedmf.parallel import threads
from fedmf.partitions import partition
from fedmf.private import gather
from fedmf.runtimes.local import LocalRuntime
from fedmf.starts import begin_at, find

DATA: dict[str, tuple[str, dict[str, Any], int, str]] = {
    "tcga-mirna": ("tcga-mirna", {}, 20, "kmeans"),
    "synthetic": ("synthetic", {"preset": "paper"}, 20, "kmeans"),
    "tdt2": ("tdt2", {}, 30, "kmeans"),
    "tdt2-tfidf": ("tdt2", {"weighting": "tfidf"}, 30, "kmeans"),
    "mnist": ("mnist", {}, 10, "digits-two"),
}
WAYS = {  # a start, and where SNCP begins
    "random 1e-8": ("random", 1e-8),
    "kmeans 1e-4": ("kmeans", 1e-4),
    "linkage 1e-8": ("linkage", 1e-8),
    "linkage 1e-6": ("linkage", 1e-6),
    "linkage 1e-5": ("linkage", 1e-5),
    "linkage 1e-4": ("linkage", 1e-4),
}
SITES, MARKS = 100, (0, 10, 50, 100, 200, 300, 500, 1000)


def curve(sites: Any, classes: Any, rank: int, way: str, options: Any, seed: int) -> dict[int, Any]:
    """Return the accuracy in per cent after some numbers of rounds."""
    start, rho = WAYS[way]
    algorithm = fedmf.FedMGS(participants=options.m or None)
    runtime = LocalRuntime(sites)
    known, federation = set_up(runtime)
    goal = fedmf.Problem(rank, rho=rho).goal(known)
    W = begin_at(find(start), goal, federation, sites[0].dtype, seed)
    loop = rounds(
        algorithm,
        goal,
        federation,
        begin(algorithm, goal, federation, seed, W, sites[0].dtype),
        seed,
    )
    position, found, rows = next(loop), {}, []
    grow = SNCP(start=rho).for_algorithm(algorithm)
    for number in range(options.rounds + 1):
        if number in MARKS:
            labels = gather(runtime.privates()).H.argmax(axis=0)
            found[number] = 100 * accuracy(classes, labels)
        if number < options.rounds:
            position = loop.send(grow(rows) if rows else None)
            rows.append({"rho": position.rho, "change": position.change})
    return found


def lines(name: str, options: Any) -> Iterator[dict[str, Any]]:
    source, settings, rank, similar = DATA[name]
    table = load(source, data_dir=options.data_dir, **settings)
    X, labels = table.X.astype(np.float32), np.asarray(table.labels)
    if not isinstance(X, np.ndarray):
        X = X.tocsr()
    models = (Pooled(rank, n_init=1, random_state=seed) for seed in range(5))
    pooled = np.mean([100 * accuracy(labels, model.fit_predict(X)) for model in models])
    for case, way in ("iid", "iid"), ("similar", similar):
        dealt = partition(way, X, labels, SITES, seed=0)
        sites, classes = [X[own] for own in dealt], np.concatenate([labels[own] for own in dealt])
        for m in options.participants:
            options.m = m
            for start in options.ways:
                runs = [
                    curve(sites, classes, rank, start, options, s) for s in range(options.seeds)
                ]
                means = {mark: round(np.mean([run[mark] for run in runs]), 1) for mark in runs[0]}
                line = {"data": name, "case": case, "m": m or SITES, "start": start}
                yield line | {"pooled": round(float(pooled), 1), "accuracy": means}


def main() -> int:
    """Print and keep the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data-dir", type=Path, required=True)
    parser.add_argument("--data", type=lambda text: text.split(","), default=list(DATA))
    parser.add_argument("--ways", type=lambda text: text.split(","), default=list(WAYS))
    parser.add_argument(
        "--participants", type=lambda text: list(map(int, text.split(","))), default=[0, 10]
    )
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = []
    with threads(1):
        for name in options.data:
            for line in lines(name, options):
                found.append(line)
                marks = "  ".join(
                    f"{mark}: {value:.1f}" for mark, value in line["accuracy"].items()
                )
                head = f"{line['data']:11}{line['case']:8}m={line['m']:<4}{line['start']:13}"
                print(f"{head} k-means++ {line['pooled']:.1f}  {marks}", flush=True)
    if options.out:
        packages = {name: version(name) for name in ("fedmf", "numpy", "scipy", "scikit-learn")}
        about = {"python": platform.python_version(), "machine": platform.machine(), **packages}
        settings = {"rounds": options.rounds, "seeds": options.seeds}
        options.out.write_text(json.dumps({**about, **settings, "lines": found}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
