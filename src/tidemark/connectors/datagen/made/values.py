"""The values of a table: sequences and random ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from tidemark.connectors.datagen.made.random_values import RandomValues
from tidemark.connectors.datagen.made.sequences import sequence
from tidemark.connectors.made_rows.columns.draws import Draws
from tidemark.connectors.made_rows.columns.rows import Longs
from tidemark.types import DataType


@dataclass(frozen=True, slots=True)
class DatagenValues:
    options: Mapping[str, Any]
    seed: str
    zone: str

    def column(self, name: str, type_: DataType, numbers: Longs, now: Longs) -> pa.Array:
        path = f"fields.{name}"
        if self.options.get(f"{path}.kind") == "sequence":
            return sequence(type_, Decimal(self.options[f"{path}.start"]), numbers)
        draws = Draws(path, self.seed, numbers.astype(np.uint64))
        return RandomValues(self.options, self.zone, now).column(type_, draws)
