"""What a round costs over real processes: time over the run in this process, and bytes sent.

python benchmarks/federation.py                    3 sites with 1 MB arrays
python benchmarks/federation.py --sites 30         30 site processes

Every figure is a difference of two runs, a long one and a short one, so that beginning and end of
a run are in none of them. Seconds are wall time from the command to the result, checkpoints and
the sites' states on the disk included. Bytes on the wire are counted by a proxy between sites and
server: whatever goes through their sockets, TLS included. What a site reads of its files is
counted by the kernel (rchar in /proc/PID/io): its data, if it loaded them again.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import fedmf
from fedmf.runtimes import local
from measuring import report, show
from network import real
from proxy import Proxy

WIRE = (
    "algorithm",
    "up",
    "by ledger",
    "down",
    "ledger",
    "over %",
    "bytes a request",
)  # what is over, by request
ALGORITHMS = (fedmf.FedMGS(q2=10), fedmf.FedMAvg(q2=5))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sites", type=int, default=3)
    parser.add_argument("--features", type=int, default=6250)
    parser.add_argument("--rank", type=int, default=20)
    parser.add_argument("--samples", type=int, default=100, help="of each site")
    parser.add_argument("--rounds", type=int, default=20, help="by which the two runs differ")
    parser.add_argument("--repeats", type=int, default=3, help="of the timing; the median counts")
    parser.add_argument("--out", type=Path, help="write the figures to this JSON file")
    given = parser.parse_args()
    names = [f"site-{place}" for place in range(given.sites)]
    random = np.random.default_rng(0)
    data = {name: random.random((given.samples, given.features)) for name in names}
    local.COHORT_BYTES = 0  # in this process, too, every site is by itself
    with tempfile.TemporaryDirectory() as folder, real.running(Path(folder), data) as there:
        rows = [timed(algorithm, there, given) for algorithm in ALGORITHMS]
    with tempfile.TemporaryDirectory() as folder:
        counted = through_a_proxy(Path(folder), data, given)
    title = f"{given.sites} sites, W of {given.features * given.rank * 8 / 1e6:.2f} MB, a round"
    show(f"{title}, on the wire (kB)", [{k: row[k] for k in WIRE} for row in counted])
    show("a site's files", [{k: v for k, v in row.items() if k not in WIRE[1:]} for row in counted])
    report(title, rows, given.out)


def timed(algorithm: Any, there: real.Real, given: argparse.Namespace) -> dict[str, Any]:
    """Return the seconds of a round in this process and over the network."""
    problem, sites = fedmf.Problem(given.rank), list(there.data.values())
    client = there.client

    def here(rounds: int) -> None:
        fedmf.fit(sites, problem, algorithm, rounds, 0.0)

    def away(rounds: int) -> None:
        client.fit(problem, algorithm, rounds=rounds, tol=0.0)

    pairs = [[a_round(play, given.rounds) for play in (here, away)] for _ in range(given.repeats)]
    inside, outside = np.median(pairs, axis=0)
    return {"algorithm": algorithm.name, "in process s": float(inside),
            "network s": float(outside), "overhead s": float(outside - inside)}  # fmt: skip


def a_round(play: Callable[[int], None], rounds: int) -> float:
    """Return the seconds of a round: by how much a long run takes longer than a short one."""
    times = []
    for count in (2, 2 + rounds):
        start = time.perf_counter()
        play(count)
        times.append(time.perf_counter() - start)
    return (times[1] - times[0]) / rounds


def through_a_proxy(
    folder: Path, data: dict[str, np.ndarray], given: argparse.Namespace
) -> list[dict[str, Any]]:
    """Return for each algorithm the bytes of a round on the wire and in the ledger."""
    inner, proxies = real.free_port(), []

    def put_between(there: real.Real) -> None:
        for name in ("server", "coordinator"):
            kit = there.kits / name / "kit.toml"
            kit.write_text(kit.read_text().replace(f"port = {there.plan.port}", f"port = {inner}"))
        proxies.append(Proxy(there.plan.port, inner))

    with real.running(folder, data, put_between) as there:
        rows = [counted(algorithm, there, proxies[0], given) for algorithm in ALGORITHMS]
    proxies[0].close()
    return rows


def counted(
    algorithm: Any, there: real.Real, proxy: Proxy, given: argparse.Namespace
) -> dict[str, Any]:
    client, figures = there.client, []
    before = read_by(there)
    for rounds in (2, 2 + given.rounds):
        up, down = proxy.up, proxy.down
        run = client.fit(fedmf.Problem(given.rank), algorithm, rounds=rounds, tol=0.0)
        quiet(proxy)
        sent = run.communication.iloc[-1]
        asked = sum(len(entry.sites) for entry in run.ledger.entries)
        figures.append([proxy.up - up, sent["uplink_bytes"], proxy.down - down,
                        sent["downlink_bytes"], asked])  # fmt: skip
    up, up_ledger, down, down_ledger, asked = np.subtract(figures[1], figures[0]) / given.rounds
    size = next((there.folder).glob("site-0.npy")).stat().st_size
    overhead = up + down - up_ledger - down_ledger
    return {
        "algorithm": algorithm.name, "up": up / 1e3, "by ledger": up_ledger / 1e3,
        "down": down / 1e3, "ledger": down_ledger / 1e3,
        "over %": 100 * overhead / (up_ledger + down_ledger), "bytes a request": overhead / asked,
        "data, MB": size / 1e6, "read in two jobs, MB": (read_by(there) - before) / 1e6,
    }  # fmt: skip


def quiet(proxy: Proxy) -> None:
    """Wait until nothing passes any more: the sites are told of the end."""
    last = -1
    while last != (last := proxy.up + proxy.down):
        time.sleep(0.5)


def read_by(there: real.Real) -> int:
    """Return how many bytes site 0 has read of files so far."""
    lines = Path(f"/proc/{there.pid('site-0')}/io").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("rchar")).split()[1])


if __name__ == "__main__":
    main()
