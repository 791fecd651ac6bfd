"""What is shown: the figures and the table of the paper, read from their files.

A file says which trials are run and how they are drawn. What an entry of `fedmf.trials.Trial` is
may stand at every level, and the inner one wins:

    settings.toml [common] < [places.NAME] < the file's [common] < a panel < a curve

so that a curve needs to say only what sets it apart. Tables inside (method, cluster) are merged
too. `for.METHOD` in a place or a column holds what goes to that method alone.

A series is one curve, one cell or one map: the same trial for several seeds. A claim names series
as "PANEL: LABEL" ("COLUMN: ROW" in a table, "PANEL" in maps).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from pathlib import Path
from typing import Any

from fedmf.errors import FedMFError, FileFormatError, ParameterError
from fedmf.paper.claim import Claim
from fedmf.paper.sources import SETTINGS, table_of
from fedmf.trials import Trial, expand
from fedmf.trials.plan import merged

Table = dict[str, Any]

KINDS = ("curves", "table", "map")
OF_TRIAL = frozenset(one.name for one in fields(Trial)) | {"seeds", "place", "for"}
OF_EXHIBIT = {
    *("kind", "title", "paper", "caption", "notes", "seeds", "place", "common"),
    *("x", "y", "log", "from_round", "panels", "columns", "rows", "score", "map", "claims"),
}
OF_AXES = ("x", "y", "log", "from_round")
OF_PANEL = frozenset(("name", "title", *OF_AXES, "until", "curves"))
OF_CURVE = frozenset(("label", "line", "level"))
OF_ROW = frozenset(("label", "paper", "apart"))


@dataclass(frozen=True)
class Place:
    """Data, and how they are dealt out."""

    key: str
    name: str
    case: str
    stands_for: str | None  # what the paper has in place of these data


@dataclass(frozen=True)
class Series:
    """One trial for several seeds, and how it is shown."""

    key: str  # what claims call it
    label: str
    place: Place
    trials: tuple[Trial, ...]
    line: str = "solid"
    level: bool = False  # shown as a level line: its last value
    paper: float | None = None  # what the paper has there


@dataclass(frozen=True)
class Panel:
    """One set of axes, a column of the table, or a map."""

    name: str
    title: str
    series: tuple[Series, ...]
    x: str = "round"
    y: str = "objective"
    log: tuple[str, ...] = ()  # which axes have a scale of powers of ten
    from_round: int = 0  # the axis beside reaches up to where all curves are by then
    until: float | None = None  # where the axis below ends

    @property
    def places(self) -> tuple[Place, ...]:
        """The places of its series, each once."""
        return tuple(dict.fromkeys(one.place for one in self.series))


@dataclass(frozen=True)
class Exhibit:
    """A figure or a table."""

    name: str
    kind: str
    title: str
    paper: str
    caption: str
    notes: tuple[str, ...]
    panels: tuple[Panel, ...]
    claims: tuple[Claim, ...]
    score: str = "accuracy"
    apart: frozenset[str] = frozenset()  # rows of the table that the paper has not
    map: Table = field(default_factory=dict)  # settings of t-SNE
    quick: bool = False  # smaller than the file says

    @property
    def series(self) -> dict[str, Series]:
        """All series by what claims call them."""
        return {one.key: one for panel in self.panels for one in panel.series}

    def panel(self, name: str) -> Panel:
        """Return a panel by its name."""
        return next(panel for panel in self.panels if panel.name == name)

    @property
    def trials(self) -> list[Trial]:
        """All trials, each once."""
        every = [trial for one in self.series.values() for trial in one.trials]
        return list({trial.key: trial for trial in every}.values())


def read(
    name: str, *, seeds: int | None = None, quick: bool = False, folder: Path | None = None
) -> Exhibit:
    """Return an exhibit.

    seeds : how many starting points, in place of what the file says.
    quick : smaller data, fewer rounds and starting points, as the settings have them.
    folder : with files in place of the package's own.
    """
    try:
        settings, table = table_of(SETTINGS, folder), table_of(name, folder)
        return _Reader(name, table, settings, seeds, quick).exhibit()
    except FileFormatError:
        raise
    except FedMFError as error:
        raise FileFormatError(f"{name}.toml: {error}") from None


class _Reader:
    """Makes an exhibit from the tables of its file."""

    def __init__(
        self, name: str, table: Table, settings: Table, seeds: int | None, quick: bool
    ) -> None:
        self._name, self._table, self._settings, self._seeds = name, table, settings, seeds
        self._quick: Table = settings.get("quick", {}) if quick else {}
        self._kind = table.get("kind", "curves")

    def exhibit(self) -> Exhibit:
        """Return the exhibit."""
        if self._kind not in KINDS:
            raise ParameterError(f"kind must be one of {', '.join(KINDS)}, got {self._kind!r}")
        self._known("the file", self._table, OF_EXHIBIT)
        for entry in ("title", "paper", "caption"):
            self._need("the file", self._table, entry)
        panels = {"curves": self._curves, "table": self._cells, "map": self._maps}[self._kind]()
        known = {one.key for panel in panels for one in panel.series}
        return Exhibit(
            name=self._name,
            kind=self._kind,
            title=self._table["title"],
            paper=self._table["paper"],
            caption=self._table["caption"],
            notes=tuple(self._table.get("notes", ())),
            panels=tuple(panels),
            claims=tuple(Claim.of(one, known) for one in self._table.get("claims", ())),
            score=self._table.get("score", "accuracy"),
            apart=frozenset(r["label"] for r in self._table.get("rows", ()) if r.get("apart")),
            map=self._table.get("map", {}),
            quick=bool(self._quick),
        )

    def _curves(self) -> list[Panel]:
        own: dict[str, list[Table]] = {}
        panels = []
        for table in self._table.get("panels", ()):
            name = self._need("a panel", table, "name")
            self._known(f"panel {name!r}", table, OF_PANEL | OF_TRIAL)
            given = self._need(f"panel {name!r}", table, "curves")
            own[name] = self._borrowed(own, given) if isinstance(given, str) else given
            shared = {entry: value for entry, value in table.items() if entry not in OF_PANEL}
            series = []
            for curve in own[name]:
                self._known(f"a curve of panel {name!r}", curve, OF_CURVE | OF_TRIAL)
                said = {entry: value for entry, value in curve.items() if entry not in OF_CURVE}
                label = self._need(f"a curve of panel {name!r}", curve, "label")
                look = {"line": curve.get("line", "solid"), "level": curve.get("level", False)}
                series.append(self._series(f"{name}: {label}", label, [shared, said], **look))
            said = {entry: one[entry] for one in (self._table, table) for entry in OF_AXES
                    if entry in one}  # fmt: skip
            axes = {**said, "log": tuple(said.get("log", ()))}
            title = table.get("title", "")
            panels.append(Panel(name, title, tuple(series), until=table.get("until"), **axes))
        return panels

    def _cells(self) -> list[Panel]:
        panels = []
        for column in self._table.get("columns", ()):
            name = self._need("a column", column, "label")
            self._known(f"column {name!r}", column, {"label"} | OF_TRIAL)
            shared = {entry: value for entry, value in column.items() if entry != "label"}
            series = []
            for row in self._table.get("rows", ()):
                label = self._need("a row", row, "label")
                self._known(f"row {label!r}", row, OF_ROW | OF_TRIAL)
                said = {entry: value for entry, value in row.items() if entry not in OF_ROW}
                paper = row.get("paper", {}).get(name)
                series.append(self._series(f"{name}: {label}", label, [said, shared], paper=paper))
            panels.append(Panel(name, name, tuple(series)))
        return panels

    def _maps(self) -> list[Panel]:
        panels = []
        for table in self._table.get("panels", ()):
            name = self._need("a panel", table, "name")
            self._known(f"panel {name!r}", table, {"name", "title"} | OF_TRIAL)
            title = table.get("title", "")
            said = {entry: value for entry, value in table.items() if entry not in OF_PANEL}
            series = (self._series(name, title, [said]),) if "method" in said else ()
            panels.append(Panel(name, title, series))
        return panels

    def _series(self, key: str, label: str, levels: Sequence[Table], **shown: Any) -> Series:
        """Return what the levels of the file say together."""
        outer = {e: self._table[e] for e in ("seeds", "place") if e in self._table}
        own = reduce(merged, [outer, self._table.get("common", {}), *levels])
        place, of_place = self._place(key, own.pop("place", None))
        own = reduce(merged, [self._settings.get("common", {}), of_place, own])
        apart, name = own.pop("for", {}), own.get("method", {}).get("name")
        own = merged(own, apart.get(name, {}))
        if self._seeds is not None and self._kind != "map":
            own["seeds"] = self._seeds
        elif self._quick and isinstance(own.get("seeds"), int):
            own["seeds"] = min(own["seeds"], self._quick["seeds"])
        if self._quick:
            own["rounds"] = min(own["rounds"], self._quick["rounds"])
        try:
            trials = tuple(expand(own, {}))
        except FedMFError as error:
            raise ParameterError(f"{key!r}: {error}") from None
        return Series(key, label, place, trials, **shown)

    def _place(self, key: str, name: object) -> tuple[Place, Table]:
        """Return a place, and the entries of a trial that it has."""
        known = self._settings.get("places", {})
        if name not in known:
            raise ParameterError(
                f"{key!r}: the place must be one of {', '.join(known)}; got {name!r}"
            )
        smaller = self._quick.get("places", {}).get(name, {})
        table = merged(known[name], smaller)
        words = [table.pop(entry, None) for entry in ("name", "case", "stands_for")]
        return Place(str(name), str(words[0]), str(words[1]), words[2]), table

    def _borrowed(self, own: Mapping[str, list[Table]], name: str) -> list[Table]:
        if name not in own:
            raise ParameterError(f"curves = {name!r} names no panel above")
        return own[name]

    def _known(self, where: str, table: Mapping[str, Any], allowed: Any) -> None:
        for entry in table:
            if entry not in allowed:
                raise ParameterError(
                    f"{where} has an entry {entry!r}; allowed are {', '.join(sorted(allowed))}"
                )

    def _need(self, where: str, table: Mapping[str, Any], entry: str) -> Any:
        if entry not in table:
            raise ParameterError(f"{where} needs an entry {entry!r}")
        return table[entry]
