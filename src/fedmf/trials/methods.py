"""What a trial's method can be: an algorithm, a rival, or a pooled reference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from fedmf import titles
from fedmf.algorithms import Algorithm, FedMGS
from fedmf.baselines import Rival, rivals
from fedmf.checks import check_integer
from fedmf.config import algorithm_from, algorithms, to_table
from fedmf.errors import ParameterError
from fedmf.plugins import unknown_name

KMEANS, CENTRAL = "kmeans++", "central-sncp"
POOLED = (CENTRAL, KMEANS)


@dataclass(frozen=True)
class Method:
    """A method with all its settings; one of `algorithm`, `rival` and `n_init` is there."""

    name: str
    table: dict[str, Any]  # the name and every setting, plain
    algorithm: Algorithm | None = None
    rival: Rival | None = None
    n_init: int | None = None  # of the pooled k-means++

    @property
    def pooled(self) -> bool:
        """Whether the samples have to lie in one place."""
        return self.name in POOLED


def names() -> tuple[str, ...]:
    """Return the names of all methods."""
    return (*algorithms(), *rivals(), *POOLED)


def title(table: Mapping[str, Any]) -> str:
    """Return what a method is called where people read it, with the sites that take part."""
    name, drawn = str(table["name"]), table.get("participants")
    called = titles.title(name)
    if name not in algorithms():
        return called
    return f"{called}, all sites" if drawn is None else f"{called}, m = {drawn}"


def method_from(table: Mapping[str, Any], clusters: int) -> Method:
    """Return the method that a table describes."""
    settings = dict(table)
    name = settings.pop("name", None)
    if name in algorithms():
        algorithm = algorithm_from(dict(table))
        return Method(name, to_table(algorithm), algorithm=algorithm)
    if name == CENTRAL:
        _allow(name, settings, ("q1", "q2", "gamma_h", "gamma_w"))
        algorithm = FedMGS(**settings)
        return Method(name, {**to_table(algorithm), "name": name}, algorithm=algorithm)
    if name == KMEANS:
        _allow(name, settings, ("n_init",))
        n_init = check_integer("n_init", settings.get("n_init", 10), minimum=1)
        return Method(name, {"name": name, "n_init": n_init}, n_init=n_init)
    if name in rivals():
        return _rival(name, settings, clusters)
    raise unknown_name("method", name, names())


def _rival(name: str, settings: dict[str, Any], clusters: int) -> Method:
    kind = rivals()[name]
    own = [one.name for one in fields(kind) if one.name != "n_clusters"]
    _allow(name, settings, own)
    rival = kind(n_clusters=clusters, **settings)
    return Method(name, {"name": name} | {s: getattr(rival, s) for s in own}, rival=rival)


def _allow(name: str, settings: Mapping[str, Any], allowed: Any) -> None:
    for setting in settings:
        if setting not in allowed:
            raise ParameterError(
                f"method {name!r} has no setting {setting!r}; it has {', '.join(allowed)}"
            )
