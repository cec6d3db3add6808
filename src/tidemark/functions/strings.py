"""Functions over character strings.

Spark and Flink both count characters as code points almost everywhere. Flink's LPAD, RPAD and
OVERLAY count UTF-16 units instead and can split a character outside the basic plane; here they
never do.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidemark import types as t
from tidemark.functions.java_regex import quoted_replacement
from tidemark.functions.registry import Argument, Function, SignatureMismatch, SparkCall, scalar

ReturnType = Callable[[tuple[Argument, ...]], t.DataType]
Write = Callable[[SparkCall], str]


# --- result types ------------------------------------------------------------------------------


def _as_first(arguments: tuple[Argument, ...]) -> t.DataType:
    """The type of the first argument, length included."""
    first = arguments[0].type
    return t.STRING if isinstance(first, t.Null) else first


def _shortened(index: int) -> ReturnType:
    """VARCHAR as long as an argument can be: for functions that only remove characters."""

    def returns(arguments: tuple[Argument, ...]) -> t.DataType:
        text = arguments[index].type
        return t.VarChar(text.length) if isinstance(text, t.Char | t.VarChar) else t.STRING

    return returns


def _overlaid(arguments: tuple[Argument, ...]) -> t.DataType:
    lengths = [a.type.length for a in arguments[:2] if isinstance(a.type, t.Char | t.VarChar)]
    return t.VarChar(min(sum(lengths), t.MAX_LENGTH)) if len(lengths) == 2 else t.STRING


def _null_with_first(arguments: tuple[Argument, ...]) -> t.DataType:
    return t.STRING.with_nullable(arguments[0].type.nullable)


def _null_with_any(arguments: tuple[Argument, ...]) -> t.DataType:
    return t.STRING.with_nullable(any(argument.type.nullable for argument in arguments))


def _padded(arguments: tuple[Argument, ...]) -> t.DataType:
    """NULL for a negative length or an empty filler, which Flink's type does not say."""
    _, size, filler = arguments
    fits = isinstance(size.value, int) and size.value >= 0
    fills = isinstance(filler.value, str) and filler.value != ""
    return t.STRING.with_nullable(not (fits and fills) or any(a.type.nullable for a in arguments))


# --- parts of a string -------------------------------------------------------------------------


def _is_at_least(call: SparkCall, index: int, least: int) -> bool:
    value = call.literal(index)
    return isinstance(value, int) and value >= least


def _write_substring(call: SparkCall) -> str:
    """Positions start at one; negative ones count from the end; past the end it is the empty
    string.

    Spark agrees except for a start before the string and for a negative length.
    """
    text, start, *length = call.args
    cases = ""
    if length and not _is_at_least(call, 2, 0):
        cases += f"WHEN {length[0]} < 0 THEN NULL "
    if not _is_at_least(call, 1, 0):
        # Written so that a NULL length still gives NULL.
        nothing = f"substring('', 1, {length[0]})" if length else "''"
        cases += f"WHEN {start} < -char_length({text}) THEN {nothing} "
    part = f"substring({', '.join(call.args)})"
    return f"CASE {cases}ELSE {part} END" if cases else part


def _write_overlay(call: SparkCall) -> str:
    """A position outside the string replaces nothing; a length of zero drops the rest."""
    text, new, start, *length = call.args
    count = length[0] if length else f"char_length({new})"
    if not _is_at_least(call, 3, 1):
        to_the_end = 1_000_000_000
        count = f"CASE WHEN {count} <= 0 THEN {to_the_end} ELSE {count} END"
    given = " AND ".join(f"{argument} IS NOT NULL" for argument in (new, *length))
    return (
        f"CASE WHEN {given} AND NOT ({start} BETWEEN 1 AND char_length({text})) "
        f"THEN {text} ELSE overlay({text}, {new}, {start}, {count}) END"
    )


def _write_pad(function: str) -> Write:
    def write(call: SparkCall) -> str:
        padded = f"{function}({', '.join(call.args)})"
        if _is_at_least(call, 1, 0) and call.literal(2):
            return padded
        return f"CASE WHEN {call.args[1]} < 0 OR {call.args[2]} = '' THEN NULL ELSE {padded} END"

    return write


def _write_trim(call: SparkCall) -> str:
    if len(call.args) == 1:
        return f"trim({call.args[0]})"
    return f"trim({call.literal(0)} {call.args[1]} FROM {call.args[2]})"


def _write_trimmed_side(side: str) -> Write:
    def write(call: SparkCall) -> str:
        characters = call.args[1] if len(call.args) == 2 else "' '"
        return f"trim({side} {characters} FROM {call.args[0]})"

    return write


# --- searching and replacing -------------------------------------------------------------------


