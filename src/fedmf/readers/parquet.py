"""Apache Parquet: a sample in each row; text columns must be named as labels, sites or samples.

The index that pandas stores beside its columns is no feature; it becomes the sample ids, and so
does a first column of text, where no other column is named for them. The whole table is read into
memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fedmf.errors import FileFormatError
from fedmf.readers import _arrow
from fedmf.readers._content import Content, Wanted, one_line

ENDINGS = (".parquet",)


def read(path: Path, wanted: Wanted) -> Content:
    """Return the table's numeric columns as the matrix."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path, memory_map=True).read()
    except (pa.ArrowException, OSError) as problem:
        raise FileFormatError(f"{path}: no whole Parquet file ({one_line(problem)})") from None
    return _arrow.content(path, table, wanted, _pandas_index(table))


def _pandas_index(table: Any) -> list[str]:
    """Return the columns that hold pandas' index; a range index is not a column."""
    stored = (table.schema.pandas_metadata or {}).get("index_columns", [])
    return [name for name in stored if name in table.column_names]
