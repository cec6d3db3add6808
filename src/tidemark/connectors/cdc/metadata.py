"""What is known of a change besides its row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final, TypeAlias

from tidemark import types as t

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import polars as pl

METADATA: Final[Mapping[str, t.DataType]] = {
    "table_name": t.VarChar(nullable=False),
    "database_name": t.VarChar(nullable=False),
    "op_ts": t.TimestampLtz(3, nullable=False),
    "row_kind": t.VarChar(nullable=False),
}

# Makes the values of a key.
OfRows: TypeAlias = Callable[[str], "pl.Series"]


def metadata(
    names: Mapping[str, str], kinds: pl.Series, changed_us: npt.NDArray[np.int64]
) -> OfRows:
    """What makes the values of a key: a name is the same for all rows."""

    def made(key: str) -> pl.Series:
        import polars as pl

        from tidemark.columns import polars_type

        if key == "row_kind":
            return kinds
        if key == "op_ts":
            milliseconds = pl.Series(changed_us // 1000, dtype=pl.Int64)
            return milliseconds.cast(pl.Datetime("ms", "UTC")).cast(polars_type(METADATA[key]))
        return pl.repeat(names[key], len(kinds), dtype=pl.String, eager=True)

    return made
