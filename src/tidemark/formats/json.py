"""The json format: one object in each record; an array of objects becomes one row for each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from tidemark import types as t
from tidemark.formats.blocks import records_of
from tidemark.formats.decoded import Block, Decoded
from tidemark.formats.json_exact import ExactJson
from tidemark.formats.json_options import JsonOptions
from tidemark.formats.json_quick import FEW, QuickJson
from tidemark.formats.json_rows import rest_of
from tidemark.formats.merged import RECORD, in_order


class JsonDecoder:
    """Decodes blocks of JSON records, the exact way if there are fewer than `few`."""

    def __init__(
        self, fields: Sequence[t.Field], options: Mapping[str, Any], *, few: int = FEW
    ) -> None:
        reading = JsonOptions.of("json", options)
        self._fields = fields
        self._exact = ExactJson(fields, reading)
        self._quick = QuickJson(fields, reading, few=few)

    def __call__(self, block: Block, *, file: str | None = None, first: int = 1) -> Decoded:
        records = records_of(block)
        done = self._quick.read(records.text)
        rest = pl.Series(np.flatnonzero(rest_of(records.count, [each.index for each in done])))
        exact = self._exact.read(records.binary.gather(rest).to_list(), rest.to_list(), file, first)
        parts = [[*each.columns, each.index.alias(RECORD)] for each in done]
        if exact.rows:
            index = pl.Series(RECORD, exact.index, dtype=pl.Int64)
            parts.append([*exact.columns(self._fields), index])
        rows = in_order(parts, self._fields)
        return Decoded(
            rows.drop(RECORD),
            rows[RECORD] + first,
            records=records.count,
            skipped=exact.skipped,
            slow=exact.count,
        )
