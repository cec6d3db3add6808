"""Functions that search strings with Java's regular expressions, as those of Polars.

Both take the first match from the left, and alternatives in their order. What they do not share, or
what differs between versions of Java, is refused: looking around, references to groups, possessive
quantifiers, `\\b`, repeated groups that may be empty or have groups inside, classes of Unicode, and
`$` except as the end of a pattern.
"""

from __future__ import annotations

import re

import polars as pl

from tidemark.columns.call import ColumnCall, WriteColumn
from tidemark.columns.patterns import ANY
from tidemark.columns.refusals import NotInColumns
from tidemark.functions import java_regex

# Java's classes are of ASCII.
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": r" \t\n\x0B\f\r"}
_CHARACTERS = {"t": r"\t", "n": r"\n", "r": r"\r", "f": r"\f", "a": r"\x07", "e": r"\x1B"}
_SPECIAL = frozenset(r"\.+*?()|[]{}^$#&-~")
_GROUPS = ("(", "(?:")
_BETWEEN = frozenset([*_GROUPS, ")", "|", "^"])
_OPENING = re.compile(r"\((?:\?[:=!<>]?)?")
# As in Java, `$` also holds in front of the end of the last line.
_END = r"(?:\r\n|[\n\r\x{85}\x{2028}\x{2029}])?\z"
_QUANTIFIER = re.compile(r"(?:[*+?]|\{\d+(?:,\d*)?\})")


class _Untold(Exception):
    """A part of a pattern that Polars may take differently."""


def as_of_polars(pattern: str, *, whole: bool = True) -> str | None:
    """The pattern as one of Polars that finds the same; None if there may be none. Unless the
    `whole` match is asked for, it may have the end of the last line in it.
    """
    try:
        translated = "".join(_translated(pattern, whole))
        pl.Series([""]).str.contains(translated)  # whether it is too large, for example
    except (_Untold, pl.exceptions.ComputeError):
        return None
    return translated


def _translated(pattern: str, whole: bool) -> list[str]:
    """The parts of a pattern that `java_regex.read` knows to be valid."""
    parts: list[str] = []
    opened: list[int] = []
    here = 0
    while here < len(pattern):
        if not whole and pattern[here:] == "$":
            return _ended(parts)
        part, here = _part(pattern, here)
        if part in _GROUPS:
            opened.append(len(parts))
        elif part == ")" and _repeats(pattern, here, parts[opened.pop() + 1 :]):
            raise _Untold
        parts.append(part)
    return parts


def _repeats(pattern: str, here: int, inside: list[str]) -> bool:
    """Whether the group that ends here is repeated, and rounds may differ in what they match or
    in which of the groups inside they have.
    """
    quantifier = _QUANTIFIER.match(pattern, here)
    if quantifier is None or quantifier.group() == "?":
        return False
    body = "".join(inside)
    return "(" in inside or bool(pl.Series([""]).str.contains(rf"\A(?:{body})\z").item())


def _ended(parts: list[str]) -> list[str]:
    """The parts, and then the end of the string. Between CR and LF there is no end in Java,
    so nothing may match a CR.
    """
    for part in parts:
        if part not in _BETWEEN and not _QUANTIFIER.match(part) and _matches_cr(part):
            raise _Untold
    return [*parts, _END]


def _matches_cr(part: str) -> bool:
    found: bool = pl.Series(["\r"]).str.contains(part).item()
    return found


def _part(pattern: str, here: int) -> tuple[str, int]:
    """The part that begins here, and where the next one does."""
    character = pattern[here]
    if quantifier := _QUANTIFIER.match(pattern, here):
        return _quantified(pattern, quantifier.group(), quantifier.end())
    match character:
        case "(":
            opening = _OPENING.match(pattern, here)
            assert opening is not None
            if opening.group() not in _GROUPS:
                raise _Untold
            return opening.group(), opening.end()
        case "[":
            return _class(pattern, here)
        case "\\":
            return _escaped(pattern[here + 1]), here + 2
        case ".":
            return ANY, here + 1
        case "$":
            raise _Untold  # in Java also in front of a line's end
        case "|" | ")" | "^":
            return character, here + 1
    return _literal(character), here + 1


def _quantified(pattern: str, quantifier: str, end: int) -> tuple[str, int]:
    following = pattern[end : end + 1]
    if following == "+":
        raise _Untold
    return (quantifier + "?", end + 1) if following == "?" else (quantifier, end)


def _escaped(escaped: str) -> str:
    if escaped.lower() in _CLASSES:
        negated = "^" if escaped.isupper() else ""
        return f"[{negated}{_CLASSES[escaped.lower()]}]"
    if escaped in _CHARACTERS:
        return _CHARACTERS[escaped]
    if escaped.isalnum():
        raise _Untold
    return _literal(escaped)


def _class(pattern: str, start: int) -> tuple[str, int]:
    """A class of single characters, ranges and simple escapes."""
    here, parts = start + 1, ["["]
    if pattern.startswith("^", here):
        here, parts = here + 1, ["[^"]
    first = here
    while pattern[here] != "]" or here == first:
        character = pattern[here]
        if character == "\\":
            escaped = pattern[here + 1]
            parts.append(_CLASSES.get(escaped) or _single(escaped))
            here += 2
            continue
        inside = character == "-" and here > first and pattern[here + 1] != "]"
        parts.append(character if inside else _literal(character))
        here += 1
    return "".join(parts) + "]", here + 1


