"""Apache Parquet: a sample in each row; text columns must be named as labels, sites or samples.

The index that pandas stores beside its columns is no feature; it becomes the sample ids, and so
does a first column of text, where no other column is named for them. The whole table is read into
memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fedmf.errors import FedMFError, FileFormatError
from fedmf.readers import _arrow
from fedmf.readers._content import Content, Wanted, one_line

ENDINGS = (".parquet",)


def read(path: Path, wanted: Wanted) -> Content:
    """Return the table's numeric columns as the matrix."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.ParquetFile(path, memory_map=True).read()
        return _arrow.content(path, table, wanted, _pandas_index(table))
    except FedMFError:
        raise
    except (pa.ArrowException, OSError, ValueError) as problem:  # the last: bytes that are no text
        raise FileFormatError(f"{path}: no whole Parquet file ({one_line(problem)})") from None


def _pandas_index(table: Any) -> list[str]:
    """Return the columns that hold pandas' index; a range index is not a column."""
    notes = table.schema.pandas_metadata or {}
    stored = notes.get("index_columns", []) if isinstance(notes, dict) else []
    names: list[str] = table.column_names
    return [name for name in names if isinstance(stored, list) and name in stored]
