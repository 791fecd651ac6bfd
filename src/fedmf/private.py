"""A site's private arrays, and how a cohort's are taken apart by site.

A private state is a named tuple whose fields say how they are laid out. Every function here works
field by field from that, so that an algorithm only declares its state.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, TypeAlias, TypeVar, get_type_hints

import numpy as np

from fedmf.arrays import Array, IntArray, here
from fedmf.sites import Cohort

Columns: TypeAlias = Annotated[Array, "columns"]  # (..., n): one column a sample
PerSite: TypeAlias = Annotated[Array, "site"]  # (b, ...): one entry a site
Shared: TypeAlias = Annotated[Array, "shared"]  # the same at every site

Private = TypeVar("Private", bound=tuple[Any, ...])


@cache
def kinds(private: type[tuple[Any, ...]]) -> list[str]:
    """Return how each field of a private state is laid out: columns, site or shared."""
    hints = get_type_hints(private, include_extras=True)
    fields = private._fields  # type: ignore[attr-defined]
    return [hints[name].__metadata__[0] for name in fields]


def take(private: Private, data: Cohort, places: IntArray) -> Private:
    """Return the private state of some of a cohort's sites."""
    if private is None or len(places) == len(data.sites):
        return private
    columns = data.columns(places)
    parts: list[Any] = []
    for kind, value in zip(kinds(type(private)), private, strict=True):
        where = {"columns": (..., columns), "site": places, "shared": slice(None)}[kind]
        parts.append(value[where])
    return type(private)(*parts)


def put(private: Private, data: Cohort, places: IntArray, new: Private) -> Private:
    """Return the cohort's private state with that of some sites replaced."""
    if new is None:
        return new
    if private is None or len(places) == len(data.sites):
        return laid_out(new)
    columns = data.columns(places)
    parts: list[Any] = []
    for kind, old, part in zip(kinds(type(private)), private, new, strict=True):
        if kind == "shared":
            parts.append(part)
            continue
        merged = np.array(old, order="K")
        merged[(..., columns) if kind == "columns" else places] = part
        parts.append(merged)
    return type(private)(*parts)


def gather(privates: Sequence[Private]) -> Private:
    """Return the private states of consecutive cohorts as one."""
    first = privates[0]
    parts: list[Any] = []
    for place, kind in enumerate(kinds(type(first))):
        values = [here(private[place]) for private in privates]
        axis = {"columns": -1, "site": 0}.get(kind)
        parts.append(values[0] if axis is None else np.concatenate(values, axis=axis))
    return type(first)(*parts)


def split_up(private: Private, cohorts: Sequence[Cohort]) -> list[Private]:
    """Return the private states of consecutive cohorts from one of all of them."""
    first_column, first_site, parts = 0, 0, []
    for data in cohorts:
        columns = slice(first_column, first_column + int(data.edges[-1]))
        sites = slice(first_site, first_site + len(data.sites))
        where = {"columns": (..., columns), "site": sites, "shared": slice(None)}
        pairs = zip(kinds(type(private)), private, strict=True)
        parts.append(type(private)(*(_laid_out(value[where[kind]], kind) for kind, value in pairs)))
        first_column, first_site = columns.stop, sites.stop
    return parts


def laid_out(private: Private) -> Private:
    """Return a private state with its arrays as the hosts have them."""
    pairs = zip(kinds(type(private)), private, strict=True)
    return type(private)(*(_laid_out(value, kind) for kind, value in pairs))


def _laid_out(value: Array, kind: str) -> Array:
    """Return the array with each sample's column contiguous, as the hosts have it.

    The order of the numbers in memory decides the order of the additions in a product, so that a
    run gone on with gives the same bits only if it is the same.
    """
    own = kind == "columns" and isinstance(value, np.ndarray)  # a device orders its own
    return np.asfortranarray(value) if own else value
