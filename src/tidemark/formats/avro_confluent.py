"""Messages in Avro that begin with the ID of their schema, as Confluent's clients write them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
from pyarrow import compute

from tidemark import types as t
from tidemark.errors import JobError
from tidemark.formats import avro_encode
from tidemark.formats.avro import AvroColumns, BadBlock
from tidemark.formats.avro_messages import present
from tidemark.formats.avro_reader_schema import as_read
from tidemark.formats.avro_schema import Avro, BadSchema, parsed, schema_of
from tidemark.formats.column_types import schema
from tidemark.formats.decoded import Block, Decoded
from tidemark.formats.problems import cannot_read_record, data_error
from tidemark.schema_registry.client import Registry, RegistryError, registry
from tidemark.schema_registry.settings import RegistrySettings

NAME: Final = "avro-confluent"
_MAGIC: Final = 0
_HEADER: Final = 5  # bytes: one that is zero, and the ID


class BadMessage(Exception):
    """What is wrong with a message, by its place among those given."""

    def __init__(self, place: int, problem: str, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.place, self.problem, self.why, self.hint = place, problem, why, hint


class ConfluentColumns:
    """Reads messages whose schemas a registry knows as the fields of a table."""

    def __init__(self, format_: str, fields: Sequence[t.Field], options: Mapping[str, Any]) -> None:
        self._format, self._fields = format_, fields
        self._registry = registry(RegistrySettings.of(format_, options))
        given = options.get(f"{format_}.schema")
        self._reader: Avro | None = None if given is None else parsed(given)
        self._by_schema: dict[int, AvroColumns] = {}

    def __call__(self, values: pa.LargeBinaryArray) -> pl.DataFrame:
        """A row for each message, in order. Raises BadMessage."""
        if not len(values):
            return pl.DataFrame(schema=schema(self._fields))
        found, which = np.unique(self._ids(values), return_inverse=True)
        longest = compute.max(compute.binary_length(values)).as_py()
        bodies = compute.binary_slice(values, _HEADER, longest)  # without an end, Arrow fails
        if len(found) == 1:
            return self._of_schema(int(found[0]), bodies, np.arange(len(values)))
        places = [np.flatnonzero(which == each) for each in range(len(found))]
        parts, bad = [], None
        for number, own in zip(found.tolist(), places, strict=True):
            try:
                parts.append(self._of_schema(number, bodies.take(pa.array(own)), own))
            except BadMessage as problem:
                bad = problem if bad is None or problem.place < bad.place else bad
        if bad is not None:  # the first one in the order of messages
            raise bad
        return pl.concat(parts)[np.argsort(np.concatenate(places))]

    def _ids(self, values: pa.LargeBinaryArray) -> Any:
        """The ID of each message's schema."""
        bounds, data = avro_encode.bounds_of(values), avro_encode.content_of(values)
        starts, sizes = bounds[:-1], np.diff(bounds)
        short = sizes < _HEADER
        if short.any():
            place = int(np.argmax(short))
            raise self._bad(place, f"it has {sizes[place]} bytes, and the ID of its schema needs 5")
        headers = data[starts[:, None] + np.arange(_HEADER)]
        other = headers[:, 0] != _MAGIC
        if other.any():
            place = int(np.argmax(other))
            why = f"its first byte is {headers[place, 0]}, and 0 is before the ID of a schema"
            raise self._bad(place, why, "perhaps it has another format, such as 'avro' or 'json'")
        return np.ascontiguousarray(headers[:, 1:]).view(">i4").ravel().astype(np.int64)

    def _of_schema(self, number: int, bodies: pa.LargeBinaryArray, places: Any) -> pl.DataFrame:
        try:
            return self._columns(number).of_messages(bodies)
        except BadBlock as bad:
            raise BadMessage(int(places[bad.block]), bad.problem, bad.why) from None
        except BadSchema as bad:
            raise self._bad(int(places[0]), f"schema {number}: {bad}") from None
        except RegistryError as problem:
            if not problem.unknown:
                raise _unreachable(problem) from None
            why = f"the registry does not know schema {number}: {problem.why}"
            raise self._bad(int(places[0]), why, problem.hint) from None

    def _columns(self, number: int) -> AvroColumns:
        if number not in self._by_schema:
            known = self._registry.schema(number)
            written = parsed(known.schema, known.before)
            if self._reader is not None:
                written = as_read(written, self._reader)
            self._by_schema[number] = AvroColumns(written, self._fields)
        return self._by_schema[number]

    def _bad(self, place: int, why: str, hint: str | None = None) -> BadMessage:
        return BadMessage(place, cannot_read_record(self._format), why, hint)


def _unreachable(problem: RegistryError) -> JobError:
    return JobError(
        "cannot get a schema from the registry", notes={"why": problem.why}, hint=problem.hint
    )


class ConfluentDecoder:
    """Decodes messages into rows. There is only one way, hence `few` has no effect."""

    def __init__(
        self, fields: Sequence[t.Field], options: Mapping[str, Any], *, few: int = 1
    ) -> None:
        self._read = ConfluentColumns(NAME, fields, options)

    def __call__(self, block: Block, *, file: str | None = None, first: int = 1) -> Decoded:
        values, index = present(block)
        try:
            rows = self._read(values)
        except BadMessage as bad:
            number = index[bad.place] + first
            raise data_error(
                bad.problem, why=bad.why, file=file, number=number, hint=bad.hint
            ) from None
        return Decoded(rows, index + first, records=len(block))


# --- writing -----------------------------------------------------------------------------------


def confluent_messages(
    rows: pl.DataFrame, fields: Sequence[t.Field], options: Mapping[str, Any]
) -> pa.LargeBinaryArray:
    """A message for each row, in the table's schema, which is registered for the subject."""
    own = options.get(f"{NAME}.schema") or as_flink(schema_of(fields))
    return with_id(NAME, own, avro_encode.records(rows, fields), options)


def as_flink(schema: Any) -> str:
    """The string of a schema with which Flink registers it."""
    return json.dumps(schema, separators=(",", ":"), ensure_ascii=False)


def with_id(
    format_: str, own: str, records: pa.LargeBinaryArray, options: Mapping[str, Any]
) -> pa.LargeBinaryArray:
    """Records after the ID that their schema has in the registry."""
    where: Registry = registry(RegistrySettings.of(format_, options))
    subject = options[f"{format_}.subject"]
    try:
        number = where.register(subject, own)
    except RegistryError as problem:
        raise JobError(
            f"cannot register the schema of subject '{subject}'",
            notes={"why": problem.why},
            hint=problem.hint,
        ) from None
    header = bytes([_MAGIC]) + number.to_bytes(4, "big")
    parts = pa.scalar(header, pa.large_binary()), records, pa.scalar(b"", pa.large_binary())
    return compute.binary_join_element_wise(*parts)
