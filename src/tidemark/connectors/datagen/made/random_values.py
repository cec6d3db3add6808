"""Random values of each type as Arrow columns, by the options `fields.<path>.<what>`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tidemark import types as t
from tidemark.columns.moments import to_clock
from tidemark.connectors.datagen.sizes import bounds, count_of, length_of
from tidemark.connectors.made_rows.columns import strings
from tidemark.connectors.made_rows.columns.draws import Bytes, Draws
from tidemark.connectors.made_rows.columns.rows import Longs
from tidemark.functions.arrow_types import to_arrow
from tidemark.functions.spark_text import safe_names

_INTEGERS: Final[Mapping[type[t.DataType], type[np.signedinteger[Any]]]] = {
    t.TinyInt: np.int8,
    t.SmallInt: np.int16,
    t.Int: np.int32,
    t.BigInt: np.int64,
}
_ALL_WORDS: Final = 1 << 64
_MOST_COPIES: Final = 10
_MICROS_OF_DAY: Final = 86_400_000_000
# The length of random intervals: a million seconds, ten thousand years.
_INTERVAL_MS, _INTERVAL_MONTHS = 1_000_000_000, 120_000


@dataclass(frozen=True, slots=True)
class RandomValues:
    """Makes columns. Times are at or before `now`, in milliseconds, of each row."""

    options: Mapping[str, Any]
    zone: str
    now: Longs

    def column(self, type_: t.DataType, draws: Draws) -> pa.Array:
        values = self._values(type_, draws)
        rate = self.options.get(f"{draws.path}.null-rate")
        if not rate:
            return values
        kept = pa.array(draws.fractions("null") >= rate)
        return pc.if_else(kept, values, pa.scalar(None, values.type))

    def _values(self, type_: t.DataType, draws: Draws) -> pa.Array:
        match type_:
            case t.Boolean():
                return pa.array(draws.words() & np.uint64(1) == 1)
            case t.TinyInt() | t.SmallInt() | t.Int() | t.BigInt():
                return self._integers(type_, draws)
            case t.Float() | t.Double() | t.Decimal():
                return self._reals(type_, draws)
            case t.Char() | t.VarChar():
                text = draws.digits(length_of(type_, draws.path, self.options))
                return self._strings(pa.large_string(), text, draws)
            case t.Binary() | t.VarBinary():
                some = draws.bytes(length_of(type_, draws.path, self.options))
                return self._strings(pa.large_binary(), some, draws)
            case t.Date() | t.Time() | t.Timestamp() | t.TimestampLtz():
                return self._times(type_, draws)
            case t.DayTimeInterval():
                milliseconds = draws.words() % np.uint64(_INTERVAL_MS)
                return pa.array((milliseconds * np.uint64(1000)).view("m8[us]"))
            case t.YearMonthInterval():
                return pa.array((draws.words() % np.uint64(_INTERVAL_MONTHS)).astype(np.int32))
        return self._nested(type_, draws)

    def _integers(self, type_: t.DataType, draws: Draws) -> pa.Array:
        low, high = map(int, bounds(type_, draws.path, self.options))
        size, words = high - low + 1, draws.words()
        offsets = words if size == _ALL_WORDS else words % np.uint64(size)
        values = (offsets + np.uint64(low % _ALL_WORDS)).view(np.int64)
        return pa.array(values.astype(_INTEGERS[type(type_)]))

    def _reals(self, type_: t.DataType, draws: Draws) -> pa.Array:
        low, high = map(float, bounds(type_, draws.path, self.options))
        share = draws.fractions()
        # The difference of the bounds may be more than the largest number.
        values = np.clip(low * (1 - share) + high * share, low, high)
        return pa.array(values).cast(to_arrow(type_))

    def _strings(self, type_: pa.DataType, units: Bytes, draws: Draws) -> pa.Array:
        """A string of each line of units; of random length, if it may vary."""
        lengths, longest = None, units.shape[1]
        if longest and self.options.get(f"{draws.path}.var-len"):
            lengths = (draws.words("length") % np.uint64(longest)).astype(np.int64) + 1
        return strings.of_lines(units, lengths, type_)

    def _times(self, type_: t.DataType, draws: Draws) -> pa.Array:
        past = int(self.options.get(f"{draws.path}.max-past") or 0)
        milliseconds = np.resize(self.now, len(draws.numbers))
        if past:
            milliseconds = milliseconds - (draws.fractions() * past).astype(np.int64)
        instants = pl.Series(milliseconds * 1000).cast(pl.Datetime("us", "UTC"))
        if isinstance(type_, t.TimestampLtz):
            return instants.to_arrow()
        clocks = pl.select(to_clock(pl.lit(instants), self.zone)).to_series()
        match type_:
            case t.Date():
                return clocks.dt.date().to_arrow()
            case t.Time():
                return pa.array(clocks.to_physical().to_numpy() % _MICROS_OF_DAY, pa.time64("us"))
        return clocks.to_arrow()

    # --- collections ---------------------------------------------------------------------------

    def _nested(self, type_: t.DataType, draws: Draws) -> pa.Array:
        match type_:
            case t.Array(element=element):
                of_rows = strings.offsets(np.full(len(draws.numbers), self._count(draws)))
                return pa.LargeListArray.from_arrays(
                    of_rows, self._elements(element, "element", draws)
                )
            case t.Map(key=key, value=value):
                keys = self._elements(key, "key", draws)
                return self._map(keys, self._elements(value, "value", draws), draws)
            case t.Multiset(element=element):
                keys = self._elements(element, "element", draws)
                copies = draws.elements("copies", self._count(draws)).words()
                counts = (copies % np.uint64(_MOST_COPIES)).astype(np.int32) + np.int32(1)
                return self._map(keys, pa.array(counts), draws)
            case t.Row(fields=fields):
                columns = [self.column(f.type, draws.field(f.name)) for f in fields]
                return pa.StructArray.from_arrays(columns, safe_names([f.name for f in fields]))
        raise ValueError(f"datagen does not support {type_}")

    def _count(self, draws: Draws) -> int:
        return count_of(draws.path, self.options)

    def _elements(self, type_: t.DataType, name: str, draws: Draws) -> pa.Array:
        """Those of all collections, one after the other."""
        return self._of_elements(draws).column(type_, draws.elements(name, self._count(draws)))

    def _of_elements(self, draws: Draws) -> RandomValues:
        """What makes values inside the collections: each is as old as its row."""
        now = np.repeat(np.resize(self.now, len(draws.numbers)), self._count(draws))
        return RandomValues(self.options, self.zone, now)

    def _map(self, keys: pa.Array, values: pa.Array, draws: Draws) -> pa.Array:
        """Maps with the first of equal keys, of which there may be some if few are possible, and
        none that is NULL. Each has the first of its values.
        """
        rows, count = len(draws.numbers), self._count(draws)
        of_row = np.repeat(np.arange(rows), count)
        entries = pl.DataFrame({"row": of_row, "key": pl.Series(keys)}).with_row_index("at")
        first = entries.filter(pl.col("key").is_not_null()).unique(
            ["row", "key"], keep="first", maintain_order=True
        )
        sizes = np.bincount(first["row"].to_numpy(), minlength=rows)
        with_value = np.tile(np.arange(count), rows) < np.repeat(sizes, count)
        return pa.MapArray.from_arrays(
            strings.offsets(sizes).cast(pa.int32()),
            keys.take(first["at"].to_arrow()),
            values.filter(pa.array(with_value)),
        )
