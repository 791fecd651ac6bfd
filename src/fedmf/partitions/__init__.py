"""How samples are dealt out to sites, and what the federation that results looks like.

A partition is one file of this folder with a function `deal(request, *, its options)`; its name is
the file's, with hyphens, and nothing else lists it. `deal` returns one site index for each sample,
every index from 0 to P - 1 at least once, which makes "each sample exactly once" true by
construction. Files that begin with an underscore are shared parts, not partitions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fedmf.partitions._description import FederationDescription, describe
from fedmf.partitions._picture import check_picture
from fedmf.partitions._request import Request
from fedmf.partitions._rows import Stacked, group_rows, one_blas_thread
from fedmf.partitions._split import LazySites, split
from fedmf.plugins import call, module_in, names_in, options_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fedmf.partitions._rows import Indices, Matrix

__all__ = [
    "FederationDescription",
    "LazySites",
    "Stacked",
    "check_picture",
    "describe",
    "names",
    "options",
    "partition",
    "split",
]


def names() -> tuple[str, ...]:
    """Return the partitions that there are, sorted."""
    return names_in(__name__)


def options(name: str) -> dict[str, Any]:
    """Return the options of one partition with their defaults."""
    return options_of(_load(name))


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
    request = Request.build(X, labels, n_sites, seed)
    with one_blas_thread():
        return group_rows(call(deal, f"partition {name!r}", request, **options))


def _load(name: str) -> Callable[..., Indices]:
    """Return the function of one partition."""
    deal: Callable[..., Indices] = module_in(__name__, name, "partition").deal
    return deal
