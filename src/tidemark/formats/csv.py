"""The csv format: one row per record, fields by position.

A record is usually a line. A quoted field may have line breaks; so a block must begin where a
record does, and end where one ends.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa

from tidemark import types as t
from tidemark.errors import DataError
from tidemark.formats import problems
from tidemark.formats.blocks import Records, records_of, without_mark
from tidemark.formats.column_types import series
from tidemark.formats.csv_arrow import ArrowCsv
from tidemark.formats.csv_exact import Scanner, without_line_end
from tidemark.formats.csv_quick import QuickCsv, QuickLines
from tidemark.formats.csv_style import BLANKS, IGNORE, UNBALANCED, Style, miscounted
from tidemark.formats.csv_values import FieldConverter
from tidemark.formats.decoded import Block, Decoded
from tidemark.formats.merged import RECORD, in_order

# Bytes of a block that are more than what is read of a file at once.
_LARGE = 24 << 20


@dataclass(slots=True)
class _ExactRecords:
    """Rows that were read the exact way, and the lines that they began on."""

    rows: list[list[Any]] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    # Further lines of these records, which are not records themselves.
    swallowed: list[int] = field(default_factory=list)
    skipped: int = 0
    count: int = 0  # of the records that were read, or skipped


class CsvDecoder:
    """Decodes blocks of CSV records; `few` is when the quick way begins to pay.

    As in Flink, fields that are not `read` are not converted, and a record may lack fields as long
    as it has as many as are read, whichever these are.
    """

    def __init__(
        self,
        fields: Sequence[t.Field],
        options: Mapping[str, Any],
        *,
        few: int = 1,
        read: Collection[str] | None = None,
    ) -> None:
        places = [i for i, field in enumerate(fields) if read is None or field.name in read]
        self._width, self._read = len(fields), [fields[place] for place in places]
        self._style = Style.of(options)
        self._arrow = ArrowCsv(fields, self._style, places)
        self._quick = QuickCsv(fields, self._style, places)
        self._scanner = Scanner(self._style)
        self._convert = FieldConverter(fields, self._style, places)
        self._few = few

    def __call__(self, block: Block, *, file: str | None = None, first: int = 1) -> Decoded:
        own = without_mark(block) if first == 1 else block
        few = sys.maxsize if _is_large(own) else self._few
        quick = self._arrow.read(own, few)
        if quick is not None and quick.done.all():
            return self._decoded(quick, _ExactRecords(), len(quick.done), first)
        records = records_of(own)
        if quick is not None:
            quick = self._quick.read_rest(records.text, quick)
        elif records.count >= few:
            quick = self._quick.read(records.text)
        exact = self._exactly(records, quick, file, first)
        return self._decoded(quick, exact, records.count, first)

    def _decoded(
        self, quick: QuickLines | None, exact: _ExactRecords, count: int, first: int
    ) -> Decoded:
        parts = []
        if quick is not None:
            own = np.ones(count, np.bool_)
            own[exact.swallowed] = False
            for each in quick.parts:
                kept = each.only(own[each.lines.to_numpy()])
                parts.append([*kept.columns, kept.lines.alias(RECORD)])
        if exact.rows:
            parts.append(self._columns(exact))
        rows = in_order(parts, self._read)
        return Decoded(
            rows.drop(RECORD),
            rows[RECORD] + first,
            records=count,
            skipped=exact.skipped,
            slow=exact.count,
        )

    def _columns(self, exact: _ExactRecords) -> list[pl.Series]:
        columns = [
            series([row[i] for row in exact.rows], each.type, each.name)
            for i, each in enumerate(self._read)
        ]
        return [*columns, pl.Series(RECORD, exact.lines, dtype=pl.Int64)]

    # --- the exact way ---

    def _exactly(
        self, records: Records, quick: QuickLines | None, file: str | None, first: int
    ) -> _ExactRecords:
        result = _ExactRecords()
        next_line = 0
        lines = range(records.count) if quick is None else np.flatnonzero(~quick.done).tolist()
        for line in lines:
            if line < next_line:
                continue  # a part of the record before
            next_line = self._add(records, line, result, file, first)
            # A record may end where the quick way saw the middle of another.
            while quick is not None and next_line < records.count and quick.inside[next_line]:
                result.swallowed.append(next_line)
                next_line = self._add(records, next_line, result, file, first)
        return result

    def _add(
        self, records: Records, line: int, result: _ExactRecords, file: str | None, first: int
    ) -> int:
        """Adds the record that begins on a line. Returns the line after it."""
        text, next_line = self._record(records, line)
        result.swallowed += range(line + 1, next_line)
        result.count += 1
        try:
            row = self._row(text, file, first + line)
        except _Skipped:
            result.skipped += 1
            return next_line
        if row is not None:
            result.rows.append(row)
            result.lines.append(line)
        return next_line

    def _record(self, records: Records, line: int) -> tuple[str, int]:
        """The text of the record that begins on a line, and the line after it."""
        count = 1
        while True:
            # Few records have more than one line, and few of these many.
            joined = b"".join(filter(None, records.binary.slice(line, count).to_list()))
            text = joined.decode("utf-8", "replace")
            end = self._scanner.end(text, 0)
            if line + count >= records.count or self._closed(text, end):
                taken = text[:end]
                return without_line_end(taken), line + max(1, _lines_in(taken))
            count *= 2

    def _closed(self, text: str, end: int) -> bool:
        """Whether the record surely ends there, and not where the text happens to."""
        return end < len(text) or self._scanner.fields(without_line_end(text)) is not None

    def _row(self, record: str, file: str | None, number: int) -> list[Any] | None:
        if self._scanner.is_no_record(record):
            return None
        found = self._scanner.fields(record)
        reason = self._why_bad(found)
        if found is None or reason is not None:
            if self._style.ignores_errors:
                raise _Skipped
            raise _unreadable(reason or "", file, number, record)
        return self._convert(found, file=file, number=number, record=record)

    def _why_bad(self, found: list[str] | None) -> str | None:
        width = self._width
        if found is None:
            return UNBALANCED
        # One extra blank field is allowed: it is a delimiter at the end of the line.
        many = len(found) > width + 1 or any(field.strip(BLANKS) for field in found[width:])
        # Missing fields are NULL if errors are ignored.
        few = len(found) < len(self._read) and not self._style.ignores_errors
        return miscounted(width, str(len(found))) if many or few else None


def _is_large(block: Block) -> bool:
    """Whether a block is so large because it begins with a record that goes on and on, such as one
    whose quote is never closed. Its lines are not records, and would take much memory as such.
    """
    return not isinstance(block, pa.Array) and len(memoryview(block)) > _LARGE


class _Skipped(Exception):
    """A bad record is left out."""


def _lines_in(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n"))


def _unreadable(reason: str, file: str | None, number: int, record: str) -> DataError:
    return problems.data_error(
        problems.cannot_read_record("CSV"),
        why=reason,
        file=file,
        number=number,
        record=record,
        hint=problems.skips_records(IGNORE),
    )
