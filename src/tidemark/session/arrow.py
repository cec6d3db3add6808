"""Arrow tables as users see them: with the names that they chose, even inside rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.plan.nodes import Edge
from tidemark.spark.frame import KIND

if TYPE_CHECKING:
    import pyarrow as pa


def named(table: pa.Table, edge: Edge, kinds: Sequence[str], zone: str) -> pa.Table:
    """Spark's result for an edge, under the user's names, with times in the session's zone."""
    import pyarrow as pa

    columns = list(table.columns)
    for index, type_ in enumerate(edge.types):
        if isinstance(type_, t.Time):
            # Spark declares nanoseconds, but has microseconds.
            columns[index] = columns[index].cast(pa.time64("us"))
        wanted = _named_type(columns[index].type, type_, zone)
        if wanted != columns[index].type:
            chunks = [chunk.view(wanted) for chunk in columns[index].chunks]
            columns[index] = pa.chunked_array(chunks, wanted)
    return pa.table(columns, names=[*edge.names, *kinds])


def _named_type(actual: pa.DataType, type_: t.DataType, zone: str) -> pa.DataType:
    """The Arrow type with the field names of the Flink type and the time zone."""
    import pyarrow as pa

    match type_:
        case t.Row(fields=fields):
            named_fields = [
                pa.field(field.name, _named_type(actual.field(i).type, field.type, zone))
                for i, field in enumerate(fields)
            ]
            return pa.struct(named_fields)
        case t.Array(element=element):
            return pa.list_(_inner(actual.value_field, element, zone))
        case t.Multiset(element=element):
            return pa.map_(_named_type(actual.key_type, element, zone), actual.item_field)
        case t.Map(key=key, value=value):
            keys = _named_type(actual.key_type, key, zone)
            return pa.map_(keys, _inner(actual.item_field, value, zone))
        case t.TimestampLtz():
            return pa.timestamp(actual.unit, tz=zone)
    return actual


def _inner(field: Any, type_: t.DataType, zone: str) -> Any:
    return field.with_type(_named_type(field.type, type_, zone))


def empty(edge: Edge) -> pa.Table:
    """A table without rows, for a query that returned none."""
    import pyarrow as pa

    from tidemark.functions.arrow_types import to_arrow

    fields = [(column.name, to_arrow(column.type)) for column in edge.columns]
    if edge.changelog is not Changelog.APPEND:
        fields.append((KIND, pa.string()))
    return pa.schema(fields).empty_table()
