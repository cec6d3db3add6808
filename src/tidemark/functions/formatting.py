"""PRINTF: values formatted with a Java format string."""

from __future__ import annotations

import re

from tidemark import types as t
from tidemark.functions.registry import Argument, Function, SignatureMismatch, scalar

_PLACE = re.compile(r"%(?:(\d+)\$)?[-#+ 0,(]*\d*(?:\.\d+)?([a-zA-Z%])")
_WRITES: dict[str, tuple[type[t.DataType], ...]] = {
    **dict.fromkeys("sSbB", (*t.CHARACTERS, *t.NUMERICS, t.Boolean)),
    **dict.fromkeys("doxX", t.INTEGERS),
    **dict.fromkeys("cC", (t.TinyInt, t.SmallInt, t.Int)),
    **dict.fromkeys("eEfgG", (t.Float, t.Double)),
}


def _checked(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    """A constant format must fit its values: Flink would silently return NULL."""
    format_, *values = arguments
    if isinstance(format_.value, str):
        _check(format_.value, [value.type for value in values])
    return tuple(argument.type for argument in arguments)


def _check(format_: str, types: list[t.DataType]) -> None:
    following = 0
    for number, conversion in _PLACE.findall(format_):
        if conversion in "n%":
            continue
        following += not number
        place = int(number) if number else following
        if not 1 <= place <= len(types):
            raise SignatureMismatch(
                f"the format refers to argument {place}, but there are {len(types)}"
            )
        if not isinstance(types[place - 1], (*_WRITES.get(conversion, ()), t.Null)):
            raise SignatureMismatch(f"%{conversion} cannot format {types[place - 1].text()}")
    if "%" in _PLACE.sub("", format_):
        raise SignatureMismatch(
            "a % in the format does not start a conversion; write %% for a percent sign"
        )


FUNCTIONS: tuple[Function, ...] = (
    scalar(
        "PRINTF",
        "(string, any...)",
        t.STRING,
        "format_string({*})",
        category="string",
        summary="The values formatted as by Java's `String.format`.",
        strict=False,
        converts=_checked,
    ),
)
