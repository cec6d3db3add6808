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


class ParsedJson:
    def __init__(
        self, fields: Sequence[t.Field], reading: LeafReading, *, all_fields: bool
    ) -> None:
        self._fields = tuple(fields)
        self._reading = reading
        self._all_fields = all_fields
        self._parser = _parser(self._fields)

    def read(self, records: pl.Series, index: pl.Series) -> QuickRows | None:
        if self._parser is None:
            return None
        collected = Fields(self._fields, self._reading)
        binary = records.cast(pl.Binary)
        parsed = [
            self._collect(binary.slice(start, _AT_ONCE).to_list(), collected)
            for start in range(0, binary.len(), _AT_ONCE)
        ]
        return self._rows(collected, index.filter(pl.Series(np.concatenate(parsed))))

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
        if self._all_fields:
            sure += [~part.absent for part in found]
        return QuickRows(columns, index).only(np.logical_and.reduce(sure) if sure else None)


def _parser(fields: tuple[t.Field, ...]) -> msgspec.json.Decoder[Any] | None:
    try:
        return msgspec.json.Decoder(struct_of(fields))
    except ValueError:
        return None  # a name with quotes or a backslash
