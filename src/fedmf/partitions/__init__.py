"""How samples are dealt out to sites, and what the federation that results looks like.

A partition is one file of this folder with a function `deal(request, *, its options)`; its name is
the file's, with hyphens, and nothing else lists it. `deal` returns one site index for each sample,
every index from 0 to P - 1 at least once, which makes "each sample exactly once" true by
construction. Files that begin with an underscore are shared parts, not partitions.
"""

from __future__ import annotations

import inspect
import pkgutil
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any

from fedmf.errors import ParameterError
from fedmf.partitions._description import FederationDescription, describe
from fedmf.partitions._request import Request
from fedmf.partitions._rows import group_rows, one_blas_thread
from fedmf.partitions._split import LazySites, split

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fedmf.partitions._rows import Indices, Matrix

__all__ = [
    "FederationDescription",
    "LazySites",
    "describe",
    "names",
    "options",
    "partition",
    "split",
]


def names() -> tuple[str, ...]:
    """Return the partitions that there are, sorted."""
    found = (file.name for file in pkgutil.iter_modules(__path__) if not file.ispkg)
    return tuple(sorted(name.replace("_", "-") for name in found if not name.startswith("_")))


def options(name: str) -> dict[str, Any]:
    """Return the options of one partition with their defaults."""
    return _options(_load(name))


def partition(
    name: str,
    X: Matrix,
    labels: Sequence[object] | None = None,
    n_sites: int | None = None,
    seed: int | None = 0,
    **options: Any,
) -> list[Indices]:
    """Deal the rows of X (N, M) out to sites; return the row indices of each site, ascending.

    The sites are disjoint, cover every row and are never empty; the same seed gives the same sites
    whatever the number of threads. `n_sites` is 100 unless given; the partition `column` takes it
    from its column. X may be dense, CSR or memory-mapped; it is read in blocks, if at all.
    """
    deal = _load(name)
    _check_options(name, options, _options(deal))
    request = Request.build(X, labels, n_sites, seed)
    with one_blas_thread():
        return group_rows(deal(request, **options))


def _load(name: str) -> Callable[..., Indices]:
    """Return the function of one partition."""
    known = names()
    wanted = str(name).replace("_", "-")
    if wanted not in known:
        raise ParameterError(
            f"partition must be one of {', '.join(known)}; got {name!r}{_meant(wanted, known)}"
        )
    module = import_module(f"{__name__}.{wanted.replace('-', '_')}")
    deal: Callable[..., Indices] = module.deal
    return deal


def _options(deal: Callable[..., Indices]) -> dict[str, Any]:
    """Return the keyword options that a partition's function declares."""
    declared = inspect.signature(deal).parameters.values()
    return {p.name: p.default for p in declared if p.kind is inspect.Parameter.KEYWORD_ONLY}


def _check_options(name: str, given: dict[str, Any], known: dict[str, Any]) -> None:
    """Refuse an option that the partition does not have."""
    for option in given:
        if option not in known:
            has = f"its options are {', '.join(sorted(known))}" if known else "it has no options"
            raise ParameterError(
                f"partition {name!r} has no option {option!r}: {has}{_meant(option, known)}"
            )


def _meant(wanted: str, known: tuple[str, ...] | dict[str, Any]) -> str:
    """Return a hint at the closest known name, or nothing."""
    close = get_close_matches(wanted, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""
