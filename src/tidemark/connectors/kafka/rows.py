"""Records of Kafka as columns: values and keys decoded by their formats, and metadata."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.kafka.fetch import (
    in_groups,
    in_words,
    place_of,
    records,
    without_collecting,
)
from tidemark.connectors.kafka.marks import Marks
from tidemark.connectors.kafka.metadata import METADATA, values_of
from tidemark.connectors.kafka.options import (
    key_columns,
    options_of_format,
    value_columns,
    value_format,
)
from tidemark.connectors.kafka.properties import client_settings
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import DataError
from tidemark.kernels.columns import BEFORE_ALL, KIND, PLACE

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from confluent_kafka import Message

    from tidemark.formats.decoded import Decoded, Decoder

# Stands for the place of a record in an error, which only its index is known of.
_RECORD: Final = "_tm_record"
_AT = re.compile(rf"{_RECORD}(?::(\d+))?  ")
_INDEX: Final = "_tm_index"
_KEY: Final = "_tm_key_"
_UPSERT: Final = "_tm_upsert"


class KafkaColumns:
    """Reads parts of a table as frames with the columns of a request.

    A column that is in keys and in values has what is in the value, as in Flink.
    """

    def __init__(self, request: ColumnsRequest) -> None:
        self._request = request
        options, table = request.options, request.table
        self._settings = client_settings(table, options)
        self._fails = options["tidemark.kafka.on-data-loss"] == "fail"
        self._upserts = table.option("connector") == "upsert-kafka"
        # Only in the raw format, a record without a value is a row; for upserts it is a delete.
        self._raw_nulls = value_format(options) == "raw" and not self._upserts
        self._keys = key_columns(table, options) if options["key.format"] else ()
        self._of_value = [key for key in request.metadata if key not in METADATA]
        values = value_columns(table, options)
        self._value = _decoder(request, value_format(options), "value.", values, self._of_value)
        self._marks = None if request.marks is None else Marks(request, request.marks)
        self._key = None
        if self._keys:
            self._key = _decoder(request, options["key.format"].lower(), "key.", self._keys)

    def read(self, parts: Sequence[Part]) -> Iterator[pl.DataFrame]:
        """The frames of the parts that a task reads. The rows of each part are in order."""
        for group in in_groups(parts):
            yield from self._frames(group)
        if self._marks is not None:
            self._marks.write()

    def _frames(self, group: Sequence[Part]) -> Iterator[pl.DataFrame]:
        latest = dict.fromkeys(group, BEFORE_ALL)
        found = records(self._settings, group, fails=self._fails)
        while (decoded := self._next(found)) is not None:
            part, frame, skipped = decoded
            if self._request.count is not None:
                self._request.count(frame.height, skipped)
            if self._marks is not None:
                latest[part] = max(latest[part], self._marks.of(frame))
            if frame.height:
                yield frame
        if self._marks is not None:
            for part in group:
                self._marks.reached(part, latest[part])

    def _next(
        self, found: Iterator[tuple[Part, list[Message]]]
    ) -> tuple[Part, pl.DataFrame, int] | None:
        """The rows of the next records, which are gone when they have been decoded."""
        with without_collecting():
            part, messages = next(found, (None, []))
            if part is None:
                return None
            frame, skipped = self._frame(messages, part)
            messages.clear()
        return part, frame, skipped

    def _frame(self, messages: Sequence[Message], part: Part) -> tuple[pl.DataFrame, int]:
        import numpy as np
        import polars as pl

        values = _bytes([message.value() for message in messages])
        decoded = _decoded(self._value, values, messages, part, with_nulls=self._raw_nulls)
        index = decoded.record.cast(pl.Int64) - 1
        rows = decoded.rows.with_columns(
            *(decoded.metadata[key].alias(f"_tm_of_{key}") for key in self._of_value),
            *([] if decoded.kinds is None else [decoded.kinds.alias(KIND)]),
            index.alias(_INDEX),
        )
        skipped = decoded.skipped
        if self._upserts:
            deleted = pl.Series(_INDEX, np.flatnonzero(values.is_null()), pl.Int64)
            rows = _with_deletes(rows, deleted)
        if self._key is not None:
            keys = _bytes([message.key() for message in messages])
            raw = self._request.options["key.format"].lower() == "raw"
            of_key = _decoded(self._key, keys, messages, part, with_nulls=raw)
            skipped += of_key.skipped
            rows = _with_keys(rows, of_key)
        return self._described(rows, messages, part), skipped

    def _described(
        self, rows: pl.DataFrame, messages: Sequence[Message], part: Part
    ) -> pl.DataFrame:
        """The columns as the plan names them."""
        import polars as pl

        from tidemark.columns import polars_type

        request = self._request
        made = []
        names = [c.name for c in request.table.columns if isinstance(c, PhysicalColumn)]
        types = dict(zip(names, request.types, strict=False))
        for name in names:
            if name in rows.columns:
                made.append(rows[name])
            else:
                made.append(
                    pl.repeat(None, rows.height, dtype=polars_type(types[name]), eager=True)
                )
        for key in request.metadata:
            if key in METADATA:
                made.append(values_of(key, messages, part).gather(rows[_INDEX]))
            else:
                made.append(rows[f"_tm_of_{key}"])
        named = [value.alias(name) for value, name in zip(made, request.columns, strict=True)]
        kinds = [rows[KIND]] if KIND in rows.columns else []
        place = pl.repeat(in_words(place_of(part)), rows.height, eager=True).alias(PLACE)
        return pl.DataFrame([*named, *kinds, *[place] * request.placed])


# --- decoding ----------------------------------------------------------------------------------


def _decoder(
    request: ColumnsRequest,
    format_: str,
    prefix: str,
    names: Sequence[str],
    metadata: Sequence[str] = (),
) -> Decoder:
    from tidemark.formats.decoders import decoder

    options = options_of_format(request.options, prefix)
    begins = len(request.options["key.fields-prefix"]) if prefix == "key." else 0
    types = _types(request.table, request.types)
    # The prefix distinguishes columns; fields of keys do not have it.
    fields = [t.Field(name[begins:], types[name]) for name in names]
    made = decoder(format_, fields, options, metadata)
    return _Renamed(made, [field.name for field in fields], names) if begins else made


def _types(table: Table, types: Sequence[t.DataType]) -> dict[str, t.DataType]:
    names = [c.name for c in table.columns if isinstance(c, PhysicalColumn)]
    return dict(zip(names, types, strict=False))


@dataclass(frozen=True, slots=True)
class _Renamed:
    """A decoder whose fields become columns with other names."""

    decoder: Decoder
    fields: Sequence[str]
    names: Sequence[str]

    def __call__(self, block: Any, *, file: str | None = None, first: int = 1) -> Decoded:
        decoded = self.decoder(block, file=file, first=first)
        renamed = decoded.rows.rename(dict(zip(self.fields, self.names, strict=True)))
        return replace(decoded, rows=renamed)


def _bytes(values: Sequence[bytes | None]) -> pa.LargeBinaryArray:
    import polars as pl

    # Arrow would import pandas to convert a list, which takes longer than 100,000 records.
    return pl.Series(values, dtype=pl.Binary).to_arrow(compat_level=pl.CompatLevel.oldest())


def _decoded(
    decoder: Decoder,
    block: pa.LargeBinaryArray,
    messages: Sequence[Message],
    part: Part,
    *,
    with_nulls: bool,
) -> Decoded:
    """What is decoded of the records; where NULL is not a value, of those that have one."""
    import numpy as np
    import polars as pl

    if with_nulls or not block.null_count:
        return _decoded_of(decoder, block, messages, part)
    there = np.flatnonzero(block.is_valid())
    decoded = _decoded_of(decoder, block.take(there), [messages[i] for i in there.tolist()], part)
    numbers = pl.Series(there).cast(pl.Int64) + 1
    return replace(decoded, record=numbers.gather(decoded.record.cast(pl.Int64) - 1))


def _decoded_of(
    decoder: Decoder, block: pa.LargeBinaryArray, messages: Sequence[Message], part: Part
) -> Decoded:
    try:
        return decoder(block, file=_RECORD, first=1)
    except DataError as problem:
        found = _AT.match(problem.message)
        if found is None:
            raise
        offset = f", offset {messages[int(found[1]) - 1].offset()}" if found[1] else ""
        message = f"{in_words(place_of(part))}{offset}  {problem.message[found.end() :]}"
        raise DataError(message, notes=problem.notes, hint=problem.hint) from None


def _with_keys(rows: pl.DataFrame, of_key: Decoded) -> pl.DataFrame:
    """The rows with the columns of their keys; a record without a key has no rows, as in Flink."""
    import polars as pl

    names = of_key.rows.columns
    both = [name for name in names if name in rows.columns]
    keys = of_key.rows.rename({name: _KEY + name for name in both})
    keys = keys.with_columns((of_key.record.cast(pl.Int64) - 1).alias(_INDEX))
    joined = rows.join(keys, on=_INDEX, how="inner", maintain_order="left_right")
    if both and KIND in rows.columns:
        # A delete of `upsert-kafka` has nothing but its key.
        deleted = pl.col(KIND) == "-D" if _UPSERT in rows.columns else pl.lit(False)
        joined = joined.with_columns(
            pl.when(deleted).then(pl.col(_KEY + name)).otherwise(pl.col(name)).alias(name)
            for name in both
        )
    return joined.drop(_KEY + name for name in both)


def _with_deletes(rows: pl.DataFrame, deleted: pl.Series) -> pl.DataFrame:
    """Rows of `upsert-kafka`: values are updates, and a record without one is a delete."""
    import polars as pl

    updates = rows.with_columns(pl.lit("+U").alias(KIND), pl.lit(True).alias(_UPSERT))
    deletes = pl.DataFrame([deleted]).with_columns(pl.lit("-D").alias(KIND))
    return pl.concat([updates, deletes], how="diagonal").sort(_INDEX, maintain_order=True)
