"""The compiled kernel, where it was built: many projected steps on rows that stay in registers.

It is made from C when the package is installed. Without a C compiler the package is installed all
the same, and `steps` leaves the work to numpy, which does the same in about five times the time.
"""

from __future__ import annotations

from collections.abc import Callable
from ctypes import CDLL, c_double, c_int, c_long, c_void_p
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy as np

from fedmf.arrays import Array

TYPES = ("float64", "float32")


def steps(
    rows: Array, drift: Array, T: Array, count: int, lower: np.generic, upper: np.generic
) -> bool:
    """Do z <- clip(z T + d) `count` times on each of the rows (n, K), in place.

    `drift` (n, K) has each row's d. All arrays are of one type and stored row by row. Returns
    False, having done nothing, where there is no compiled kernel or K is too large for it.
    """
    kernel = kernels().get(rows.dtype.name)
    if kernel is None:
        return False
    # ctypes lets other threads work meanwhile.
    places = (own.ctypes.data for own in (rows, drift, T))
    return bool(kernel(*places, *rows.shape, count, lower, upper))


@cache
def kernels() -> dict[str, Callable[..., Any]]:
    """Return the compiled functions by the type of their numbers; none where none was built."""
    folder = Path(__file__).parent
    found = [folder / f"_steps{suffix}" for suffix in EXTENSION_SUFFIXES]
    library = next((path for path in found if path.exists()), None)
    if library is None:
        return {}
    loaded = CDLL(str(library))
    return {name: _typed(getattr(loaded, f"steps_{name}")) for name in TYPES}


def _typed(function: Any) -> Callable[..., Any]:
    function.argtypes = [c_void_p] * 3 + [c_long] * 3 + [c_double] * 2
    function.restype = c_int
    return function  # type: ignore[no-any-return]
