"""The few array types that every layer speaks of, and their checks at the border."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
IntArray: TypeAlias = NDArray[np.int64]
# A number in a message: numpy's scalar where it is made, an array without dimensions on the wire.
Scalar: TypeAlias = Any
# A matrix that is dense or scipy's CSR, samples in rows; scipy ships no types.
Rows: TypeAlias = Any


def largest_eigenvalue(A: Array) -> float:
    """Return the largest eigenvalue of the symmetric K x K matrix A."""
    return float(np.linalg.eigvalsh(A)[-1])
