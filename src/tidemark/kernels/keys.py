"""The keys that a step touches, each with a small number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from tidemark.kernels.columns import HASH
from tidemark.kernels.sorting import stable_order
from tidemark.kernels.tables import Longs, distinct, in_arrow, longs, of_arrow

_NUMBER = "_tm_key"
_HASHES: Final = pl.col(HASH)


@dataclass(frozen=True, slots=True)
class Keys:
    """Distinct keys with their hashes. NULL is a key like any other here.

    Libraries look up a single integer several times faster than an integer and other columns. So
    hashes represent keys, unless two keys have the same hash (`by_hash` is false then).
    """

    frame: pl.DataFrame
    names: tuple[str, ...]
    by_hash: bool = True

    @classmethod
    def of(cls, names: tuple[str, ...], *frames: pl.DataFrame) -> Keys:
        """The keys in frames that call their key columns `names`."""
        return cls.numbering(names, *frames)[0]

    @classmethod
    def numbering(cls, names: tuple[str, ...], *frames: pl.DataFrame) -> tuple[Keys, list[Longs]]:
        """The keys in frames, and for each frame the numbers of its rows' keys."""
        rows = pl.concat([frame.select(HASH, *names) for frame in frames])
        encoded = _arrow(rows).dictionary_encode()
        numbers = of_arrow(encoded.indices)
        some_row = np.empty(len(encoded.dictionary), dtype=np.int64)
        some_row[numbers] = np.arange(rows.height)
        keys = cls(rows[some_row], names)
        if not keys._are_exact(rows, names, numbers):
            keys = cls(rows.unique(), names, by_hash=False)
            numbers = keys.number(rows, names)
        ends = np.cumsum([frame.height for frame in frames])
        return keys, np.split(numbers, ends[:-1])

    def __len__(self) -> int:
        return self.frame.height

    @property
    def hashes(self) -> Longs:
        """Ascending and distinct, as required for a probe."""
        return distinct(longs(self.frame, HASH))

    def number(self, rows: pl.DataFrame, names: Sequence[str]) -> Longs:
        """Per row the number of its key; -1 if the key is not among these."""
        if self.by_hash:
            found = pc.index_in(_arrow(rows), value_set=_arrow(self.frame))
            numbers = of_arrow(found)
            if self._are_exact(rows, names, numbers):
                return numbers
        return self._looked_up(rows, [HASH, *names])

    def _looked_up(self, rows: pl.DataFrame, on: list[str]) -> Longs:
        numbered = self.frame.with_columns(pl.Series(_NUMBER, np.arange(len(self))))
        joined = rows.select(on).join(
            numbered,
            left_on=on,
            right_on=[HASH, *self.names],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        return longs(joined.select(pl.col(_NUMBER).fill_null(-1)), _NUMBER)

    def _are_exact(self, rows: pl.DataFrame, names: Sequence[str], numbers: Longs) -> bool:
        """Whether every row with a number has that key, not only its hash."""
        known = numbers >= 0
        if not known.all():
            rows, numbers = rows.filter(known), numbers[known]
        mine = self.frame.select(self.names)[numbers]
        return all(
            rows[theirs].eq_missing(mine[own]).all()
            for theirs, own in zip(names, self.names, strict=True)
        )

    def only(self, numbers: Longs) -> pl.DataFrame:
        """The hash and key columns of some of the keys, in the order of `numbers`."""
        return self.frame[numbers]


def _arrow(rows: pl.DataFrame) -> pa.Array:
    """The hashes. Arrow numbers and finds them in one pass, without sorting or joining."""
    return in_arrow(longs(rows, HASH))


def last_of_each(
    rows: pl.DataFrame, names: Sequence[str], hashes: pl.Expr = _HASHES
) -> pl.DataFrame:
    """The last row of each key, in the order in which they are. Equal keys have equal `hashes`."""
    hashed = longs(rows.select(hashes.alias(HASH)), HASH)
    order = stable_order(hashed)
    same = np.diff(hashed[order]) == 0
    if not equal_rows(rows, order[:-1][same], order[1:][same], names).all():
        return rows.unique([*names], keep="last", maintain_order=True)
    last = order[np.append(~same, True)[: order.size]]
    return rows if last.size == order.size else rows[np.sort(last)]


def equal_rows(
    rows: pl.DataFrame, one: Longs, other: Longs, columns: Sequence[str]
) -> npt.NDArray[np.bool_]:
    """Whether pairs of rows are equal in these columns, where NULLs are equal."""
    equal = np.ones(one.size, dtype=bool)
    for name in columns:
        column = rows[name]
        equal &= column[one].eq_missing(column[other]).to_numpy()
    return equal


def has_null(rows: pl.DataFrame, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Per row whether any of these columns is null."""
    nulls = np.zeros(rows.height, dtype=bool)
    for name in names:
        if rows[name].null_count():
            nulls |= rows[name].is_null().to_numpy()
    return nulls
