"""Partition and describe a memory-mapped matrix larger than the memory that it may take.

    python benchmarks/large_partition.py FOLDER [--gigabytes 5] [--sites 100] [--out FILE.json]

The matrix is written to FOLDER block by block and deleted afterwards. For each step the table gives
the wall time and the peak of anonymous memory (RssAnon: what the process itself holds, without the
pages of the file), sampled every 5 ms; the exit status is 1 if a peak is over 500 MB.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from fedmf.partitions import describe, partition
from measuring import peak_of, report

FEATURES = 1000
CLASSES = 20
ALLOWED_MB = 500


def measure(step: str, work: Callable[[], Any]) -> tuple[Any, dict[str, Any]]:
    """Return what `work` gives, and its time and peak of anonymous memory."""
    found, seconds, peak = peak_of(work)
    return found, {"step": step, "seconds": round(seconds, 2), "peak_anonymous_mb": round(peak, 1)}


def write_matrix(path: Path, rows: int) -> np.ndarray:
    """Write noisy copies of 20 rows, float32, a block at a time; return the class of each row."""
    random = np.random.default_rng(0)
    centres = random.random((CLASSES, FEATURES), dtype=np.float32)
    noise = random.random((4096, FEATURES), dtype=np.float32)
    labels = random.integers(0, CLASSES, rows)
    X = np.lib.format.open_memmap(path, "w+", np.float32, (rows, FEATURES))
    for start in range(0, rows, len(noise)):
        part = labels[start : start + len(noise)]
        X[start : start + len(part)] = centres[part] + np.roll(noise, start % 997, 1)[: len(part)]
    X.flush()
    return labels


def run(path: Path, labels: np.ndarray, n_sites: int) -> list[dict[str, Any]]:
    """Measure every step on the matrix in `path`."""
    X = np.load(path, mmap_mode="r")
    rows = [measure("nothing", lambda: None)[1]]
    for name in ("iid", "nearest", "kmeans"):
        deal = lambda name=name: partition(name, X, n_sites=n_sites, seed=0)  # noqa: E731
        sites, row = measure(f"partition {name}", deal)
        rows.append(row)
        tell = lambda sites=sites: describe(X, sites, labels)  # noqa: E731
        rows.append(measure(f"describe {name}", tell)[1])
    return rows


def main() -> int:
    """Run the benchmark; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--gigabytes", type=float, default=5.0)
    parser.add_argument("--sites", type=int, default=100)
    parser.add_argument("--out", type=Path, help="write the figures as JSON")
    given = parser.parse_args()
    n_rows = int(given.gigabytes * 1e9 / (4 * FEATURES))
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        path = Path(folder) / "large.npy"
        labels, written = measure(
            f"write {given.gigabytes:g} GB", lambda: write_matrix(path, n_rows)
        )
        rows = [written, *run(path, labels, given.sites)]
    report(f"{n_rows} x {FEATURES}, {given.sites} sites", rows, given.out)
    peak = max(row["peak_anonymous_mb"] for row in rows)
    print(f"peak {peak:.1f} MB of anonymous memory, {ALLOWED_MB} allowed")
    return int(peak > ALLOWED_MB)


if __name__ == "__main__":
    sys.exit(main())
