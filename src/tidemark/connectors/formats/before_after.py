"""Events with the rows `before` and `after` a change as Spark SQL: Debezium's and Ogg's."""

from __future__ import annotations

from collections.abc import Sequence

from tidemark import types as t
from tidemark.connectors.formats.changelog_json import (
    TEXT_TYPE,
    bad_event,
    change,
    first_of,
    unreadable,
)
from tidemark.connectors.formats.json_values import Reading
from tidemark.formats import before_after_words as words
from tidemark.formats.before_after_words import BeforeAfterEvents
from tidemark.formats.problems import skips_records
from tidemark.functions.spark_text import string


def event(kind: BeforeAfterEvents, image: t.Row, others: Sequence[str]) -> t.Row:
    """The fields of an event: the rows, what was done, and others as strings."""
    rows = (t.Field("before", image), t.Field("after", image))
    return t.Row((*rows, *(t.Field(name, TEXT_TYPE) for name in (kind.field, *others))))


def changes(kind: BeforeAfterEvents, payload: str, bad: str, reading: Reading) -> str:
    """The changes of the event `payload`, unless it is `bad`: not one of this form."""
    before, after, op = (f"{payload}._{i}" for i in range(3))
    inserts = ", ".join(map(string, kind.inserts))
    update, delete = string(kind.update), string(kind.delete)
    cases = [
        *unreadable(bad, reading),
        (f"{op} IN ({inserts}) AND {after} IS NOT NULL", f"array({change('+I', after)})"),
        (
            f"{op} = {update} AND {before} IS NOT NULL AND {after} IS NOT NULL",
            f"array({change('-U', before)}, {change('+U', after)})",
        ),
        (f"{op} = {delete} AND {before} IS NOT NULL", f"array({change('-D', before)})"),
        (f"{op} IN ({update}, {delete}) AND {before} IS NULL", _no_before(kind, op, reading)),
        (f"{op} IN ({inserts}, {update})", _no_after(kind, op, reading)),
    ]
    return first_of(cases, _unknown(kind, op, reading))


def _no_before(kind: BeforeAfterEvents, op: str, reading: Reading) -> str:
    skips = skips_records(reading.ignore_option)
    return bad_event(
        reading,
        problem=f"concat({string(kind.no_before(''))}, {op})",
        reason=string(words.BEFORE_IS_NEEDED),
        hint=string(f"{kind.before_hint}; {skips}"),
    )


def _no_after(kind: BeforeAfterEvents, op: str, reading: Reading) -> str:
    return bad_event(
        reading,
        problem=f"concat({string(kind.no_after(''))}, {op})",
        reason=string(words.AFTER_IS_NEEDED),
    )


def _unknown(kind: BeforeAfterEvents, op: str, reading: Reading) -> str:
    return bad_event(
        reading,
        problem=f"concat({string(kind.unknown(''))}, coalesce({op}, 'none'))",
        reason=string(kind.known),
    )
