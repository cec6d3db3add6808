"""The keys a step touches, each under a small number of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemark.kernels.columns import HASH
from tidemark.kernels.tables import Longs, distinct, longs

KEY_NUMBER = "_tm_key"


@dataclass(frozen=True, slots=True)
class Keys:
    """Distinct keys with their hashes. Null is a key like any other here.

    Libraries look up one whole number several times faster than a number and other columns. So
    hashes stand for keys, unless two keys of one hash are seen (`by_hash` is false then).
    """

    frame: pl.DataFrame
    names: tuple[str, ...]
    by_hash: bool = True

    @classmethod
    def of(cls, names: tuple[str, ...], *frames: pl.DataFrame) -> Keys:
        """The keys in frames that call their key columns `names`."""
        rows = pl.concat([frame.select(HASH, *names) for frame in frames])
        by_hash = cls._numbered(rows.unique(HASH, keep="any"), names, by_hash=True)
        if by_hash._tells_apart(rows, names, by_hash._by_hash(rows)):
            return by_hash
        return cls._numbered(rows.unique(), names, by_hash=False)

    @classmethod
    def _numbered(cls, keys: pl.DataFrame, names: tuple[str, ...], by_hash: bool) -> Keys:
        numbers = pl.Series(KEY_NUMBER, np.arange(keys.height))
        return cls(keys.with_columns(numbers), names, by_hash)

    def __len__(self) -> int:
        return self.frame.height

    @property
    def hashes(self) -> Longs:
        """Ascending and distinct, as a probe wants them."""
        return distinct(longs(self.frame, HASH))

    def number(self, rows: pl.DataFrame, names: Sequence[str]) -> Longs:
        """Per row the number of its key; -1 where the key is not among these."""
        if self.by_hash:
            numbers = self._by_hash(rows)
            if self._tells_apart(rows, names, numbers):
                return numbers
        on, keys = [HASH, *names], [HASH, *self.names]
        return self._looked_up(rows.select(on), on, keys)

    def _by_hash(self, rows: pl.DataFrame) -> Longs:
        return self._looked_up(rows.select(HASH), [HASH], [HASH])

    def _looked_up(self, rows: pl.DataFrame, on: list[str], keys: list[str]) -> Longs:
        joined = rows.join(
            self.frame.select(*keys, KEY_NUMBER),
            left_on=on,
            right_on=keys,
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        return longs(joined.select(pl.col(KEY_NUMBER).fill_null(-1)), KEY_NUMBER)

    def _tells_apart(self, rows: pl.DataFrame, names: Sequence[str], numbers: Longs) -> bool:
        """Whether every row that was given a number has that key, not only its hash."""
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
        return self.frame[numbers].drop(KEY_NUMBER)
