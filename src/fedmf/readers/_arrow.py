"""From an Arrow table to a `Content`: shared by the delimited text and the Parquet readers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fedmf.errors import DataError
from fedmf.readers._content import (
    NO_FEATURE,
    Content,
    Vector,
    Wanted,
    check_known,
    check_unique,
)


def content(path: Path, table: Any, wanted: Wanted, index: Sequence[str]) -> Content:
    """Return the numeric columns as X (N, M); `index`: the names of rows, which are no features.

    They are the samples' ids where no others are wanted and there is one column of them.
    """
    import pyarrow as pa

    names = list(table.column_names)
    check_unique(path, "column", names)
    check_known(path, wanted, names)
    asked = wanted.all_names()
    index = [name for name in index or _first_text(pa, table, wanted) if name not in asked]
    ids = index[0] if wanted.samples is None and len(index) == 1 else wanted.samples
    taken = {*asked, *index}
    features = tuple(name for name in names if name not in taken)
    if not features or not table.num_rows:
        raise DataError(f"{path}: there are {table.num_rows} samples and {len(features)} features")
    columns = {name: vector(table.column(name)) for name in wanted.names()}
    samples = None if ids is None else tuple(map(str, vector(table.column(ids)).tolist()))
    return Content(_matrix(pa, path, table, features), features, samples, columns)


def vector(column: Any) -> Vector:
    """Return one column as numbers or as text (None where a cell is empty)."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:  # as objects: large whole numbers would lose digits as floats
        return np.array(column.to_pylist(), dtype=object)
    array: Vector = column.to_numpy()
    return array


def _first_text(pa: Any, table: Any, wanted: Wanted) -> list[str]:
    """Return the first column's name where it holds text and no ids were asked for."""
    text = wanted.samples is None and _is_text(pa, table.column(0).type)
    return table.column_names[:1] if text else []


def _is_text(pa: Any, kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _matrix(pa: Any, path: Path, table: Any, features: tuple[str, ...]) -> Vector:
    """Return the feature columns side by side, (N, M); float32 only where all of them are."""
    kinds = [table.schema.field(name).type for name in features]
    for name, kind in zip(features, kinds, strict=True):
        if not (
            pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind)
        ):
            raise DataError(f"{path}: column {name!r} holds {kind}, not numbers {NO_FEATURE}")
    narrow = all(pa.types.is_float32(kind) or pa.types.is_float16(kind) for kind in kinds)
    X = np.empty((table.num_rows, len(features)), np.float32 if narrow else np.float64)
    for j, name in enumerate(features):
        column = table.column(name)
        if column.null_count:
            row = column.is_null().to_numpy().argmax()
            raise DataError(f"{path}: row {row + 1}, column {name!r}: there is no value")
        X[:, j] = column.to_numpy()
    return X
