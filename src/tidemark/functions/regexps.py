"""Functions that search strings with Java's regular expressions, which Spark uses as well.

`java_regex` finds the differences: an invalid pattern, a group that does not exist, and a group
that did not participate in the match are NULL here. If the pattern is only known at run time, or a
group is optional, an empty group is NULL too.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tidemark import types as t
from tidemark.functions import java_regex
from tidemark.functions.java_regex import quoted_replacement, sound
from tidemark.functions.registry import Argument, Function, SparkCall, scalar
from tidemark.functions.spark_text import string

# Finds the parentheses of a pattern that open a group: skips escapes and classes.
_GROUP_OPENINGS = r"(?s)\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(\((?!\?)|\(\?<(?![=!]))"


def _pattern(call: SparkCall) -> str:
    return sound(call.args[1], call.literal(1))


def _known(call: SparkCall) -> java_regex.Pattern | None:
    value = call.literal(1)
    return java_regex.read(value) if isinstance(value, str) else None


def _write_regexp(call: SparkCall) -> str:
    """Whether the pattern is found; an empty or invalid pattern never is."""
    text, pattern = call.args
    found = f"({text} RLIKE {_pattern(call)})"
    if call.literal(1) and _known(call):
        return found
    given = f"{text} IS NOT NULL AND {pattern} IS NOT NULL"
    return f"CASE WHEN {given} THEN {pattern} <> '' AND coalesce({found}, FALSE) END"


def _write_found(call: SparkCall, group: int) -> str:
    text, pattern = call.args[0], _pattern(call)
    return f"CASE WHEN {text} RLIKE {pattern} THEN regexp_extract({text}, {pattern}, {group}) END"


def _write_extract(call: SparkCall) -> str:
    """The first match of the whole pattern or of one of its groups."""
    text, pattern, known = call.args[0], _pattern(call), _known(call)
    group = call.literal(2) if len(call.args) == 3 else 0
    if group == 0:
        return _write_found(call, 0)
    if known is None or not isinstance(group, int):
        index = _index(call)
        extracted = f"regexp_extract({text}, {pattern}, {index})"
        return (
            f"CASE WHEN NOT ({call.args[2]} BETWEEN 0 AND {_group_count(call)}) "
            f"OR NOT ({text} RLIKE {pattern}) THEN NULL "
            f"WHEN {call.args[2]} = 0 THEN {extracted} ELSE nullif({extracted}, '') END"
        )
    if not 0 < group <= known.groups:
        return "CAST(NULL AS STRING)"
    if known.always_matched[group - 1]:
        return _write_found(call, group)
    return f"nullif(regexp_extract({text}, {pattern}, {group}), '')"


def _write_extract_all(call: SparkCall) -> str:
    """All matches of one group, by default the first."""
    text, pattern, known = call.args[0], _pattern(call), _known(call)
    group = call.literal(2) if len(call.args) == 3 else 1
    if known is None or not isinstance(group, int):
        index = _index(call) if len(call.args) == 3 else "1"
        matches = f"regexp_extract_all({text}, {pattern}, {index})"
        each = f"CASE WHEN {index} = 0 THEN _tm_match ELSE nullif(_tm_match, '') END"
        return (
            f"CASE WHEN {index} BETWEEN 0 AND {_group_count(call)} "
            f"THEN transform({matches}, _tm_match -> {each}) END"
        )
    if not 0 <= group <= known.groups:
        return "CAST(NULL AS ARRAY<STRING>)"
    matches = f"regexp_extract_all({text}, {pattern}, {group})"
    if group == 0 or known.always_matched[group - 1]:
        return matches
    return f"transform({matches}, _tm_match -> nullif(_tm_match, ''))"


def _index(call: SparkCall) -> str:
    index = call.args[2]
    return f"CAST({index} AS INT)" if isinstance(call.type(2), t.BigInt) else index


def _group_count(call: SparkCall) -> str:
    known = _known(call)
    if known is not None:
        return str(known.groups)
    openings = f"regexp_extract_all({call.args[1]}, {string(_GROUP_OPENINGS)}, 1)"
    return f"size(filter({openings}, _tm_opening -> _tm_opening <> ''))"


def _write_replace(call: SparkCall) -> str:
    new = quoted_replacement(call.args[2], call.literal(2))
    return f"regexp_replace({call.args[0]}, {_pattern(call)}, {new})"


def _replaced(arguments: tuple[Argument, ...]) -> t.DataType:
    """NULL for an invalid pattern or a group that does not exist."""
    pattern, new = arguments[1].value, arguments[2].value
    valid = isinstance(pattern, str) and java_regex.read(pattern) is not None
    plain = isinstance(new, str) and not re.search(r"[$\\]", new)
    return t.STRING.with_nullable(
        not (valid and plain) or any(argument.type.nullable for argument in arguments)
    )


def _regexp(
    name: str,
    signature: str,
    returns: t.DataType | Callable[[tuple[Argument, ...]], t.DataType],
    spark: Callable[[SparkCall], str],
    summary: str,
    *,
    strict: bool = False,
) -> Function:
    return scalar(
        name, signature, returns, spark, category="string", summary=summary, strict=strict
    )


FUNCTIONS: tuple[Function, ...] = (
    _regexp(
        "REGEXP",
        "(string, string)",
        t.Boolean(),
        _write_regexp,
        "Whether the regular expression matches part of the string.",
        strict=True,
    ),
    _regexp(
        "REGEXP_EXTRACT",
        "(string, string, [integer])",
        t.STRING,
        _write_extract,
        "The first match of the regular expression, or of one of its groups.",
    ),
    _regexp(
        "REGEXP_EXTRACT_ALL",
        "(string, string, [integer])",
        t.Array(t.STRING),
        _write_extract_all,
        "All matches of one group of the regular expression, by default the first.",
    ),
    _regexp(
        "REGEXP_REPLACE",
        "(string, string, string)",
        _replaced,
        _write_replace,
        "The string with each match of the regular expression replaced.",
    ),
    _regexp(
        "REGEXP_COUNT",
        "(string, string)",
        t.Int(),
        lambda call: f"regexp_count({call.args[0]}, {_pattern(call)})",
        "The number of matches of the regular expression.",
    ),
    _regexp(
        "REGEXP_INSTR",
        "(string, string)",
        t.Int(),
        lambda call: f"regexp_instr({call.args[0]}, {_pattern(call)})",
        "The 1-based position of the first match; 0 if there is none.",
    ),
    _regexp(
        "REGEXP_SUBSTR",
        "(string, string)",
        t.STRING,
        lambda call: _write_found(call, 0),
        "The first match of the regular expression.",
    ),
)
