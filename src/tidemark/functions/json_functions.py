"""The JSON functions: ordinary ones, and those of the standard without clauses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidemark import types as t
from tidemark.functions import json_kernels, json_writing
from tidemark.functions.json_calls import check_json, json_function, write_json
from tidemark.functions.outcomes import value_of
from tidemark.functions.registry import Function, python_name, scalar


def _kernel(
    name: str, returns: t.DataType, kernel: Callable[..., Any], summary: str, **more: Any
) -> Function:
    spark = f"{python_name(name)}({{0}})"
    return scalar(
        name, "(string)", returns, spark, python=kernel, category="json", summary=summary, **more
    )


def _is_json(kind: str, what: str) -> Function:
    return _kernel(
        f"IS JSON {kind}",
        t.Boolean(nullable=False),
        json_kernels.IS_JSON_KERNELS[kind],
        f"Whether the string is {what}; false for NULL.",
        strict=False,
    )


# JSON(string), which is only allowed inside JSON_OBJECT and JSON_ARRAY.
NESTED_JSON = scalar(
    "JSON",
    "(string)",
    t.STRING,
    lambda call: value_of(f"{python_name('JSON')}({call.args[0]})"),
    python=json_writing.normalize,
    may_fail=True,
    category="json",
    summary="A string that is already JSON, inserted as is.",
    strict=False,
)

FUNCTIONS: tuple[Function, ...] = (
    _is_json("VALUE", "JSON"),
    _is_json("SCALAR", "a JSON string, number, boolean or null"),
    _is_json("ARRAY", "a JSON array"),
    _is_json("OBJECT", "a JSON object"),
    _kernel("JSON_QUOTE", t.STRING, json_writing.quote, "The string as a quoted JSON string."),
    _kernel(
        "JSON_UNQUOTE",
        t.STRING,
        json_writing.unquote,
        "The content of a quoted JSON string; other strings unchanged.",
    ),
    scalar(
        "JSON_STRING",
        "(any)",
        t.STRING,
        lambda call: write_json(call, 0, "JSON_STRING"),
        converts=check_json,
        python=json_writing.write,
        may_fail=True,
        category="json",
        summary="The value as JSON.",
    ),
    json_function("JSON_EXISTS"),
    json_function("JSON_VALUE"),
    json_function("JSON_QUERY"),
    json_function("JSON_OBJECT"),
    json_function("JSON_ARRAY"),
)
