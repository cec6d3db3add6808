"""Late rows that an operator has handed out, on their way through the operators above it.

They stay packed. Where Spark computes on the results of the operator, they go along in rows whose
other columns are NULL; in an exchange, they are packed rows that belong to no input.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

import pyarrow as pa

from tidemark.runtime.bucket import Packed
from tidemark.spark.stateful.late_columns import LATE, OUTLET

# The number of an outlet, and the rows, packed.
Passed = tuple[int, bytes]
# In an exchange, the `input` of late rows is this number, less that of their outlet.
FIRST: Final = -2
_COLUMNS: Final = pa.schema([(LATE, pa.binary()), (OUTLET, pa.int32())])


def parted(packed: Iterable[Packed], passed: list[Passed]) -> Iterator[Packed]:
    """The packed rows that are for an operator; those that only pass it are added to a list."""
    for row in packed:
        number, *_, payload = row
        if number <= FIRST:
            assert isinstance(payload, bytes)
            passed.append((FIRST - number, payload))
        else:
            yield row


def inputs_of(late: pa.Table) -> Iterator[Passed]:
    """Late rows that go along, as packed rows: the `input` of each, and its payload."""
    outlets, payloads = (late.column(name).to_pylist() for name in (OUTLET, LATE))
    for outlet, payload in zip(outlets, payloads, strict=True):
        yield FIRST - outlet, payload


def along(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Rows with the columns of late rows that go along."""
    nulls = [pa.nulls(rows.num_rows, field.type) for field in _COLUMNS]
    return pa.RecordBatch.from_arrays(
        [*rows.columns, *nulls], schema=pa.schema([*rows.schema, *_COLUMNS])
    )


def late_along(late: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    """Packed late rows, each in a row whose columns, those of a schema, are NULL."""
    nulls = [pa.nulls(late.num_rows, field.type) for field in schema]
    return pa.RecordBatch.from_arrays(
        [*nulls, *(late.column(field.name) for field in _COLUMNS)],
        schema=pa.schema([*(field.with_nullable(True) for field in schema), *_COLUMNS]),
    )
