"""The columns of a table, from the expressions of its options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tidemark import types as t
from tidemark.connectors.faker.expressions import Expression, FakerCall, members, parse
from tidemark.connectors.faker.functions import FUNCTIONS, Computed, Document, Library, Template
from tidemark.connectors.faker.made.computed import COMPUTED, CallOfRows
from tidemark.connectors.faker.made.converted import converted
from tidemark.connectors.faker.made.documents import document
from tidemark.connectors.faker.made.pattern_columns import constant, one_of
from tidemark.connectors.faker.made.pools import pool
from tidemark.connectors.made_rows.columns import strings
from tidemark.connectors.made_rows.columns.draws import Draws
from tidemark.connectors.made_rows.columns.rows import Longs
from tidemark.functions.spark_text import safe_names


@dataclass(frozen=True, slots=True)
class FakerColumns:
    options: Mapping[str, Any]
    seed: str

    def column(self, name: str, type_: t.DataType, numbers: Longs, now: Longs) -> pa.Array:
        path = f"fields.{name}"
        draws = Draws(path, self.seed, numbers.astype(np.uint64))
        values = self._values(path, type_, draws, now)
        rate = self.options.get(f"{path}.null-rate")
        if not rate:
            return values
        kept = pa.array(draws.fractions("null") >= rate)
        return pc.if_else(kept, values, pa.scalar(None, values.type))

    def _values(self, path: str, type_: t.DataType, draws: Draws, now: Longs) -> pa.Array:
        count = int(self.options.get(f"{path}.length") or 1)
        match type_:
            case t.Array(element=element):
                values = self._elements(path, element, draws, now, count)
                of_rows = strings.offsets(np.full(len(now), count))
                return pa.LargeListArray.from_arrays(of_rows, values)
            case t.Multiset(element=element):
                values = self._elements(path, element, draws, now, count)
                return _counted(values, len(now))
            case t.Map(key=key, value=value):
                keys = self._elements(f"{path}.key", key, draws, now, count)
                return _last(
                    keys, self._elements(f"{path}.value", value, draws, now, count), len(now)
                )
            case t.Row(fields=fields):
                columns = [
                    self._values(f"{path}.{f.name}", f.type, draws.field(f.name), now)
                    for f in fields
                ]
                return pa.StructArray.from_arrays(columns, safe_names([f.name for f in fields]))
        return self._made(path, type_, draws, now)

    def _elements(
        self, path: str, type_: t.DataType, draws: Draws, now: Longs, count: int
    ) -> pa.Array:
        """Those of all collections, one after the other."""
        inner = draws.elements(path.rpartition(".")[2], count)
        return self._made(path, type_, inner, np.repeat(now, count))

    def _made(self, path: str, type_: t.DataType, draws: Draws, now: Longs) -> pa.Array:
        key = f"{path}.expression"
        return converted(evaluated(parse(self.options[key]), draws, now), type_, key)


def evaluated(expression: Expression, draws: Draws, now: Longs) -> pa.Array:
    """Strings, or values of another type if the expression is one call that makes them."""
    parts = []
    for number, part in enumerate(expression):
        inner = draws.field(str(number))
        made = _called(part, inner, now) if isinstance(part, FakerCall) else part
        parts.append(made)
    if len(parts) == 1 and isinstance(parts[0], pa.Array):
        return parts[0]
    if all(isinstance(part, str) for part in parts):
        return constant("".join(map(str, parts)), len(now))
    return strings.joined(*(p if isinstance(p, str) else p.cast(pa.large_string()) for p in parts))


def _called(call: FakerCall, draws: Draws, now: Longs) -> pa.Array:
    source = FUNCTIONS[call.name]
    match source:
        case Library(method=method):
            return one_of(draws, pool(method))
        case Template(text=text):
            return evaluated(parse(text), draws, now)
        case Document(arrays=arrays):
            of_text = partial(_of_text, now=now)
            return document(members(call, arrays=arrays), draws, of_text)
        case Computed(name=name):
            return COMPUTED[name](CallOfRows(call.arguments, draws, now))
    return one_of(draws, source)


def _of_text(text: str, draws: Draws, now: Longs) -> pa.Array:
    return evaluated(parse(text), draws, now)


# --- collections -------------------------------------------------------------------------------


def _counted(values: pa.Array, rows: int) -> pa.Array:
    """Multisets: how often each value is in a row."""
    entries = _entries(values, rows).group_by("row", "key", maintain_order=True).len("value")
    return _maps(entries, values.type, pa.int32(), rows)


def _last(keys: pa.Array, values: pa.Array, rows: int) -> pa.Array:
    """Maps with the last value of each key."""
    entries = _entries(keys, rows).with_columns(pl.Series("value", values))
    entries = entries.unique(["row", "key"], keep="last", maintain_order=True)
    return _maps(entries, keys.type, values.type, rows)


def _entries(keys: pa.Array, rows: int) -> pl.DataFrame:
    of_row = np.repeat(np.arange(rows), len(keys) // max(rows, 1))
    return pl.DataFrame({"row": of_row, "key": pl.Series(keys)})


def _maps(entries: pl.DataFrame, key: pa.DataType, value: pa.DataType, rows: int) -> pa.Array:
    sizes = np.bincount(entries["row"].to_numpy(), minlength=rows)
    keys, values = entries["key"].to_arrow(), entries["value"].to_arrow()
    of_rows = strings.offsets(sizes).cast(pa.int32())
    return pa.MapArray.from_arrays(of_rows, keys.cast(key), values.cast(value))
