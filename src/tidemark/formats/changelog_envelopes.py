"""What is around the rows of a changelog in JSON: before and after the document of a row.

As in Flink, an update is written as two events: the row before it is deleted, and the one after it
is inserted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tidemark.formats.before_after_words import DEBEZIUM, OGG, BeforeAfterEvents
from tidemark.formats.old_rows_words import CANAL, MAXWELL, OldRowsEvents

# The kinds of rows that are deleted; all others are inserted.
DELETED = ("-U", "-D")


@dataclass(frozen=True, slots=True)
class Envelopes:
    """What is before and after a row that is inserted, and one that is deleted."""

    inserted: tuple[str, str]
    deleted: tuple[str, str]


def envelopes(format_: str, *, without_nulls: bool) -> Envelopes:
    if format_ in _OF_BEFORE_AFTER:
        return _before_after(_OF_BEFORE_AFTER[format_], without_nulls)
    return _old_rows(_OF_OLD_ROWS[format_])


_OF_BEFORE_AFTER: Mapping[str, BeforeAfterEvents] = {each.format: each for each in (DEBEZIUM, OGG)}
_OF_OLD_ROWS: Mapping[str, OldRowsEvents] = {each.format: each for each in (CANAL, MAXWELL)}


def _before_after(kind: BeforeAfterEvents, without_nulls: bool) -> Envelopes:
    no_before, no_after = ("", "") if without_nulls else ('"before":null,', ',"after":null')
    return Envelopes(
        (f'{{{no_before}"after":', f',"{kind.field}":"{kind.inserts[0]}"}}'),
        ('{"before":', f'{no_after},"{kind.field}":"{kind.delete}"}}'),
    )


def _old_rows(kind: OldRowsEvents) -> Envelopes:
    opened, closed = ('{"data":[', "]") if kind.lists else ('{"data":', "")
    return Envelopes(
        (opened, f'{closed},"type":"{kind.insert}"}}'),
        (opened, f'{closed},"type":"{kind.delete}"}}'),
    )
