"""What a round costs over real processes: time over the run in this process, and bytes sent.

python benchmarks/federation.py                    3 sites with 1 MB arrays
python benchmarks/federation.py --sites 30 --features 400
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import fedmf
from network import real


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sites", type=int, default=3)
    parser.add_argument("--features", type=int, default=6250)
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--samples", type=int, default=100, help="of each site")
    parser.add_argument("--rounds", type=int, default=30)
    given = parser.parse_args()
    names = [f"site-{place}" for place in range(given.sites)]
    random = np.random.default_rng(0)
    data = {name: random.random((given.samples, given.features)) for name in names}
    print(f"{given.sites} sites, W of {given.features * given.rank * 8 / 1e6:.2f} MB")
    print(f"{'':8} {'in process':>11} {'network':>11} {'overhead':>11}   ms a round, median")
    with tempfile.TemporaryDirectory() as folder, real.running(Path(folder), data) as federation:
        for algorithm in (fedmf.FedMGS(q2=10), fedmf.FedMAvg(q2=5)):
            compare(algorithm, federation, given)


def compare(
    algorithm: fedmf.FedMGS | fedmf.FedMAvg, federation: real.Real, given: argparse.Namespace
) -> None:
    problem = fedmf.Problem(given.rank)
    there = fedmf.fit(list(federation.data.values()), problem, algorithm, given.rounds, 0)
    run = federation.client.fit(problem, algorithm, rounds=given.rounds, tol=0.0)
    here, away = (1000 * one.history["seconds"].iloc[1:].median() for one in (there, run))
    print(f"{algorithm.name:8} {here:11.1f} {away:11.1f} {away - here:11.1f}")


if __name__ == "__main__":
    main()
