"""ROW, ARRAY and MAP values, and element access with `[]`."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar
from tidemark.functions.spark_text import safe_names, string


def _row_of(arguments: tuple[Argument, ...]) -> t.DataType:
    fields = (t.Field(f"EXPR${i}", argument.type) for i, argument in enumerate(arguments))
    return t.Row(tuple(fields), nullable=False)


def _write_row(call: SparkCall) -> str:
    assert isinstance(call.result, t.Row)
    names = safe_names([field.name for field in call.result.fields])
    pairs = (f"{string(name)}, {arg}" for name, arg in zip(names, call.args, strict=True))
    return f"named_struct({', '.join(pairs)})"


def _one_type(arguments: tuple[Argument, ...], what: str) -> t.DataType:
    common = t.common_type([argument.type for argument in arguments])
    if common is None:
        raise SignatureMismatch(f"the {what} do not have a common type")
    return common


def _elements(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    common = _one_type(arguments, "elements of the array")
    return (common,) * len(arguments)


def _array_of(arguments: tuple[Argument, ...]) -> t.DataType:
    return t.Array(arguments[0].type, nullable=False)


def _entries(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    if len(arguments) % 2:
        raise SignatureMismatch("a map needs a value for each key; the last key has none")
    key = _one_type(arguments[::2], "keys of the map")
    value = _one_type(arguments[1::2], "values of the map")
    return (key, value) * (len(arguments) // 2)


def _map_of(arguments: tuple[Argument, ...]) -> t.DataType:
    return t.Map(arguments[0].type, arguments[1].type, nullable=False)


def _write_map(call: SparkCall) -> str:
    # The last value of a key wins. Keys with the same SQL are merged here; whether Spark accepts
    # keys that turn out equal at run time depends on its setting `spark.sql.mapKeyDedupPolicy`.
    entries = dict(zip(call.args[::2], call.args[1::2], strict=True))
    return f"map({', '.join(f'{key}, {value}' for key, value in entries.items())})"


def _index(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    collection, index = arguments
    if isinstance(collection.type, t.Map):
        key = collection.type.key
        if t.common_type((key, index.type)) is None:
            raise SignatureMismatch(f"the map's keys are {key.text()}, not {index.type.text()}")
        return collection.type, key.with_nullable(True)
    if not isinstance(index.type, t.Int | t.Null):
        raise SignatureMismatch(f"an array index must be INT, not {index.type.text()}")
    if isinstance(index.value, int) and index.value < 1:
        raise SignatureMismatch(f"array indexes start at 1, not {index.value}")
    return collection.type, index.type


def _item_type(arguments: tuple[Argument, ...]) -> t.DataType:
    collection = arguments[0].type
    item = collection.value if isinstance(collection, t.Map) else _element(collection)
    return item.with_nullable(True)


def _element(collection: t.DataType) -> t.DataType:
    assert isinstance(collection, t.Array)
    return collection.element


def _write_item(call: SparkCall) -> str:
    collection, index = call.args
    if isinstance(call.type(0), t.Map):
        return f"try_element_at({collection}, {index})"
    literal = call.literal(1)
    place = str(literal - 1) if isinstance(literal, int) else f"{index} - 1"
    return f"get({collection}, {place})"


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "ROW",
        "(any...)",
        _row_of,
        _write_row,
        strict=False,
        category="construction",
        summary="A row of the values.",
    ),
    scalar(
        "ARRAY",
        "(any, any...)",
        _array_of,
        "array({*})",
        strict=False,
        converts=_elements,
        category="construction",
        summary="An array of the values, cast to a common type.",
    ),
    scalar(
        "MAP",
        "(any, any, any...)",
        _map_of,
        _write_map,
        strict=False,
        converts=_entries,
        category="construction",
        summary="A map of alternating keys and values; for duplicate keys the last value wins.",
    ),
    scalar(
        "ITEM",
        ("(array, any)", "(map, any)"),
        _item_type,
        _write_item,
        strict=False,
        converts=_index,
        summary="The element at a 1-based index, or the value of a key; NULL if there is none.",
        category="construction",
    ),
)
