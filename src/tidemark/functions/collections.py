"""Functions of arrays, maps and multisets."""

from __future__ import annotations

from tidemark import types as t
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar
from tidemark.functions.spark_text import bound, string


def _element_of(type_: t.DataType) -> t.DataType:
    assert isinstance(type_, t.Array)
    return type_.element


def _own_type(arguments: tuple[Argument, ...]) -> t.DataType:
    return arguments[0].type


def _element_type(arguments: tuple[Argument, ...]) -> t.DataType:
    return _element_of(arguments[0].type).with_nullable(True)


# --- arguments that must suit the array --------------------------------------------------------


def _with_element(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    """An array and a value that it can contain."""
    array, value = (argument.type for argument in arguments)
    if isinstance(array, t.Null):
        return t.Array(value.with_nullable(True)), value
    element = _element_of(array)
    if isinstance(element, t.CHARACTERS) and isinstance(value, t.CHARACTERS):
        # A longer string is truncated to the length of the elements.
        return array, element.with_nullable(value.nullable)
    if not _can_hold(element, value):
        raise SignatureMismatch(f"{value.text()} cannot be an element of {array.text()}")
    # A value of another type is converted, to NULL if elements may be NULL.
    converted = not element.same_as(value)
    return array, element.with_nullable(value.nullable or (converted and element.nullable))


def _can_hold(element: t.DataType, value: t.DataType) -> bool:
    """Whether a value becomes an element. Digits and fractions that are too many do not matter."""
    if isinstance(element, t.Decimal) and isinstance(value, t.NUMERICS):
        return True
    if isinstance(element, t.TIMESTAMPS) and type(value) is type(element):
        return True
    common = t.widest_type((element, value))
    return common is not None and common.same_as(element)


def _with_new_element(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    array, element = _with_element(arguments)
    if not element.nullable:
        return array, element
    # In Flink, an array to which NULL may be added may be NULL itself.
    return t.Array(_element_of(array).with_nullable(True)), element


def _arrays_alike(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    common = t.widest_type([argument.type for argument in arguments])
    if common is None:
        kinds = ", ".join(argument.type.text() for argument in arguments)
        raise SignatureMismatch(f"the arguments do not have a common type: {kinds}")
    return tuple(common.with_nullable(argument.type.nullable) for argument in arguments)


def _strings(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    array = arguments[0].type
    if isinstance(array, t.Array) and not isinstance(array.element, t.CHARACTERS):
        raise SignatureMismatch(f"the elements of {array.text()} are not strings")
    return tuple(argument.type for argument in arguments)


# --- reading -----------------------------------------------------------------------------------


def _write_only_element(call: SparkCall) -> str:
    message = string("ELEMENT needs an array with at most one element")
    return bound(
        call.args[0],
        lambda array: f"if(size({array}) > 1, raise_error({message}), get({array}, 0))",
    )


def _write_contains(call: SparkCall) -> str:
    array, value = call.args
    return f"exists({array}, _tm_x -> _tm_x <=> {value})"


def _write_remove(call: SparkCall) -> str:
    array, value = call.args
    return f"filter({array}, _tm_x -> NOT (_tm_x <=> {value}))"


def _write_slice(call: SparkCall) -> str:
    """From one position to another, both inclusive; negative positions count from the end."""
    start = call.args[1]
    end = call.args[2] if len(call.args) > 2 else "-1"
    return bound(call.args[0], lambda array: _slice(array, start, end))


def _slice(array: str, start: str, end: str) -> str:
    count = f"size({array})"
    first = f"greatest(if({start} < 0, {count} + {start} + 1, {start}), 1)"
    # Zero is the first position, also one before the first.
    last = f"if({end} IN (0, -{count} - 1), 1, if({end} < 0, {count} + {end} + 1, {end}))"
    length = f"greatest(least({last}, {count}) - {first} + 1, 0)"
    unknown = f"{array} IS NULL OR {start} IS NULL OR {end} IS NULL"
    return f"if({unknown}, NULL, slice({array}, {first}, {length}))"


# --- sorting -----------------------------------------------------------------------------------


def _write_sort(call: SparkCall) -> str:
    array, *flags = call.args
    ascending = flags[0] if flags else "TRUE"
    nulls_first = flags[1] if len(flags) > 1 else ascending
    return bound(array, lambda x: _sorted(x, ascending, nulls_first))


def _sorted(array: str, ascending: str, nulls_first: str) -> str:
    up = _choose(nulls_first, f"sort_array({array}, TRUE)", f"array_sort({array})")
    down = _choose(nulls_first, f"reverse(array_sort({array}))", f"sort_array({array}, FALSE)")
    return _choose(ascending, up, down)


def _choose(flag: str, when_true: str, otherwise: str) -> str:
    known = {"TRUE": when_true, "FALSE": otherwise}
    return known.get(flag, f"if({flag}, {when_true}, {otherwise})")


# --- maps and strings --------------------------------------------------------------------------


def _keys_type(arguments: tuple[Argument, ...]) -> t.DataType:
    type_ = arguments[0].type
    assert isinstance(type_, t.Map)
    return t.Array(type_.key)


def _values_type(arguments: tuple[Argument, ...]) -> t.DataType:
    type_ = arguments[0].type
    assert isinstance(type_, t.Map)
    return t.Array(type_.value)


def _entries_type(arguments: tuple[Argument, ...]) -> t.DataType:
    type_ = arguments[0].type
    assert isinstance(type_, t.Map)
    return t.Array(t.Row((t.Field("key", type_.key), t.Field("value", type_.value))))


def _map_type(arguments: tuple[Argument, ...]) -> t.DataType:
    keys, values = (_element_of(argument.type) for argument in arguments)
    return t.Map(keys, values)


def _write_split(call: SparkCall) -> str:
    text, delimiter = call.args
    known = call.literal(1)
    if isinstance(known, str):
        regex = string(_quoted(known))
    else:
        quoted = f"concat({string(_QUOTE)}, {delimiter}, {string(_UNQUOTE)})"
        regex = f"if({delimiter} = '', '', {quoted})"
    parts = f"split({{0}}, {regex}, -1)"
    empty = "CAST(array() AS ARRAY<STRING>)"
    given = "" if isinstance(known, str) else f" AND {delimiter} IS NOT NULL"
    return bound(text, lambda x: f"if({x} = ''{given}, {empty}, {parts.format(x)})")


_QUOTE, _UNQUOTE = "\\Q", "\\E"


def _quoted(delimiter: str) -> str:
    return f"{_QUOTE}{delimiter}{_UNQUOTE}" if delimiter else ""


def _cardinality(call: SparkCall) -> str:
    # Spark's size of NULL is -1 or NULL, depending on a setting.
    return bound(call.args[0], lambda x: f"if({x} IS NULL, NULL, size({x}))")


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "CARDINALITY",
        ("(array)", "(map)", "(multiset)"),
        t.Int(),
        _cardinality,
        category="collection",
        summary="The number of elements or entries.",
    ),
    scalar(
        "ELEMENT",
        "(array)",
        lambda arguments: _element_of(arguments[0].type),
        _write_only_element,
        strict=False,
        category="collection",
        summary="The only element of an array; fails if there are more.",
    ),
    scalar(
        "ARRAY_CONTAINS",
        "(array, any)",
        lambda arguments: t.Boolean(nullable=arguments[0].type.nullable),
        _write_contains,
        strict=False,
        converts=_with_element,
        category="collection",
        summary="Whether an array contains a value; NULL matches NULL elements.",
    ),
    scalar(
        "ARRAY_DISTINCT",
        "(array)",
        _own_type,
        "array_distinct({0})",
        category="collection",
        summary="The elements without duplicates.",
    ),
    scalar(
        "ARRAY_POSITION",
        "(array, any)",
        t.Int(),
        "CAST(array_position({0}, {1}) AS INT)",
        converts=_with_element,
        category="collection",
        summary="The 1-based position of the first element equal to a value; 0 if there is none.",
    ),
    scalar(
        "ARRAY_REMOVE",
        "(array, any)",
        _own_type,
        _write_remove,
        strict=False,
        converts=_with_element,
        category="collection",
        summary="The elements that are not equal to a value.",
    ),
    scalar(
        "ARRAY_REVERSE",
        "(array)",
        _own_type,
        "reverse({0})",
        category="collection",
        summary="The elements in reverse order.",
    ),
    scalar(
        "ARRAY_SLICE",
        "(array, int, [int])",
        _own_type,
        _write_slice,
        category="collection",
        summary="The elements from one position to another; negative positions count from the end.",
    ),
    *(
        scalar(
            name,
            "(array, array)",
            _own_type,
            f"{name.lower()}({{0}}, {{1}})",
            converts=_arrays_alike,
            category="collection",
            summary=f"The elements in {which}, without duplicates.",
        )
        for name, which in (
            ("ARRAY_UNION", "either array"),
            ("ARRAY_EXCEPT", "the first array but not in the second"),
            ("ARRAY_INTERSECT", "both arrays"),
        )
    ),
    scalar(
        "ARRAY_CONCAT",
        "(array, array...)",
        _own_type,
        "concat({*})",
        converts=_arrays_alike,
        category="collection",
        summary="The arrays concatenated.",
    ),
    scalar(
        "ARRAY_APPEND",
        "(array, any)",
        _own_type,
        "array_append({0}, {1})",
        strict=False,
        converts=_with_new_element,
        category="collection",
        summary="The array with an element added at the end.",
    ),
    scalar(
        "ARRAY_PREPEND",
        "(array, any)",
        _own_type,
        "array_prepend({0}, {1})",
        strict=False,
        converts=_with_new_element,
        category="collection",
        summary="The array with an element added at the start.",
    ),
    scalar(
        "ARRAY_MAX",
        "(array)",
        _element_type,
        "array_max({0})",
        strict=False,
        category="collection",
        summary="The greatest non-NULL element.",
    ),
    scalar(
        "ARRAY_MIN",
        "(array)",
        _element_type,
        "array_min({0})",
        strict=False,
        category="collection",
        summary="The least non-NULL element.",
    ),
    scalar(
        "ARRAY_SORT",
        "(array, [boolean], [boolean])",
        _own_type,
        _write_sort,
        category="collection",
        summary="The elements sorted; the flags set ascending order and NULLs first.",
    ),
    scalar(
        "ARRAY_JOIN",
        "(array, string, [string])",
        t.STRING,
        "array_join({*})",
        converts=_strings,
        category="collection",
        summary="The strings joined by a delimiter; NULLs are left out or replaced.",
    ),
    scalar(
        "MAP_KEYS",
        "(map)",
        _keys_type,
        "map_keys({0})",
        category="collection",
        summary="The keys, in no particular order.",
    ),
    scalar(
        "MAP_VALUES",
        "(map)",
        _values_type,
        "map_values({0})",
        category="collection",
        summary="The values, in no particular order.",
    ),
    scalar(
        "MAP_ENTRIES",
        "(map)",
        _entries_type,
        "map_entries({0})",
        category="collection",
        summary="The entries as rows of key and value, in no particular order.",
    ),
    scalar(
        "MAP_FROM_ARRAYS",
        "(array, array)",
        _map_type,
        "map_from_arrays({0}, {1})",
        category="collection",
        summary="A map from an array of keys and an array of values.",
    ),
    scalar(
        "MAP_UNION",
        "(map, map...)",
        _own_type,
        "map_concat({*})",
        converts=_arrays_alike,
        category="collection",
        summary="The maps merged; for duplicate keys the last map wins.",
    ),
    scalar(
        "SPLIT",
        "(string, character)",
        t.Array(t.STRING),
        _write_split,
        category="collection",
        summary="The parts between delimiters; the characters if the delimiter is empty.",
    ),
    scalar(
        "TYPEOF",
        "(any, [boolean])",
        t.STRING,
        lambda call: string(str(call.type(0))),
        strict=False,
        category="collection",
        summary="The SQL type of the argument.",
    ),
)
