"""The raw format: a single column, one record per line, its bytes unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from tidemark import types as t
from tidemark.formats import problems
from tidemark.formats.blocks import Records, records_of, without_mark
from tidemark.formats.column_types import dtype
from tidemark.formats.decoded import Block, Decoded
from tidemark.formats.raw_options import CHARSET, ENDIANNESS, WIDTHS, wrong_size


class RawDecoder:
    """Decodes blocks of raw values. There is only one way, hence `few` has no effect."""

    def __init__(
        self, fields: Sequence[t.Field], options: Mapping[str, Any], *, few: int = 1
    ) -> None:
        (self._field,) = fields
        self._charset = str(options.get(CHARSET, "UTF-8")).upper()
        self._big_endian = options.get(ENDIANNESS, "big-endian") == "big-endian"

    def __call__(self, block: Block, *, file: str | None = None, first: int = 1) -> Decoded:
        records = records_of(without_mark(block) if first == 1 else block)
        values = self._values(records, file, first).alias(self._field.name)
        index = pl.int_range(first, first + records.count, eager=True)
        return Decoded(pl.DataFrame([values]), index, records=records.count)

    def _values(self, records: Records, file: str | None, first: int) -> pl.Series:
        type_ = self._field.type
        if isinstance(type_, t.CHARACTERS) and self._charset == "UTF-8" and records.is_utf_8:
            text = records.text
            return text.str.strip_suffix("\n").str.strip_suffix("\r") if records.lines else text
        lines = _without_line_ends(records.binary) if records.lines else records.binary
        if isinstance(type_, t.BINARIES):
            return lines
        if isinstance(type_, t.CHARACTERS):
            texts = [each if each is None else self._text(each) for each in lines.to_list()]
            return pl.Series(texts, dtype=pl.String)
        return self._numbers(lines, file, first)

    def _text(self, line: bytes) -> str:
        return line.decode(self._charset, "replace")

    def _numbers(self, lines: pl.Series, file: str | None, first: int) -> pl.Series:
        width = WIDTHS[type(self._field.type)]
        fits = (lines.bin.size() == width).fill_null(True)
        if not fits.all():
            bad = int(fits.not_().arg_true()[0])
            raise self._wrong_size(lines[bad], width, file, first + bad)
        data = b"".join(lines.drop_nulls().to_list())
        order = ">" if self._big_endian else "<"
        number = f"{'f' if isinstance(self._field.type, t.Float | t.Double) else 'i'}{width}"
        numbers = pl.Series(np.frombuffer(data, f"{order}{number}").astype(number))
        values = numbers != 0 if isinstance(self._field.type, t.Boolean) else numbers
        result = pl.repeat(None, lines.len(), dtype=dtype(self._field.type), eager=True)
        return result.scatter(lines.is_not_null().arg_true(), values)

    def _wrong_size(self, line: bytes, width: int, file: str | None, number: int) -> Exception:
        return problems.data_error(
            problems.cannot_read_field(self._field.name, self._field.type.text()),
            why=wrong_size(width, str(len(line))),
            file=file,
            number=number,
            value=line.hex().upper(),
        )


def _without_line_ends(lines: pl.Series) -> pl.Series:
    """As in Flink, a carriage return is part of the line's end."""
    return _without(_without(lines, b"\n"), b"\r")


def _without(lines: pl.Series, end: bytes) -> pl.Series:
    ended = lines.bin.ends_with(end)
    if not ended.any():
        return lines
    cut = pl.lit(lines).bin.head(pl.lit(lines.bin.size().cast(pl.Int64) - 1))
    return pl.select(pl.when(ended).then(cut).otherwise(lines)).to_series()
