"""Rows to records of Kafka, as whole columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tidemark.errors import DataError
from tidemark.types import Field

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

# The columns of records; the last three only if rows decide on them.
KEY: Final = "key"
VALUE: Final = "value"
TOPIC: Final = "topic"
TIMESTAMP: Final = "timestamp"
HEADERS: Final = "headers"
# The value where all columns are in the key.
_WITHOUT_COLUMNS: Final = {"json": b"{}", "csv": b"", "avro": b""}


@dataclass(frozen=True, slots=True)
class MessagePart:
    """The key or the value of a record: the columns of rows that are in it."""

    format: str
    places: tuple[int, ...]
    fields: tuple[Field, ...]
    options: Mapping[str, Any]

    def encoded(self, rows: pa.Table, kinds: Sequence[int] = ()) -> pa.Array:
        """The bytes for each row. The format of a changelog also takes the kinds of rows."""
        import polars as pl
        import pyarrow as pa

        if not self.places and self.format in _WITHOUT_COLUMNS:
            same = pa.scalar(_WITHOUT_COLUMNS[self.format], pa.large_binary())
            return pa.repeat(same, rows.num_rows)
        from tidemark.formats.encoders import messages

        frame = pl.from_arrow(rows.select([*self.places, *kinds]))
        assert isinstance(frame, pl.DataFrame)
        return messages(self.format, frame, self.fields, self.options)


@dataclass(frozen=True, slots=True)
class AllowedTopics:
    """Where rows go that say it themselves: to one of a list, or to those that match."""

    listed: tuple[str, ...]
    pattern: str | None = None

    def check(self, names: Sequence[str | None]) -> None:
        for name in names:
            if name is None:
                raise DataError(
                    "cannot send a row to a topic",
                    notes={"why": "its metadata column `topic` is NULL"},
                    hint="filter such rows, or use COALESCE(...)",
                )
            if not self._has(name):
                raise DataError(
                    f"cannot send a row to topic '{name}'",
                    notes={"why": f"the table allows {self.pattern or ', '.join(self.listed)}"},
                    hint="add the topic to the options of the table",
                )

    def _has(self, name: str) -> bool:
        if self.pattern is not None:
            return re.fullmatch(self.pattern, name) is not None
        return name in self.listed


@dataclass(frozen=True, slots=True)
class Upserts:
    """Rows by key: a deleted one is a record without a value, a tombstone."""

    only_last: bool  # of the changes of a key

    def needed(self, keys: pa.Array, kinds: pl.Series) -> pl.Series:
        """Which rows are written. What follows the row before an update says all about its key,
        unless the update has changed the key itself.
        """
        last = _series(keys).is_last_distinct()
        return last if self.only_last else last | (kinds != "-U")


@dataclass(frozen=True, slots=True)
class KafkaRecords:
    """How rows of a table become records. Places are those of columns in the rows."""

    key: MessagePart | None
    value: MessagePart
    kind: int | None  # the place of row kinds, if they are not all inserts
    upserts: Upserts | None = None
    topics: AllowedTopics | None = None  # None: all rows go to one
    topic: int | None = None
    timestamp: int | None = None
    headers: int | None = None
    zone: str = "UTC"  # of timestamps without one

    @property
    def compares_rows(self) -> bool:
        """Whether a row is written depends on those after it."""
        return self.upserts is not None and (self.kind is not None or self.upserts.only_last)

    def __call__(self, rows: pa.Table) -> pa.Table:
        import pyarrow as pa

        tombstones = None
        if self.compares_rows:
            rows, tombstones = self._by_key(rows)
        columns = {KEY: self._keys(rows), VALUE: self._values(rows, tombstones)}
        if self.topic is not None and self.topics is not None:
            names = rows.column(self.topic)
            self.topics.check(names.unique().to_pylist())
            columns[TOPIC] = names
        if self.timestamp is not None:
            columns[TIMESTAMP] = self._timestamps(rows.column(self.timestamp))
        if self.headers is not None:
            columns[HEADERS] = rows.column(self.headers)
        return pa.table(columns)

    def _by_key(self, rows: pa.Table) -> tuple[pa.Table, pa.Array]:
        """The rows that are needed, and which of them are deleted."""
        import polars as pl

        from tidemark.formats.changelog_envelopes import DELETED

        assert self.upserts is not None
        inserted = pl.repeat("+I", rows.num_rows, eager=True)
        kinds = inserted if self.kind is None else _series(rows.column(self.kind))
        needed = self.upserts.needed(self._keys(rows), kinds)
        deleted = kinds.filter(needed).is_in(DELETED)
        return rows.filter(needed.to_arrow()), deleted.to_arrow()

    def _keys(self, rows: pa.Table) -> pa.Array:
        import pyarrow as pa

        if self.key is None:
            return pa.nulls(rows.num_rows, pa.large_binary())
        return self.key.encoded(rows)

    def _values(self, rows: pa.Table, tombstones: pa.Array | None) -> pa.Array:
        import pyarrow as pa
        from pyarrow import compute

        kinds = () if self.kind is None or self.upserts is not None else (self.kind,)
        values = self.value.encoded(rows, kinds)
        if tombstones is None:
            return values
        return compute.if_else(tombstones, pa.scalar(None, pa.large_binary()), values)

    def _timestamps(self, times: pa.ChunkedArray) -> pa.Array:
        """Milliseconds since 1970."""
        series = _series(times)
        if getattr(series.dtype, "time_zone", None) is None:
            series = series.dt.replace_time_zone(self.zone, ambiguous="earliest")
        return series.dt.epoch("ms").to_arrow()


def _series(values: pa.Array | pa.ChunkedArray) -> pl.Series:
    import polars as pl

    return pl.Series(pl.from_arrow(values))
