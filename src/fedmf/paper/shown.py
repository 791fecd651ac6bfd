"""What is shown of exhibits: their figures, their tables and the verdicts, read from a store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from fedmf.paper import maps
from fedmf.paper.exhibit import Exhibit
from fedmf.paper.figures import figure
from fedmf.paper.sources import SETTINGS, text_of
from fedmf.paper.verdict import (
    FAILS,
    HOLDS,
    MISSING,
    PARTLY,
    STAND_IN,
    Results,
    Verdict,
    gather,
    judge,
)
from fedmf.report import Figure
from fedmf.trials import Result, Store

KINDS = (HOLDS, PARTLY, FAILS, STAND_IN, MISSING)


@dataclass(frozen=True, eq=False)
class Shown:
    """An exhibit with all that results say of it."""

    exhibit: Exhibit
    results: Results
    verdicts: list[Verdict]
    figure: Figure | None
    settings: str  # its file

    @property
    def name(self) -> str:
        """The exhibit's name."""
        return self.exhibit.name

    @property
    def heading(self) -> str:
        """What the paper calls it, and its title."""
        return f"{self.exhibit.paper}: {self.exhibit.title}"

    @property
    def found(self) -> list[Result]:
        """Its results, each once."""
        return once(result for own in self.results.values() for result in own.values())

    @property
    def points(self) -> str:
        """How many starting points its series have, in words."""
        counts = sorted({len(own) for own in self.results.values()})
        if not counts or counts[-1] == 0:
            return "none yet"
        return f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"

    @property
    def missing(self) -> int:
        """How many of its runs are not there."""
        return len(self.exhibit.trials) - len(self.found)

    @property
    def counts(self) -> Counter[str]:
        """How many of its claims hold, hold in part, ..."""
        return Counter(verdict.found for verdict in self.verdicts)

    @property
    def stand_ins(self) -> list[str]:
        """What of its data is not the paper's, in words."""
        places = {one.place for one in self.exhibit.series.values() if one.place.stands_for}
        return sorted({f"{place.name} stands for {place.stands_for}." for place in places})


def show(exhibit: Exhibit, store: Store, folder: Path | None = None) -> Shown:
    """Return an exhibit with what its results in a store say; `folder` is that of its file."""
    results = gather(exhibit, store)
    drawn = None
    if exhibit.kind != "table":
        found = maps.load(exhibit, store) if exhibit.kind == "map" else None
        drawn = figure(exhibit, results, found)
        drawn = drawn if drawn.panels and any(results.values()) else None
    return Shown(exhibit, results, judge(exhibit, results), drawn, text_of(exhibit.name, folder))


def shared_settings(folder: Path | None = None) -> str:
    """Return the file of what exhibits share."""
    return text_of(SETTINGS, folder)


def once(results: Iterable[Result]) -> list[Result]:
    """Return results, each once."""
    return list({result.key: result for result in results}.values())


def machines(results: Sequence[Result]) -> list[tuple[str, int, float]]:
    """Return what computed results, in words, how many of them, and their seconds."""
    told: dict[str, list[float]] = {}
    for one in results:
        processor = one.machine.get("processor", "a processor that is not named")
        words = f"{processor}, {one.machine.get('cores')} cores, {one.machine.get('system')}"
        told.setdefault(words, []).append(one.seconds)
    return [(words, len(seconds), sum(seconds)) for words, seconds in told.items()]


def versions(results: Sequence[Result]) -> dict[str, str]:
    """Return the versions of all that computed results; several of one in one line."""
    found: dict[str, set[str]] = {}
    for one in results:
        for name, version in one.versions.items():
            found.setdefault(name, set()).add(version)
    return {name: ", ".join(sorted(own)) for name, own in found.items()}
