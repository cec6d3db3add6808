"""Debezium's events in Avro, with the ID of their schema: changes of rows.

As in Flink, an update is read as `-U` and `+U`, and written as a delete and an insert. Messages
without a value, the tombstones after deletes, are skipped; so are empty ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import compute

from tidemark import types as t
from tidemark.formats import before_after_words as words
from tidemark.formats.avro_confluent import BadMessage, ConfluentColumns, as_flink, with_id
from tidemark.formats.avro_encode import records
from tidemark.formats.avro_messages import present
from tidemark.formats.avro_schema import schema_of
from tidemark.formats.before_after_words import DEBEZIUM
from tidemark.formats.changelog_envelopes import DELETED
from tidemark.formats.decoded import Block, Decoded
from tidemark.formats.problems import data_error

NAME: Final = "debezium-avro-confluent"
_OP: Final = DEBEZIUM.field
_KNOWN: Final = "`op` must be c, r, u or d"


def event_of(fields: Sequence[t.Field]) -> t.Row:
    """An event about rows with these fields."""
    row = t.Row(tuple(fields))
    return t.Row((t.Field("before", row), t.Field("after", row), t.Field(_OP, t.STRING)))


class DebeziumDecoder:
    """Decodes events into changes. There is only one way, hence `few` has no effect."""

    def __init__(
        self,
        fields: Sequence[t.Field],
        options: Mapping[str, Any],
        metadata: Sequence[str] = (),
        *,
        few: int = 1,
    ) -> None:
        assert not metadata  # Flink provides none
        self._fields = fields
        self._read = ConfluentColumns(NAME, event_of(fields).fields, options)

    def __call__(self, block: Block, *, file: str | None = None, first: int = 1) -> Decoded:
        values, index = present(block)
        there = compute.not_equal(compute.binary_length(values), 0)
        values, index = values.filter(there), index.filter(pl.Series(there.to_numpy(False)))
        try:
            events = self._read(values)
            rows, kinds, event = self._changes(events)
        except BadMessage as bad:
            number = index[bad.place] + first
            raise data_error(
                bad.problem, why=bad.why, file=file, number=number, hint=bad.hint
            ) from None
        record = index.gather(event) + first
        return Decoded(rows, record, records=len(block), kinds=kinds)

    def _changes(self, events: pl.DataFrame) -> tuple[pl.DataFrame, pl.Series, pl.Series]:
        """The rows, their kinds and events. First of an event is the row before the change."""
        op = events[_OP].fill_null("")
        before, after = events["before"].is_not_null(), events["after"].is_not_null()
        inserted, updated = op.is_in(DEBEZIUM.inserts), op == DEBEZIUM.update
        deleted = op == DEBEZIUM.delete
        right = (inserted & after) | (updated & before & after) | (deleted & before)
        if not right.all():
            raise _bad(events, int(right.not_().arg_true()[0]))
        old, new = (updated | deleted).arg_true(), (inserted | updated).arg_true()
        event = pl.concat([old, new]).cast(pl.Int64)
        order = np.argsort(event.to_numpy(), kind="stable")
        rows = pl.concat([self._rows(events["before"], old), self._rows(events["after"], new)])
        kinds = pl.concat(
            [_kinds(updated.gather(old), "-U", "-D"), _kinds(updated.gather(new), "+U", "+I")]
        )
        return rows[order], kinds[order], event[order]

    def _rows(self, image: pl.Series, events: pl.Series) -> pl.DataFrame:
        rows = image.gather(events).struct.unnest()
        rows.columns = [field.name for field in self._fields]
        return rows


def _kinds(updated: pl.Series, kind: str, other: str) -> pl.Series:
    chosen = pl.when(updated).then(pl.lit(kind)).otherwise(pl.lit(other))
    return pl.select(chosen.alias("kind")).to_series()


def _bad(events: pl.DataFrame, place: int) -> BadMessage:
    op = events[_OP][place]
    if op in (DEBEZIUM.update, DEBEZIUM.delete) and events["before"][place] is None:
        return BadMessage(
            place, DEBEZIUM.no_before(op), words.BEFORE_IS_NEEDED, words.REPLICA_IDENTITY
        )
    if op in (*DEBEZIUM.inserts, DEBEZIUM.update):
        return BadMessage(place, DEBEZIUM.no_after(op), words.AFTER_IS_NEEDED)
    return BadMessage(place, DEBEZIUM.unknown("none" if op is None else op), _KNOWN)


# --- writing -----------------------------------------------------------------------------------


def debezium_messages(
    rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pa.LargeBinaryArray:
    """An event for each row. Columns are by position; one after them is the row kind."""
    event = event_of(fields)
    image = rows[:, : len(fields)].to_struct("row")
    deleted = _deleted(rows, len(fields))
    events = pl.select(
        pl.when(deleted).then(pl.lit(image)).alias("before"),
        pl.when(deleted.not_()).then(pl.lit(image)).alias("after"),
        pl.when(deleted)
        .then(pl.lit(DEBEZIUM.delete))
        .otherwise(pl.lit(DEBEZIUM.inserts[0]))
        .alias(_OP),
    )
    schema = options.get(f"{NAME}.schema") or as_flink(schema_of(event.fields, in_files=True))
    # Flink has these records in a union with null, and not those of avro-confluent.
    return with_id(NAME, schema, records(events, event.fields, in_files=True), options)


def _deleted(rows: pl.DataFrame, width: int) -> pl.Series:
    if rows.width > width:
        return rows.to_series(width).is_in(DELETED)
    return pl.repeat(False, rows.height, dtype=pl.Boolean, eager=True)
