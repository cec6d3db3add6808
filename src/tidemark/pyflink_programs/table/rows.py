"""Rows of results as PyFlink's objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tidemark import types as t
from tidemark.plan.nodes import Column
from tidemark.pyflink.api.common.row import Row, RowKind
from tidemark.rows import Change

_KINDS = {str(kind): kind for kind in RowKind}


def row_of(change: Change, columns: Sequence[Column]) -> Row:
    values = (_value(change.row[column.name], column.type) for column in columns)
    return Row.of_kind(_KINDS[change.kind], *values)


def _value(value: Any, type_: t.DataType) -> Any:
    if value is None:
        return None
    match type_:
        case t.Row(fields=fields):
            parts = [value[f.name] for f in fields] if isinstance(value, Mapping) else value
            return Row(*(_value(part, f.type) for part, f in zip(parts, fields, strict=True)))
        case t.Array(element=element):
            return [_value(part, element) for part in value]
        case t.Map(key=key, value=of_value):
            pairs = value.items() if isinstance(value, Mapping) else value
            return {_value(k, key): _value(v, of_value) for k, v in pairs}
        case t.Multiset(element=element):
            pairs = value.items() if isinstance(value, Mapping) else value
            return {_value(k, element): count for k, count in pairs}
    return value
