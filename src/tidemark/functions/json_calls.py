"""The JSON functions of the SQL standard, with their clauses.

The parser returns a `nodes.JsonCall`; the planner turns it into a call of the function that
`json_function(name, clauses)` creates. Its arguments are those of the call, followed by the values
of `DEFAULT ... ON EMPTY` and `DEFAULT ... ON ERROR`, in this order, if present. A function for
other than the usual clauses has a name of its own if its kernel's result differs, since Spark knows
kernels by name: `JSON_VALUE RETURNING INT`.

>>> from tidemark.functions.registry import Argument
>>> count = json_function("JSON_VALUE", Clauses(returning=t.Int()))
>>> str(count.resolve([Argument(t.STRING), Argument(t.STRING)]).result)
'INT'
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any

from tidemark import types as t
from tidemark.functions import json_kernels, json_writing
from tidemark.functions.json_paths import UnknownPath, check_path
from tidemark.functions.json_text import quote
from tidemark.functions.outcomes import value_of
from tidemark.functions.registry import (
    Argument,
    Function,
    SignatureMismatch,
    SparkCall,
    python_name,
    scalar,
)
from tidemark.functions.spark_text import string

_RETURNED_BY_VALUE = (t.VarChar, t.Boolean, t.Int, t.Double)
# Types that print without characters to escape. Decimals of a greater scale may print with
# exponents.
_PRINTED = (*t.INTEGERS, t.Boolean)
_PLAIN_SCALE = 6
_NOT_JSON = (t.Date, t.Time, *t.INTERVALS)


@dataclass(frozen=True, slots=True)
class Clauses:
    """The clauses of a JSON call besides its arguments; None if not written.

    `raw` are the indexes of arguments that already are JSON: calls of JSON_OBJECT, JSON_ARRAY and
    JSON, which nest without being quoted.
    """

    returning: t.DataType | None = None
    on_empty: str | None = None
    on_error: str | None = None
    wrapper: str | None = None
    on_null: str | None = None
    raw: frozenset[int] = frozenset()


_USUAL = Clauses()


@cache
def json_function(name: str, clauses: Clauses = _USUAL) -> Function:
    """The function for a JSON call with these clauses. Raises SignatureMismatch.

    It is made once, so that two calls that are written alike are equal: one of GROUP BY, say, and
    one of SELECT.
    """
    return _MAKERS[name](clauses)


# --- following paths ---------------------------------------------------------------------------


def _exists(clauses: Clauses) -> Function:
    behavior = string(clauses.on_error or "FALSE")
    return scalar(
        "JSON_EXISTS",
        "(string, string)",
        t.Boolean(),
        lambda call: _kernel_call("JSON_EXISTS", *call.args, behavior),
        strict=False,
        converts=_checked_path,
        python=json_kernels.exists,
        may_fail=True,
        clauses=clauses,
        category="json",
        summary="Whether the path finds a value that is not null.",
    )


def _value(clauses: Clauses) -> Function:
    returning = (clauses.returning or t.STRING).with_nullable(True)
    if not isinstance(returning, _RETURNED_BY_VALUE):
        raise SignatureMismatch(
            f"JSON_VALUE returns STRING, BOOLEAN, INT or DOUBLE, not {returning.text()}"
        )
    kind = "STRING" if isinstance(returning, t.VarChar) else returning.text()
    name = "JSON_VALUE" if kind == "STRING" else f"JSON_VALUE RETURNING {kind}"
    behaviors = (clauses.on_empty or "NULL", clauses.on_error or "NULL")

    def converts(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
        defaults = (returning,) * (len(arguments) - 2)
        return (*_checked_path(arguments)[:2], *defaults)

    def write(call: SparkCall) -> str:
        text, path, *defaults = call.args
        values = [
            defaults.pop(0) if behavior == "DEFAULT" else f"CAST(NULL AS {kind})"
            for behavior in behaviors
        ]
        return _kernel_call(name, text, path, *map(string, behaviors), *values)

    return scalar(
        name,
        "(string, string, any...)",
        returning,
        write,
        strict=False,
        converts=converts,
        python=json_kernels.VALUE_KERNELS[kind],
        may_fail=True,
        clauses=clauses,
        category="json",
        summary="The scalar at the path.",
    )


def _query(clauses: Clauses) -> Function:
    returning = (clauses.returning or t.STRING).with_nullable(True)
    is_array = returning.same_as(t.Array(t.STRING))
    if not is_array and not isinstance(returning, t.VarChar):
        raise SignatureMismatch(
            f"JSON_QUERY returns STRING or ARRAY<STRING>, not {returning.text()}"
        )
    behaviors = (clauses.on_empty or "NULL", clauses.on_error or "NULL")
    if is_array and "EMPTY OBJECT" in behaviors:
        raise SignatureMismatch("EMPTY OBJECT is not an ARRAY<STRING>")
    name = "JSON_QUERY RETURNING ARRAY" if is_array else "JSON_QUERY"
    constants = [string(word) for word in (clauses.wrapper or "WITHOUT ARRAY", *behaviors)]
    return scalar(
        name,
        "(string, string)",
        returning,
        lambda call: _kernel_call(name, *call.args, *constants),
        strict=False,
        converts=_checked_path,
        python=json_kernels.query_array if is_array else json_kernels.query,
        may_fail=True,
        clauses=clauses,
        category="json",
        summary="The object or array at the path.",
    )


def _checked_path(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    path = arguments[1].value
    if isinstance(path, str):
        try:
            check_path(path)
        except UnknownPath as problem:
            raise SignatureMismatch(str(problem)) from None
    return tuple(argument.type for argument in arguments)


def _kernel_call(name: str, *args: str) -> str:
    return value_of(f"{python_name(name)}({', '.join(args)})")


# --- writing JSON ------------------------------------------------------------------------------


def write_json(call: SparkCall, index: int, name: str) -> str:
    """An argument as JSON; NULL stays NULL."""
    argument, type_ = call.args[index], call.type(index)
    if isinstance(type_, t.Null):
        return "CAST(NULL AS STRING)"
    if isinstance(type_, t.CHARACTERS):
        # A string inside an array, without the array's brackets: it begins and ends with a quote.
        return f"nullif(btrim(to_json(array({argument})), '[]'), 'null')"
    is_plain = isinstance(type_, t.Decimal) and type_.scale <= _PLAIN_SCALE
    if is_plain or isinstance(type_, _PRINTED):
        return f"CAST({argument} AS STRING)"
    fields = shape(type_)
    return _kernel_call(name, argument, *([string(json.dumps(fields))] if fields else []))


def shape(type_: t.DataType) -> Any:
    """The field names of the ROWs in a type, if any: `[[name, shape], ...]` for a ROW, `{"each":
    shape}` for a collection, otherwise None.
    """
    if isinstance(type_, t.Row):
        return [[field.name, shape(field.type)] for field in type_.fields]
    if isinstance(type_, t.Array | t.Map):
        inside = shape(type_.value if isinstance(type_, t.Map) else type_.element)
        return {"each": inside} if inside else None
    return None


def check_json(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    """Reject arguments of types that cannot be written as JSON."""
    for type_ in chain.from_iterable(t.with_parts(argument.type) for argument in arguments):
        if isinstance(type_, _NOT_JSON):
            raise SignatureMismatch(
                f"{type_.text()} cannot be written as JSON; use CAST(... AS STRING)"
            )
    return tuple(argument.type for argument in arguments)


def _object(clauses: Clauses) -> Function:
    def converts(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
        for key in arguments[::2]:
            if not isinstance(key.value, str):
                raise SignatureMismatch("the keys of JSON_OBJECT must be string literals")
        return check_json(arguments)

    def write(call: SparkCall) -> str:
        members: dict[str, list[str]] = {}
        for place in range(0, len(call.args), 2):
            text = _element(call, place + 1, "JSON_OBJECT", clauses)
            members.setdefault(call.literal(place), []).insert(0, text)
        written = [
            f"concat({string(quote(key) + ':')}, {_first_written(members[key])})"
            for key in sorted(members, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        ]
        return f"concat({string('{')}, {_listed(written)}, {string('}')})"

    return _constructor(
        "JSON_OBJECT", clauses, write, converts, "A JSON object of keys and values."
    )


def _first_written(texts: list[str]) -> str:
    """The value of a key that may be repeated: the last one, unless it is NULL and absent."""
    return f"coalesce({', '.join(texts)})" if len(texts) > 1 else texts[0]


def _array(clauses: Clauses) -> Function:
    absent = Clauses(on_null=clauses.on_null or "ABSENT", raw=clauses.raw)

    def write(call: SparkCall) -> str:
        places = range(len(call.args))
        elements = [_element(call, place, "JSON_ARRAY", absent) for place in places]
        return f"concat('[', {_listed(elements)}, ']')"

    return _constructor("JSON_ARRAY", clauses, write, check_json, "A JSON array of values.")


def _element(call: SparkCall, index: int, name: str, clauses: Clauses) -> str:
    text = call.args[index] if index in clauses.raw else write_json(call, index, name)
    return text if clauses.on_null == "ABSENT" else f"coalesce({text}, 'null')"


def _listed(texts: list[str]) -> str:
    return f"concat_ws(',', {', '.join(texts)})" if texts else "''"


def _constructor(
    name: str,
    clauses: Clauses,
    write: Callable[[SparkCall], str],
    converts: Callable[[tuple[Argument, ...]], tuple[t.DataType, ...]],
    summary: str,
) -> Function:
    return scalar(
        name,
        "(any...)",
        t.STRING.with_nullable(False),
        write,
        strict=False,
        converts=converts,
        python=json_writing.write,
        may_fail=True,
        clauses=clauses,
        category="json",
        summary=summary,
    )


_MAKERS: dict[str, Callable[[Clauses], Function]] = {
    "JSON_EXISTS": _exists,
    "JSON_VALUE": _value,
    "JSON_QUERY": _query,
    "JSON_OBJECT": _object,
    "JSON_ARRAY": _array,
}
