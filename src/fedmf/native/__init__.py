"""The compiled kernels, where they were built: steps and products that stay in registers.

They are made from C when the package is installed. Without a C compiler it is installed all the
same: each function here then returns False, having done nothing, and its caller lets numpy do the
same work, slower. So it is where K is too large (over 64 on a processor with AVX-512, in double
precision), or an array is not stored row by row or, where it is sparse, as CSR.

Either way the same sums are taken, in another order: results agree to rounding. The environment
variable FEDMF_KERNELS=numpy leaves everything to numpy.
"""

from __future__ import annotations

import os
from ctypes import CDLL, c_double, c_int, c_long, c_void_p
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

import numpy as np

from fedmf.arrays import Array, Rows

TYPES = ("float64", "float32")
SLACK = 64  # bytes behind the sums of `moment`, which are written to in whole vectors
ARGUMENTS: dict[str, list[Any]] = {
    "steps": [c_void_p] * 3 + [c_long] * 3 + [c_double] * 2,
    "cross": [c_void_p, c_long, c_void_p, c_void_p] + [c_long] * 3,
    "moment": [c_void_p, c_long, c_void_p, c_void_p] + [c_long] * 3,
    "sparse_cross": [c_void_p] * 5 + [c_long] * 3,
    "sparse_moment": [c_void_p] * 5 + [c_long] * 3,
}


def steps(
    rows: Array, drift: Array, T: Array, count: int, lower: np.generic, upper: np.generic
) -> bool:
    """Do z <- clip(z T + d) `count` times on each of the rows (n, K), in place.

    `drift` (n, K) has each row's d. All arrays are of one type and stored row by row.
    """
    kernel = kernels().get(("steps", rows.dtype.name))
    if kernel is None:
        return False
    # ctypes lets other threads work meanwhile.
    places = (own.ctypes.data for own in (rows, drift, T))
    return bool(kernel(*places, *rows.shape, count, lower, upper))


def cross(X: Rows, W: Array, out: Array) -> bool:
    """Put X W in `out` (n, K), for samples X (n, M) and W (M, K)."""
    return _product("cross", X, W, out)


def moment(X: Rows, D: Array, out: Array) -> bool:
    """Add X' D to `out` (M, K), one of `sums`, for samples X (n, M) and D (n, K)."""
    return _product("moment", X, D, out)


def sums(M: int, K: int, dtype: np.dtype[Any]) -> Array:
    """Return zeros (M, K) that `moment` may add to."""
    return np.zeros(M * K + SLACK // dtype.itemsize, dtype)[: M * K].reshape(M, K)


def _product(name: str, X: Rows, other: Array, out: Array) -> bool:
    dense = isinstance(X, np.ndarray)
    kernel = kernels().get((name if dense else f"sparse_{name}", X.dtype.name))
    alike = X.dtype == other.dtype == out.dtype
    samples = _dense(X) if dense else _sparse(X)
    if kernel is None or samples is None or not alike or not other.flags.c_contiguous:
        return False
    return bool(kernel(*samples, other.ctypes.data, out.ctypes.data, *X.shape, out.shape[1]))


def _dense(X: Array) -> tuple[int, ...] | None:
    """Return where the rows are, and how far from each other, unless they are not in one piece."""
    step, rest = divmod(X.strides[0], X.itemsize)
    if X.strides[1] != X.itemsize or step < X.shape[1] or rest or not X.flags.aligned:
        return None
    return X.ctypes.data, step


def _sparse(X: Any) -> tuple[int, ...] | None:
    """Return where the entries, their columns and the rows' first entries are."""
    if X.format != "csr" or X.indices.dtype != np.int32 or X.indptr.dtype != np.int32:
        return None
    parts = (X.data, X.indices, X.indptr)
    return (
        None
        if not all(p.flags.c_contiguous for p in parts)
        else tuple(p.ctypes.data for p in parts)
    )


@cache
def kernels() -> dict[tuple[str, str], Any]:
    """Return the compiled functions by name and type of number; none where none were built."""
    if os.environ.get("FEDMF_KERNELS") == "numpy":
        return {}
    folder = Path(__file__).parent
    found = [folder / f"_kernels{suffix}" for suffix in EXTENSION_SUFFIXES]
    library = next((path for path in found if path.exists()), None)
    return {} if library is None else load(library)


def load(library: Path) -> dict[tuple[str, str], Any]:
    """Return a library's functions by name and type of number."""
    loaded = CDLL(str(library))
    return {
        (name, type_): _typed(getattr(loaded, f"{name}_{type_}"), arguments)
        for name, arguments in ARGUMENTS.items()
        for type_ in TYPES
    }


def _typed(function: Any, arguments: list[Any]) -> Any:
    function.argtypes = arguments
    function.restype = c_int
    return function
