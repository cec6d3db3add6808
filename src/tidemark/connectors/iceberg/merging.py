"""Brings changes into an Iceberg table by key: files with rows of the keys are written anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tidemark.connectors.iceberg.writing import new_files
from tidemark.connectors.lake.staging import GOES

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyiceberg.table import Table as IcebergTable


@dataclass(frozen=True, slots=True)
class IcebergMerge:
    """Inserts, updates and deletes the rows of these columns."""

    columns: tuple[str, ...]
    keys: Sequence[str]

    def run(self, table: IcebergTable, change: Any, changes: pa.Table) -> None:
        import pyarrow.compute as pc

        rewritten = [*self._rewritten(table, changes.select(self.keys))]
        stays = changes.filter(pc.invert(changes.column(GOES))).drop_columns([GOES])
        if not rewritten and not stays.num_rows:
            return
        snapshot = change.snapshot()
        with snapshot.overwrite() if rewritten else snapshot.fast_append() as made:
            for task, kept in rewritten:
                made.delete_data_file(task.file)
                for file in new_files(table, kept) if kept.num_rows else ():
                    made.append_data_file(file)
            for file in new_files(table, stays) if stays.num_rows else ():
                made.append_data_file(file)

    def _rewritten(self, table: IcebergTable, keys: pa.Table) -> Any:
        """The files with rows of the keys, and their other rows."""
        from pyiceberg.expressions import AlwaysTrue
        from pyiceberg.io.pyarrow import ArrowScan

        scan = ArrowScan(table.metadata, table.io, table.schema(), AlwaysTrue())
        wanted = _frame(keys)
        for task in table.scan(row_filter=_range_of(wanted)).plan_files():
            rows = scan.to_table([task])
            found = _frame(rows.select(self.keys)).with_row_index("_tm_at")
            gone = found.join(wanted, on=[*self.keys], how="semi")["_tm_at"]
            if gone.len():
                kept = ~found["_tm_at"].is_in(gone.implode())
                yield task, rows.filter(kept.to_arrow())


def _frame(rows: pa.Table) -> pl.DataFrame:
    import polars as pl

    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    return frame


def _range_of(keys: pl.DataFrame) -> Any:
    """A condition that rows of the keys meet, by which files are left out."""
    from pyiceberg.expressions import AlwaysTrue, And, GreaterThanOrEqual, LessThanOrEqual

    condition: Any = AlwaysTrue()
    for name in keys.columns:
        low, high = keys[name].min(), keys[name].max()
        if isinstance(low, (int, str)) and not isinstance(low, bool):
            bounds = And(GreaterThanOrEqual(name, low), LessThanOrEqual(name, high))
            condition = And(condition, bounds)
    return condition
