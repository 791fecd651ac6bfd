"""Write the tables of docs/results/clusters.md from the results that are kept.

    python benchmarks/evidence.py [--store docs/results/trials] [--page docs/results/clusters.md]

What stands in the page between `<!-- NAME -->` and `<!-- end -->` is made anew from the plans in
experiments/ and the paper's Table I; all else is left as it is. With --check nothing is
written, and the status says whether the page is up to date.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from fedmf.paper.exhibit import read
from fedmf.tables import Mean
from fedmf.trials import Result, Store, Trial, read_plan
from fedmf.trials.methods import title

ROOT = Path(__file__).parents[1]
TITLES = {
    "synthetic:preset=paper": "synthetic, preset `paper`",
    "synthetic": "synthetic, clean",
    "tdt2": "TDT2, counts",
    "tdt2:weighting=tfidf": "TDT2, TF-IDF",
    "mnist": "MNIST",
    "tcga-mirna": "TCGA miRNA",
}
CASES = {"iid": "1", "kmeans": "2", "digits-two": "2"}
RIVALS = ("km-parallel", "bel", "cal", "k-fed")
OVER_RIVALS, UNDER_PAPER = 3.0, 2.0  # points
PAPER = ("synthetic", "TDT2", "MNIST")
SLOWER = ("synthetic", "FedMGS (m = 10)", "threshold 5e-6")  # and where it is tried with another
Where = tuple[str, str]  # data and partition
Lines = list[list[str]]


class Kept:
    """The results of the plans, by data, partition and method."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._defaults = self._read("defaults")
        self._before = self._read("kmeans-start")
        self._rivals = self._read("rivals") + self._read("rivals-cal")
        self._pooled = self._read("pooled")
        self.slower = self._read("paper-m10")
        self.places: list[Where] = list(dict.fromkeys(_where(t) for t in self._defaults))

    def _read(self, plan: str) -> list[Trial]:
        return read_plan(str(ROOT / "experiments" / f"{plan}.toml")).trials

    def own(self, where: Where, m: int, *, before: bool = False) -> list[Result]:
        """Return what FedMGS with m of 100 sites found."""
        drawn = None if m == 100 else m
        trials = self._before if before else self._defaults
        return self.there(
            t for t in trials if _where(t) == where and t.method.get("participants") == drawn
        )

    def rival(self, where: Where, name: str) -> list[Result]:
        """Return what a rival found."""
        return self.there(
            t for t in self._rivals if _where(t) == where and t.method["name"] == name
        )

    def pooled(self, where: Where) -> list[Result]:
        """Return what k-means++ found on the pooled samples."""
        return self.there(t for t in self._pooled if t.data == where[0])

    def there(self, trials: Iterable[Trial]) -> list[Result]:
        """Return the results that are there."""
        found = [self._store.get(trial) for trial in trials]
        return [one for one in found if one is not None]


def _where(trial: Trial) -> Where:
    return trial.data, str(trial.partition)


def mean(results: list[Result], score: str = "accuracy") -> Mean:
    return Mean.of((result.scores[score] for result in results), 100)


def shown(value: Mean, *, count: bool = False) -> str:
    spread = "" if value.size < 2 else f" ± {value.spread:.1f}"
    return f"{value.mean:.1f}{spread}" + (f" ({value.size})" if count else "")


def heads(where: Where) -> list[str]:
    return [TITLES[where[0]], CASES[where[1]]]


def defaults(kept: Kept) -> Lines:
    """The product's defaults against the best rival and the mean of pooled k-means++."""
    lines = [["data", "case", "m", "FedMGS (runs)", "best rival (runs)", "margin",
              "pooled k-means++ (runs)", "margin", "met"]]  # fmt: skip
    for where in kept.places:
        pooled = mean(kept.pooled(where))
        rivals = {name: mean(kept.rival(where, name)) for name in RIVALS}
        name, best = max(rivals.items(), key=lambda pair: pair[1].mean)
        for m in (10, 100):
            if not (results := kept.own(where, m)):
                lines.append([*heads(where), str(m), *["not run"] * 6])
                continue
            own = mean(results)
            over, above = own.mean - best.mean, own.mean - pooled.mean
            met = [("the rival", over >= OVER_RIVALS), ("pooled k-means++", above >= 0)]
            missed = " and ".join(what for what, well in met if not well)
            lines.append([
                *heads(where), str(m), shown(own, count=True),
                f"{title({'name': name})} {shown(best, count=True)}", f"{over:+.1f}",
                shown(pooled, count=True), f"{above:+.1f}", f"no: {missed}" if missed else "yes",
            ])  # fmt: skip
    return lines


