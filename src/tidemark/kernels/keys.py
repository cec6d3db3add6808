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
    """Distinct keys with their hashes. Null is a key like any other here."""

    frame: pl.DataFrame
    names: tuple[str, ...]

    @classmethod
    def of(cls, names: tuple[str, ...], *frames: pl.DataFrame) -> Keys:
        """The keys in frames that call their key columns `names`."""
        keys = pl.concat([frame.select(HASH, *names) for frame in frames]).unique()
        return cls(keys.with_columns(pl.Series(KEY_NUMBER, np.arange(keys.height))), names)

    def __len__(self) -> int:
        return self.frame.height

    @property
    def hashes(self) -> Longs:
        """Ascending and distinct, as a probe wants them."""
        return distinct(longs(self.frame, HASH))

    def number(self, rows: pl.DataFrame, names: Sequence[str]) -> Longs:
        """Per row the number of its key; -1 where the key is not among these."""
        joined = rows.select(HASH, *names).join(
            self.frame,
            left_on=[HASH, *names],
            right_on=[HASH, *self.names],
            how="left",
            nulls_equal=True,
            maintain_order="left",
        )
        return longs(joined.select(pl.col(KEY_NUMBER).fill_null(-1)), KEY_NUMBER)

    def only(self, numbers: Longs) -> pl.DataFrame:
        """The hash and key columns of some of the keys, in the order of `numbers`."""
        return self.frame[numbers].drop(KEY_NUMBER)
