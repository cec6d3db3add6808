"""Records of any shape: parsed to objects, and these to columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
import polars as pl

from tidemark import types as t
from tidemark.formats.json_columns import Fields, LeafReading
from tidemark.formats.json_rows import QuickRows
from tidemark.formats.json_structs import struct_of
from tidemark.formats.leaf_values import Flags

# The objects of that many records fit into a processor's cache.
_AT_ONCE = 2_048
# How many records are looked at, and the share of them whose leaves must be values of their types.
_LOOKED_AT = 32
_MOST = 0.9


class ParsedJson:
    def __init__(
        self, fields: Sequence[t.Field], reading: LeafReading, *, all_fields: bool
    ) -> None:
        self._fields = tuple(fields)
        self._reading = reading
        self._parser = _parser(self._fields, reading.values, all_fields)

    def read(self, records: pl.Series, index: pl.Series) -> QuickRows | None:
        if self._parser is None or not self._fits(records):
            return None
        collected = Fields(self._fields, self._reading)
        binary = records.cast(pl.Binary)
        parsed = [
            self._collect(binary.slice(start, _AT_ONCE).to_list(), collected)
            for start in range(0, binary.len(), _AT_ONCE)
        ]
        return self._rows(collected, index.filter(pl.Series(np.concatenate(parsed))))

    def _fits(self, records: pl.Series) -> bool:
        """Whether most of the records have leaves of the right types, if that matters."""
        if not self._reading.values:
            return True
        some = records.gather_every(max(1, records.len() // _LOOKED_AT)).cast(pl.Binary).to_list()
        return sum(row is not None for row in self._parse(some)) >= _MOST * len(some)

    def _collect(self, lines: list[bytes], collected: Fields) -> Flags:
        """Adds the rows of lines. Returns which lines are documents of the right structure."""
        rows = self._parse(lines)
        there = [each for each in rows if each is not None]
        collected.add(there)
        if len(there) == len(rows):
            return np.ones(len(rows), np.bool_)
        return np.array([each is not None for each in rows])

    def _parse(self, lines: Sequence[bytes]) -> list[Any]:
        assert self._parser is not None
        rows: list[Any] = []
        rest = iter(lines)
        while len(rows) < len(lines):
            try:
                # If it fails, the rows before remain.
                rows.extend(map(self._parser.decode, rest))
            except (msgspec.DecodeError, RecursionError):
                rows.append(None)
        return rows

    def _rows(self, collected: Fields, index: pl.Series) -> QuickRows:
        found = collected.found()
        columns = [
            part.values.alias(each.name) for part, each in zip(found, self._fields, strict=True)
        ]
        sure = [part.sure for part in found if part.sure is not None]
        return QuickRows(columns, index).only(np.logical_and.reduce(sure) if sure else None)


def _parser(
    fields: tuple[t.Field, ...], values: bool, all_fields: bool
) -> msgspec.json.Decoder[Any] | None:
    try:
        struct = struct_of(fields, values=values, required=all_fields)
    except ValueError:
        return None  # a name with quotes or a backslash
    return msgspec.json.Decoder(struct)