def rivals(score: str) -> Callable[[Kept], Lines]:
    """All methods, by one score."""

    def made(kept: Kept) -> Lines:
        named = [title({"name": name}) for name in RIVALS]
        lines = [["data", "case", "FedMGS, m = 10", "FedMGS, m = 100", *named, "pooled k-means++"]]
        for where in kept.places:
            found = [
                *(kept.own(where, m) for m in (10, 100)),
                *(kept.rival(where, name) for name in RIVALS),
                kept.pooled(where),
            ]
            cells = [shown(mean(results, score)) if results else "not run" for results in found]
            lines.append([*heads(where), *cells])
        return lines

    return made


def course(kept: Kept) -> Lines:
    """What the algorithm makes of the start."""
    lines = [["data", "case", "m", "at the start", "lowest on the way", "highest", "at the end",
              "rounds", "from the start `kmeans`"]]  # fmt: skip
    for where in kept.places:
        for m in (10, 100):
            if not (results := kept.own(where, m)):
                continue
            curves = [[100 * value for value in r.curve["accuracy"]] for r in results]
            ways: list[Callable[[list[float]], float]] = [lambda c: c[0], min, max, lambda c: c[-1]]
            values = [f"{Mean.of(map(way, curves)).mean:.1f}" for way in ways]
            rounds = Mean.of(r.rounds for r in results).mean
            before = kept.own(where, m, before=True)
            lines.append([*heads(where), str(m), *values, f"{rounds:.0f}",
                          shown(mean(before)) if before else "not run"])  # fmt: skip
    return lines


def paper(kept: Kept) -> Lines:
    """The paper's settings against its Table I."""
    lines = [["data", "method", "accuracy", "runs", "paper", "difference", "met"]]
    for panel in (one for one in read("table1").panels if one.name in PAPER):
        for series in panel.series:
            name = series.trials[0].method["name"]
            if series.paper is None or name not in ("fedmgs", "fedmavg"):
                continue
            lines.append([panel.name, series.label, *_against(kept, series.trials, series.paper)])
            if (panel.name, series.label) == SLOWER[:2]:
                more = _against(kept, kept.slower, series.paper)
                lines.append([panel.name, f"{series.label}, {SLOWER[2]}", *more])
    return lines


def _against(kept: Kept, trials: Sequence[Trial], paper: float) -> list[str]:
    """Return the cells of trials against a figure of the paper."""
    results = kept.there(trials)
    runs = f"{len(results)} of {len(trials)}"
    if not results:
        return ["-", runs, f"{paper:.1f}", "-", "not run"]
    own = mean(results)
    more = own.mean - paper
    met = "yes" if more >= -UNDER_PAPER else "no"
    whole = len(results) == len(trials)
    return [shown(own), runs, f"{paper:.1f}", f"{more:+.1f}", met if whole else f"so far: {met}"]


TABLES: dict[str, Callable[[Kept], Lines]] = {
    "defaults": defaults,
    "accuracy": rivals("accuracy"),
    "nmi": rivals("nmi"),
    "course": course,
    "paper": paper,
}


def markdown(lines: Lines) -> str:
    ruled = [lines[0], ["---"] * len(lines[0]), *lines[1:]]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in ruled)


def renewed(text: str, tables: dict[str, Any]) -> str:
    """Return a page with its tables made anew."""

    def block(match: re.Match[str]) -> str:
        return f"<!-- {match[1]} -->\n{tables[match[1]]}<!-- end -->"

    return re.sub(r"<!-- (\w+) -->\n.*?<!-- end -->", block, text, flags=re.DOTALL)


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or say whether it is up to date."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--store", type=Path, default=ROOT / "docs" / "results" / "trials")
    parser.add_argument("--page", type=Path, default=ROOT / "docs" / "results" / "clusters.md")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    kept = Kept(Store(options.store))
    text = options.page.read_text(encoding="utf-8")
    new = renewed(text, {name: markdown(table(kept)) for name, table in TABLES.items()})
    if options.check:
        return int(new != text)
    options.page.write_text(new, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
