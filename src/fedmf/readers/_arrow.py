"""From an Arrow table to a `Content`: shared by the delimited text and the Parquet readers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from fedmf.errors import DataError
from fedmf.readers._content import Content, Vector, Wanted, check_known, check_unique


def content(path: Path, table: Any, wanted: Wanted, index: str | None) -> Content:
    """Return the numeric columns as X (N, M); `index` names the column of sample ids, if any."""
    import pyarrow as pa

    names = list(table.column_names)
    check_unique(path, "column", names)
    check_known(path, wanted, names)
    found = index if index is not None else _first_text(pa, table, wanted)
    index = wanted.samples or found
    taken = {*wanted.names(), index}
    features = tuple(name for name in names if name not in taken)
    if not features or not table.num_rows:
        raise DataError(f"{path}: there are {table.num_rows} samples and {len(features)} features")
    columns = {name: vector(table.column(name)) for name in wanted.names()}
    samples = None if index is None else tuple(map(str, vector(table.column(index)).tolist()))
    return Content(_matrix(pa, path, table, features), features, samples, columns)


def vector(column: Any) -> Vector:
    """Return one column as numbers or as text (None where a cell is empty)."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    array: Vector = column.to_numpy()
    return array


def _first_text(pa: Any, table: Any, wanted: Wanted) -> str | None:
    """Return the first column's name where it holds text that nobody asked for: sample ids."""
    first = table.column_names[0]
    text = _is_text(pa, table.column(0).type)
    return first if text and first not in wanted.names() else None


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
            raise DataError(
                f"{path}: column {name!r} holds {kind}, not numbers"
                " (a column of classes, sites or ids is named with labels=, sites= or samples=)"
            )
    narrow = all(pa.types.is_float32(kind) or pa.types.is_float16(kind) for kind in kinds)
    X = np.empty((table.num_rows, len(features)), np.float32 if narrow else np.float64)
    for j, name in enumerate(features):
        column = table.column(name)
        if column.null_count:
            row = column.is_null().to_numpy().argmax()
            raise DataError(f"{path}: row {row + 1}, column {name!r}: there is no value")
        X[:, j] = column.to_numpy()
    return X
