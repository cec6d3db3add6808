"""Records as JSON, one by one: the exact way, which also knows why a record is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tidemark import types as t
from tidemark.formats import problems
from tidemark.formats.column_types import series
from tidemark.formats.json_documents import Documents, FieldMissing, Malformed
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_values import RecordPlace, RowConverter, data_error, unreadable

_BLANK = b" \t\r\n"


@dataclass(slots=True)
class ExactRows:
    """Rows as values, and the index of the record that each one is from."""

    rows: list[list[Any]] = field(default_factory=list)
    index: list[int] = field(default_factory=list)
    skipped: int = 0
    count: int = 0  # of the records that were read, or skipped

    def columns(self, fields: Sequence[t.Field]) -> list[pl.Series]:
        return [
            series([row[i] for row in self.rows], each.type, each.name)
            for i, each in enumerate(fields)
        ]


class ExactJson:
    def __init__(self, fields: Sequence[t.Field], options: JsonOptions) -> None:
        self._options = options
        self._documents = Documents(
            t.Row(tuple(fields)),
            lenient=options.ignores_errors,
            strict=options.fails_on_missing,
        )
        self._convert = RowConverter(fields, options)

    def read(
        self, records: Sequence[bytes | None], index: Sequence[int], file: str | None, first: int
    ) -> ExactRows:
        """The rows of some of a block's records: `index` says which they are."""
        result = ExactRows()
        for binary, position in zip(records, index, strict=True):
            if binary is None or not binary.strip(b"\r\n"):
                continue
            result.count += 1
            place = RecordPlace(file, first + position, binary)
            try:
                rows = self._rows(place)
            except Malformed:
                if not self._options.ignores_errors:
                    raise unreadable(place, self._options) from None
                result.skipped += 1
                continue
            result.rows += rows
            result.index += [position] * len(rows)
        return result

    def _rows(self, place: RecordPlace) -> list[list[Any]]:
        if not self._options.fails_on_missing and not place.binary.strip(_BLANK):
            return []
        try:
            rows = self._documents.read(place.binary)
        except FieldMissing as missing:
            raise data_error(
                place,
                problems.missing_field(str(missing)),
                why=problems.is_set(self._options.missing_option),
                hint=None,
            ) from None
        return [self._convert(row, place) for row in rows]
