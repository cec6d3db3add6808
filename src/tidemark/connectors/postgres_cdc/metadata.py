"""What is known of a change besides its row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final

from tidemark import types as t
from tidemark.connectors.postgres_cdc.captured import Captured

if TYPE_CHECKING:
    import polars as pl

    from tidemark.formats.pgoutput import Longs

METADATA: Final[Mapping[str, t.DataType]] = {
    "table_name": t.VarChar(nullable=False),
    "schema_name": t.VarChar(nullable=False),
    "database_name": t.VarChar(nullable=False),
    "op_ts": t.TimestampLtz(3, nullable=False),
    "row_kind": t.VarChar(nullable=False),
}


def metadata(
    captured: Captured, kinds: pl.Series, committed_us: Longs
) -> Callable[[str], pl.Series]:
    """A function that makes the values of a key. Times are those of the commits."""
    names = {
        "table_name": captured.table,
        "schema_name": captured.schema,
        "database_name": captured.database.name,
    }

    def made(key: str) -> pl.Series:
        import polars as pl

        from tidemark.columns import polars_type

        if key == "row_kind":
            return kinds
        if key == "op_ts":
            milliseconds = pl.Series(committed_us // 1000, dtype=pl.Int64)
            return milliseconds.cast(pl.Datetime("ms", "UTC")).cast(polars_type(METADATA[key]))
        return pl.repeat(names[key], len(kinds), dtype=pl.String, eager=True)

    return made
