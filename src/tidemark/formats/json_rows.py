"""What the two quick ways of reading JSON share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import polars as pl

from tidemark.formats.leaf_values import Flags


@dataclass(frozen=True, slots=True)
class QuickRows:
    """The rows of some records: one for each."""

    columns: list[pl.Series]
    index: pl.Series  # of the record that a row is from

    def only(self, sure: Flags | None) -> Self:
        if sure is None or sure.all():
            return self
        chosen = pl.Series(sure)
        return type(self)([each.filter(chosen) for each in self.columns], self.index.filter(chosen))


def rest_of(count: int, done: Sequence[pl.Series]) -> Flags:
    """Which records are not done."""
    left = np.ones(count, np.bool_)
    for index in done:
        left[index.to_numpy()] = False
    return left