def _write_position(call: SparkCall) -> str:
    """The position of a string; a start below one counts as one."""
    if len(call.args) == 2 or _is_at_least(call, 2, 1):
        return f"locate({', '.join(call.args)})"
    wanted, text, start = call.args
    # Without the test, Spark would take a NULL start as zero, and find nothing.
    located = f"locate({wanted}, {text}, greatest({start}, 1))"
    return f"CASE WHEN {start} IS NOT NULL THEN {located} END"


def _searched(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    if len(arguments) == 4:
        number = arguments[3].value
        if not isinstance(number, int) or number < 1:
            raise SignatureMismatch("the number of the occurrence must be a literal from 1 on")
    return tuple(argument.type for argument in arguments)


def _write_instr(call: SparkCall) -> str:
    """Like POSITION, but zero finds nothing and a negative start searches backward from the end."""
    text, wanted, *rest = call.args
    start, number = "".join(rest[:1]), call.literal(3) or 1
    forwards = _occurrence(wanted, text, start, number)
    if not start or _is_at_least(call, 2, 0):
        return forwards
    backwards = _occurrence(f"reverse({wanted})", f"reverse({text})", f"-({start})", number)
    return (
        f"CASE WHEN {start} IS NULL THEN NULL "
        f"WHEN {start} >= 0 THEN {forwards} WHEN {backwards} = 0 THEN 0 "
        f"ELSE char_length({text}) + 2 - {backwards} - char_length({wanted}) END"
    )


def _occurrence(wanted: str, text: str, start: str, number: int) -> str:
    """Where a string is found for the n-th time; the next one may overlap it."""
    first = f"locate({', '.join(filter(None, (wanted, text, start)))})"
    if number == 1:
        return first
    following = f"if(_tm_at > 0, locate({wanted}, {text}, _tm_at + 1), _tm_at)"
    return f"aggregate(sequence(2, {number}), {first}, (_tm_at, _tm_number) -> {following})"


def _write_replace(call: SparkCall) -> str:
    """Replacing the empty string puts the new one around every character."""
    replaced = f"replace({', '.join(call.args)})"
    if call.literal(1):
        return replaced
    text, wanted, new = call.args
    around = f"regexp_replace({text}, '', {quoted_replacement(new, call.literal(2))})"
    return f"CASE WHEN {wanted} = '' THEN {around} ELSE {replaced} END"


# --- others ------------------------------------------------------------------------------------


def _write_initcap(call: SparkCall) -> str:
    """Words are runs of ASCII letters and digits; everything else is unchanged."""
    words = f"regexp_extract_all({call.args[0]}, '[A-Za-z0-9]+|[^A-Za-z0-9]+', 0)"
    capitalised = "concat(upper(left(_tm_word, 1)), lower(substring(_tm_word, 2)))"
    each = f"CASE WHEN _tm_word RLIKE '^[A-Za-z0-9]' THEN {capitalised} ELSE _tm_word END"
    return f"array_join(transform({words}, _tm_word -> {each}), '')"


def _elements(arguments: tuple[Argument, ...]) -> tuple[t.DataType, ...]:
    index, *elements = arguments
    if isinstance(index.value, int) and index.value < 0:
        raise SignatureMismatch(f"the index of ELT starts at 1, not {index.value}")
    common = t.common_type([element.type for element in elements])
    if common is None:
        raise SignatureMismatch("ELT takes either strings or bytes, not both")
    return (index.type, *(common.with_nullable(element.type.nullable) for element in elements))


def _write_elt(call: SparkCall) -> str:
    index, *elements = call.args
    cases = " ".join(f"WHEN {n} THEN {element}" for n, element in enumerate(elements, start=1))
    return f"CASE {index} {cases} END"


def _write_ascii(call: SparkCall) -> str:
    # Flink returns the first byte of the UTF-8 string as a signed Java byte.
    first_byte = f"ascii(decode(encode(left({call.args[0]}, 1), 'UTF-8'), 'ISO-8859-1'))"
    return f"(({first_byte} + 128) % 256 - 128)"


def _string(
    name: str,
    signature: str | tuple[str, ...],
    returns: t.DataType | ReturnType,
    spark: str | Write,
    summary: str,
    **more: Any,
) -> Function:
    return scalar(name, signature, returns, spark, category="string", summary=summary, **more)


_ONE_OR_TWO = ("(character)", "(character, character)")

FUNCTIONS: tuple[Function, ...] = (
    _string("UPPER", "(character)", _as_first, "upper({0})", "The string in upper case."),
    _string("LOWER", "(character)", _as_first, "lower({0})", "The string in lower case."),
    _string(
        "INITCAP",
        "(character)",
        _as_first,
        _write_initcap,
        "The string with each word of ASCII letters and digits capitalized.",
    ),
    _string(
        "TRIM",
        ("(character)", "(symbol, character, character)"),
        lambda arguments: _shortened(len(arguments) - 1)(arguments),
        _write_trim,
        "The string without spaces, or the given characters, at one or both ends.",
    ),
    _string(
        "LTRIM",
        _ONE_OR_TWO,
        _shortened(0),
        _write_trimmed_side("LEADING"),
        "The string without leading spaces, or the given characters.",
    ),
    _string(
        "RTRIM",
        _ONE_OR_TWO,
        _shortened(0),
        _write_trimmed_side("TRAILING"),
        "The string without trailing spaces, or the given characters.",
    ),
    _string(
        "BTRIM",
        ("(string)", "(string, string)"),
        t.STRING,
        _write_trimmed_side("BOTH"),
        "The string without leading and trailing spaces, or the given characters.",
    ),
    _string(
        "CHAR_LENGTH",
        "(character)",
        t.Int(),
        "char_length({0})",
        "The number of characters.",
        aliases=("CHARACTER_LENGTH",),
    ),
    _string(
        "POSITION",
        "(string, string, [int])",
        t.Int(),
        _write_position,
        "The 1-based position of the first string in the second; 0 if it is not found.",
        aliases=("LOCATE",),
    ),
    _string(
        "INSTR",
        "(string, string, [int], [int])",
        t.Int(),
        _write_instr,
        "The position of the second string in the first; a negative start searches from the end. "
        "The fourth argument counts occurrences.",
        converts=_searched,
    ),
    _string(
        "SUBSTRING",
        "(character, int, [int])",
        _shortened(0),
        _write_substring,
        "The substring from a 1-based position; a negative one counts from the end.",
        aliases=("SUBSTR",),
        strict=False,
    ),
    _string(
        "LEFT",
        "(character, int)",
        _shortened(0),
        "left({0}, {1})",
        "The first characters.",
        strict=False,
    ),
    _string(
        "RIGHT",
        "(character, int)",
        _shortened(0),
        "right({0}, {1})",
        "The last characters.",
        strict=False,
    ),
    _string(
        "REPLACE",
        "(string, string, string)",
        t.STRING,
        _write_replace,
        "The string with each occurrence of the second string replaced by the third.",
    ),
    _string(
        "TRANSLATE",
        "(string, string, string)",
        _null_with_first,
        "translate({0}, coalesce({1}, ''), coalesce({2}, ''))",
        "The string with characters of the second string replaced by those of the third.",
        aliases=("TRANSLATE3",),
        strict=False,
    ),
    _string(
        "OVERLAY",
        "(character, character, int, [int])",
        _overlaid,
        _write_overlay,
        "The string with the characters from a position on replaced by another string.",
    ),
    _string("REPEAT", "(string, int)", t.STRING, "repeat({0}, {1})", "The string repeated."),
    _string(
        "REVERSE",
        "(string)",
        t.STRING,
        "reverse({0})",
        "The string reversed.",
        strict=False,
    ),
    _string(
        "LPAD",
        "(string, int, string)",
        _padded,
        _write_pad("lpad"),
        "The string padded on the left, or cut, to a length.",
        strict=False,
    ),
    _string(
        "RPAD",
        "(string, int, string)",
        _padded,
        _write_pad("rpad"),
        "The string padded on the right, or cut, to a length.",
        strict=False,
    ),
    _string(
        "CONCAT",
        "(string, string...)",
        t.STRING,
        "concat({*})",
        "The strings concatenated; NULL if any of them is NULL.",
    ),
    _string(
        "CONCAT_WS",
        "(string, string...)",
        _null_with_any,
        "concat_ws({*})",
        "The non-NULL strings joined by the first one.",
        strict=False,
    ),
    _string(
        "ELT",
        ("(int, character, character...)", "(int, bytes, bytes...)"),
        lambda arguments: arguments[1].type.with_nullable(True),
        _write_elt,
        "The argument at a 1-based index.",
        strict=False,
        converts=_elements,
    ),
    _string(
        "STARTSWITH",
        ("(string, string)", "(bytes, bytes)"),
        t.Boolean(),
        "startswith({0}, {1})",
        "Whether the string starts with another.",
    ),
    _string(
        "ENDSWITH",
        ("(string, string)", "(bytes, bytes)"),
        t.Boolean(),
        "endswith({0}, {1})",
        "Whether the string ends with another.",
    ),
    _string(
        "ASCII",
        "(string)",
        t.Int(),
        _write_ascii,
        "The first byte of the string; 0 if it is empty.",
    ),
    _string(
        "CHR",
        "(bigint)",
        t.STRING,
        "chr({0})",
        "The character with a code, taken modulo 256.",
        strict=False,
    ),
)
