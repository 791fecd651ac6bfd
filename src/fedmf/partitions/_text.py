"""Numbers in words, for texts that people read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from fedmf.partitions._rows import Indices


def many(count: int, thing: str) -> str:
    """Return a count and what is counted."""
    return f"{count:,} {thing}{'s' if count != 1 else ''}"


def span(values: Indices) -> str:
    """Return the range and the median of whole numbers."""
    low, high, middle = values.min(), values.max(), np.median(values)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}, median {middle:,.6g}"
