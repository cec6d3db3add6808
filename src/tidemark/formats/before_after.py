"""Events with the rows `before` and `after` a change: Debezium's and Ogg's.

Inserts become `+I`, deletes `-D`, and an update always becomes `-U` and `+U`, even if nothing
changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.formats import before_after_words as words
from tidemark.formats.before_after_words import BeforeAfterEvents
from tidemark.formats.changelog_json import (
    TEXT,
    BadEvent,
    Change,
    QuickChange,
    QuickEvents,
    image_of,
)
from tidemark.formats.json_documents import Malformed
from tidemark.formats.json_options import JsonOptions


@dataclass(frozen=True, slots=True)
class BeforeAfter:
    kind: BeforeAfterEvents
    fields: Sequence[t.Field]
    options: JsonOptions

    @property
    def event(self) -> tuple[t.Field, ...]:
        """The fields that come first in an event."""
        image = image_of(self.fields)
        return (t.Field("before", image), t.Field("after", image), t.Field(self.kind.field, TEXT))

    def changes(self, event: list[Any], fits: bool) -> list[Change]:
        if not fits and not self.options.ignores_errors:
            raise Malformed
        before, after, op, *_ = event
        kind = self.kind
        if op in kind.inserts and after is not None:
            return [("+I", after)]
        if op == kind.update and before is not None and after is not None:
            return [("-U", before), ("+U", after)]
        if op == kind.delete and before is not None:
            return [("-D", before)]
        if op in (kind.update, kind.delete) and before is None:
            hint = f"{kind.before_hint}; {self.options.skips}"
            raise BadEvent(kind.no_before(op), words.BEFORE_IS_NEEDED, hint)
        if op in (*kind.inserts, kind.update):
            raise BadEvent(kind.no_after(op), words.AFTER_IS_NEEDED)
        raise BadEvent(kind.unknown("none" if op is None else op), kind.known)

    def quick(self, events: pl.DataFrame, metadata: dict[str, pl.Series]) -> QuickEvents:
        """The same for whole columns."""
        kind = self.kind
        op, before, after = events[kind.field].fill_null(""), events["before"], events["after"]
        there, was = after.is_not_null(), before.is_not_null()
        inserted = op.is_in(kind.inserts) & there
        updated = (op == kind.update) & there & was
        deleted = (op == kind.delete) & was
        return QuickEvents(
            [
                self._quick_change("+I", after, inserted),
                self._quick_change("-U", before, updated),
                self._quick_change("+U", after, updated),
                self._quick_change("-D", before, deleted),
            ],
            inserted | updated | deleted,
            metadata,
        )

    def _quick_change(self, kind: str, image: pl.Series, events: pl.Series) -> QuickChange:
        rows = image.filter(events).struct.unnest()
        rows.columns = [each.name for each in self.fields]
        return QuickChange(kind, rows, events.arg_true())
