"""Records as JSON, as whole columns: those that are documents, with values of the right types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from tidemark import types as t
from tidemark.formats.json_columns import LeafReading
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_parsed import ParsedJson
from tidemark.formats.json_reasons import MAX_DEPTH, MAX_NAME, MAX_NUMBER
from tidemark.formats.json_regular import RegularJson
from tidemark.formats.json_rows import QuickRows, rest_of
from tidemark.formats.json_trees import has_decimal

# For fewer records the exact way takes less time.
FEW = 32

_LONG_NUMBER = rf"[0-9][0-9.eE+-]{{{MAX_NUMBER - 1}}}"


class QuickJson:
    """Reads documents that are a row."""

    def __init__(
        self,
        fields: Sequence[t.Field],
        options: JsonOptions,
        *,
        few: int = FEW,
    ) -> None:
        self._few = few
        reading = LeafReading(
            options.spelling, options.ignores_errors, has_decimal(t.Row(tuple(fields)))
        )
        all_fields = options.fails_on_missing
        self._ways = (
            RegularJson(fields, reading, all_fields=all_fields),
            ParsedJson(fields, replace(reading, values=True), all_fields=all_fields),
            ParsedJson(fields, reading, all_fields=all_fields),
        )

    def read(self, text: pl.Series) -> list[QuickRows]:
        """The rows that are surely right; all other records are left to the exact way."""
        if text.len() < self._few:
            return []
        done: list[QuickRows] = []
        records = _candidates(text)
        for way in self._ways:
            rest = records
            if done:
                left = rest_of(text.len(), [each.index for each in done])
                rest = records.filter(left[records["index"].to_numpy()])
            if rest.height and (found := way.read(rest["text"], rest["index"])):
                done.append(found)
        return done


def _candidates(text: pl.Series) -> pl.DataFrame:
    """The records that are within the limits of Flink's parser."""
    records = pl.DataFrame({"text": text, "index": pl.int_range(text.len(), eager=True)})
    size = text.str.len_bytes()
    longest = size.max()
    if not text.null_count() and isinstance(longest, int) and longest <= MAX_NUMBER:
        return records
    record = pl.col("text")
    within = ~record.str.contains(_LONG_NUMBER) & (record.str.count_matches(r"[\[{]") <= MAX_DEPTH)
    usable = (pl.lit(size) <= MAX_NUMBER) | ((pl.lit(size) <= MAX_NAME) & within)
    return records.filter(record.is_not_null() & usable)
