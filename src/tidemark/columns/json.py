"""The JSON functions: their kernels over whole columns, and JSON put together from parts."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.errors import DataError
from tidemark.functions import json_writing
from tidemark.functions.arrow_types import to_arrow
from tidemark.functions.json_calls import Clauses, shape
from tidemark.functions.json_text import quote
from tidemark.functions.outcomes import Outcomes

Kernel = Callable[..., pa.Array]


def _kernel(call: ColumnCall, args: tuple[pl.Expr, ...], kinds: tuple[t.DataType, ...]) -> pl.Expr:
    """The function's own kernel over these columns."""
    kernel = call.function.python
    assert kernel is not None
    return _computed(call, kernel, args, kinds, call.result, may_fail=call.function.may_fail)


def _computed(
    call: ColumnCall,
    kernel: Kernel,
    args: tuple[pl.Expr, ...],
    kinds: tuple[t.DataType, ...],
    result: t.DataType,
    *,
    may_fail: bool = True,
) -> pl.Expr:
    if not may_fail:
        return call.active.batches(lambda *c: _series(kernel(*_arrays(c, kinds))), args, result)
    rows = call.active.rows
    asked = pl.lit(True) if rows is None else rows

    def compute(*columns: pl.Series) -> pl.Series:
        outcomes = Outcomes(kernel)(*_arrays(columns[:-1], kinds))
        failures = _series(outcomes.field("failure")).filter(columns[-1]).drop_nulls()
        if len(failures):
            raise DataError(failures[0])
        return _series(outcomes.field("value"))

    return call.active.batches(compute, (*args, asked), result)


def _arrays(columns: tuple[pl.Series, ...], kinds: tuple[t.DataType, ...]) -> list[pa.Array]:
    return [
        column.to_arrow().cast(to_arrow(kind)) if _is_flat(kind) else column.to_arrow()
        for column, kind in zip(columns, kinds, strict=True)
    ]


def _is_flat(kind: t.DataType) -> bool:
    return not isinstance(kind, t.Row | t.Array | t.Map | t.Multiset)


def _series(array: pa.Array) -> pl.Series:
    series = pl.from_arrow(array)
    assert isinstance(series, pl.Series)
    return series


def _whole(call: ColumnCall) -> pl.Expr:
    """A function whose kernel takes the arguments as they are."""
    return _kernel(call, call.args, tuple(argument.type for argument in call.arguments))


def _clauses(call: ColumnCall) -> Clauses:
    clauses = call.function.clauses
    return clauses if isinstance(clauses, Clauses) else Clauses()


def _with_words(call: ColumnCall, *words: str) -> pl.Expr:
    """The kernel takes what the clauses say after the string and the path."""
    args = (*call.args[:2], *(pl.lit(word) for word in words))
    return _kernel(call, args, (t.STRING,) * len(args))


def _exists(call: ColumnCall) -> pl.Expr:
    return _with_words(call, _clauses(call).on_error or "FALSE")


def _query(call: ColumnCall) -> pl.Expr:
    said = _clauses(call)
    words = (said.wrapper or "WITHOUT ARRAY", said.on_empty or "NULL", said.on_error or "NULL")
    return _with_words(call, *words)


def _value(call: ColumnCall) -> pl.Expr:
    said = _clauses(call)
    behaviors = (said.on_empty or "NULL", said.on_error or "NULL")
    defaults = list(call.args[2:])
    kind = call.result
    values = [
        defaults.pop(0) if behavior == "DEFAULT" else pl.lit(None).cast(pl.Null)
        for behavior in behaviors
    ]
    args = (*call.args[:2], *(pl.lit(word) for word in behaviors), *values)
    return _kernel(call, args, (*(t.STRING,) * 4, kind, kind))


# --- writing JSON ------------------------------------------------------------------------------


def _written(call: ColumnCall, place: int) -> pl.Expr:
    """An argument as JSON; NULL stays NULL."""
    type_ = call.type(place)
    if isinstance(type_, t.Null):
        return pl.lit(None, dtype=pl.String)
    fields = shape(type_)
    args = (call.args[place], *([pl.lit(json.dumps(fields))] if fields else []))
    kinds = (type_, t.STRING)[: len(args)]
    return _computed(call, json_writing.write, args, kinds, t.STRING)


def _object(call: ColumnCall) -> pl.Expr:
    """Keys are sorted; of a key that is repeated, the last value counts that is not left out."""
    members: dict[str, list[pl.Expr]] = {}
    for place in range(0, len(call.args), 2):
        text = _element(call, place + 1, _clauses(call).on_null)
        members.setdefault(call.literal(place), []).insert(0, text)
    written = [
        pl.lit(quote(key) + ":") + pl.coalesce(*members[key])
        for key in sorted(members, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
    ]
    return _listed("{", written, "}")


def _array(call: ColumnCall) -> pl.Expr:
    on_null = _clauses(call).on_null or "ABSENT"
    return _listed("[", [_element(call, place, on_null) for place in range(len(call.args))], "]")


def _element(call: ColumnCall, place: int, on_null: str | None) -> pl.Expr:
    is_json = place in _clauses(call).raw
    text = call.args[place] if is_json else _written(call, place)
    return text if on_null == "ABSENT" else text.fill_null("null")


def _listed(start: str, parts: list[pl.Expr], end: str) -> pl.Expr:
    if not parts:
        return pl.lit(start + end)
    listed: Any = pl.concat_str(*parts, separator=",", ignore_nulls=True)
    return pl.concat_str(pl.lit(start), listed, pl.lit(end))


COLUMNS: dict[str, WriteColumn] = {
    **{f"IS JSON {kind}": _whole for kind in ("VALUE", "SCALAR", "ARRAY", "OBJECT")},
    "JSON": _whole,
    "JSON_QUOTE": _whole,
    "JSON_UNQUOTE": _whole,
    "JSON_EXISTS": _exists,
    "JSON_QUERY": _query,
    "JSON_QUERY RETURNING ARRAY": _query,
    "JSON_VALUE": _value,
    **{f"JSON_VALUE RETURNING {kind}": _value for kind in ("BOOLEAN", "INT", "DOUBLE")},
    "JSON_STRING": lambda call: _written(call, 0),
    "JSON_OBJECT": _object,
    "JSON_ARRAY": _array,
}
