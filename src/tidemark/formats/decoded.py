"""What every decoder takes and returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

import polars as pl
import pyarrow as pa

# Whole records with line ends between them, or a record in each value; NULL is not a record.
Block: TypeAlias = bytes | bytearray | memoryview | pa.Buffer | pa.BinaryArray | pa.LargeBinaryArray


@dataclass(frozen=True, slots=True)
class Decoded:
    """The rows of a block, in order: the fields as columns, by name.

    Types are as in `functions/arrow_types.py`, with `safe_names` inside rows.
    """

    rows: pl.DataFrame
    record: pl.Series  # for each row, the number of its record, which is that of its first line
    records: int  # how many lines or values the block has: the next one begins after them
    skipped: int = 0  # bad records that were left out
    slow: int = 0  # records that took the exact way; empty ones are not counted
    kinds: pl.Series | None = None  # for each row of a changelog format, `+I`, `-U`, `+U` or `-D`
    metadata: Mapping[str, pl.Series] = field(default_factory=dict)  # by key


class Decoder(Protocol):
    def __call__(self, block: Block, *, file: str | None = None, first: int = 1) -> Decoded:
        """Decodes a block of `file` whose first line or value has the number `first`.

        Raises a DataError for the first bad record, unless the format's options skip it.
        """
        ...