def _single(escaped: str) -> str:
    if escaped in _CHARACTERS:
        return _CHARACTERS[escaped]
    if escaped.isalnum():
        raise _Untold
    return _literal(escaped)


def _literal(character: str) -> str:
    return f"\\{character}" if character in _SPECIAL else character


# --- the functions -----------------------------------------------------------------------------


def _pattern(call: ColumnCall, *, whole: bool = True) -> tuple[str, java_regex.Pattern] | None:
    """The pattern and what is known of its groups; None if it is NULL."""
    pattern = call.constant(1, "a pattern")
    if pattern is None:
        return None
    known = java_regex.read(pattern)
    translated = None if known is None else as_of_polars(pattern, whole=whole)
    if known is None or translated is None:
        raise NotInColumns(f"{call.name} with the pattern '{pattern}'")
    return translated, known


def _regexp(call: ColumnCall) -> pl.Expr:
    """Whether the pattern is found; an empty one never is."""
    found = _pattern(call, whole=False)
    if found is None:
        return pl.lit(None, dtype=pl.Boolean)
    regex, _ = found
    contained = call.args[0].str.contains(regex)
    return contained if regex else pl.when(contained.is_not_null()).then(False)


def _extract(call: ColumnCall) -> pl.Expr:
    """The first match, or one of its groups, as on Spark: there, one that may be missing is NULL
    when it is empty, too."""
    group = call.literal(2) if len(call.args) == 3 else 0
    if not isinstance(group, int):
        raise NotInColumns(f"{call.name} with a group that is not constant")
    found = _pattern(call, whole=group == 0)
    if found is None or not 0 <= group <= found[1].groups:
        return pl.lit(None, dtype=pl.String)
    regex, known = found
    extracted = call.args[0].str.extract(regex, group)
    if group == 0 or known.always_matched[group - 1]:
        return extracted
    return pl.when(extracted != "").then(extracted)


def _replace(call: ColumnCall) -> pl.Expr:
    found = _pattern(call)
    new = call.constant(2, "a replacement")
    if found is None or new is None:
        return pl.lit(None, dtype=pl.String)
    regex, _ = found
    return call.args[0].str.replace_all(_not_empty(call, regex), new.replace("$", "$$"))


def _substring(call: ColumnCall) -> pl.Expr:
    found = _pattern(call)
    return pl.lit(None, dtype=pl.String) if found is None else call.args[0].str.extract(found[0], 0)


def _not_empty(call: ColumnCall, regex: str) -> str:
    """A pattern for all matches: Java also finds an empty one right after another."""
    if pl.Series([""]).str.contains(regex).item():
        raise NotInColumns(f"{call.name} with a pattern that matches nothing")
    return regex


def _count(call: ColumnCall) -> pl.Expr:
    found = _pattern(call)
    if found is None:
        return pl.lit(None, dtype=pl.Int32)
    return call.args[0].str.count_matches(_not_empty(call, found[0])).cast(pl.Int32)


def _position(call: ColumnCall) -> pl.Expr:
    """The position in characters, as on Spark."""
    found = _pattern(call, whole=False)
    if found is None:
        return pl.lit(None, dtype=pl.Int32)
    text = call.args[0]
    before = text.str.extract(rf"\A((?s:.)*?)(?:{found[0]})", 1)
    place = before.str.len_chars().cast(pl.Int32) + 1
    return pl.when(text.is_not_null()).then(place.fill_null(0))


def _extract_all(call: ColumnCall) -> pl.Expr:
    """All matches, or one of the groups of each: there, one that may be missing is NULL when it is
    empty, too."""
    group = call.literal(2) if len(call.args) == 3 else 1
    if not isinstance(group, int):
        raise NotInColumns(f"{call.name} with a group that is not constant")
    found = _pattern(call)
    if found is None or not 0 <= group <= found[1].groups:
        return pl.lit(None, dtype=pl.List(pl.String))
    regex, known = found
    matches = call.args[0].str.extract_all(_not_empty(call, regex))
    if group == 0:
        return matches
    if "^" in re.sub(r"\[\^|\\.", "", regex):
        raise NotInColumns(f"{call.name} of a group with ^ in the pattern")
    # Without ^ and $, a match has the same groups if there is nothing around it.
    extracted = pl.element().str.extract(regex, group)
    if not known.always_matched[group - 1]:
        extracted = pl.when(extracted != "").then(extracted)
    return matches.list.eval(extracted)


COLUMNS: dict[str, WriteColumn] = {
    "REGEXP": _regexp,
    "REGEXP_COUNT": _count,
    "REGEXP_EXTRACT_ALL": _extract_all,
    "REGEXP_INSTR": _position,
    "REGEXP_SUBSTR": _substring,
    "REGEXP_EXTRACT": _extract,
    "REGEXP_REPLACE": _replace,
}
