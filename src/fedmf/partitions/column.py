"""Sites that are already known: one site id a row, as a column of the user's table says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fedmf.errors import ParameterError
from fedmf.partitions._request import encode

if TYPE_CHECKING:
    from fedmf.partitions._request import Request
    from fedmf.partitions._rows import Indices


def deal(request: Request, *, column: Any = None) -> Indices:
    """Put rows with the same id on one site; sites are in the sorted order of their ids."""
    if column is None:
        raise ParameterError("partition 'column' needs one site id a row: pass column=...")
    ids, site = encode("column", column, request.n_samples)
    if request.asked not in (None, len(ids)):
        raise ParameterError(
            f"n_sites must be left out or be the number of ids in the column, {len(ids)}, "
            f"got {request.asked}"
        )
    return site
