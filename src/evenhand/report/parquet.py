"""Apache Parquet: one row a cell with typed columns, for data tools; needs the extra `parquet`."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, TextIO

from evenhand.errors import UsageError
from evenhand.model.result import CaseResult, Run
from evenhand.report.columns import Column, columns_of, encodable
from evenhand.report.formats import Cases

if TYPE_CHECKING:
    import pyarrow as pa

BATCH_ROWS = 1_000
"""Rows that are held at once."""


def render(run: Run, cases: Cases, out: TextIO) -> None:
    """Write the table into the binary stream beneath `out`. Raises `UsageError` where pyarrow is missing."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise UsageError(
            "writing Parquet files needs pyarrow; install it with `python -m pip install 'evenhand[parquet]'`"
        ) from None
    types = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
    columns = columns_of(run)
    schema = pa.schema([(encodable(column.name), types[column.type]) for column in columns])
    out.flush()
    results = iter(cases())
    with pq.ParquetWriter(out.buffer, schema) as writer:
        while batch := list(itertools.islice(results, BATCH_ROWS)):
            writer.write_batch(_batch(batch, columns, schema))


def _batch(cases: list[CaseResult], columns: list[Column], schema: pa.Schema) -> pa.RecordBatch:
    import pyarrow as pa

    values = [[_value(column.value(case)) for case in cases] for column in columns]
    arrays = [pa.array(each, field.type) for each, field in zip(values, schema, strict=True)]
    return pa.record_batch(arrays, schema=schema)


def _value(value: Any) -> Any:
    return encodable(value) if isinstance(value, str) else value
