"""New data files of a Delta table, written by the tasks that have the rows. They are in the table
when a version names them.
"""

from __future__ import annotations

import datetime as dt
import json
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tidemark.connectors.delta.values import text_of
from tidemark.connectors.filesystem.places import partition_folder
from tidemark.connectors.lake.encoding import TableColumns
from tidemark.storage import Location

if TYPE_CHECKING:
    import pyarrow as pa
    from pyarrow.parquet import FileMetaData, ParquetWriter

_NO_VALUE: Final = "__HIVE_DEFAULT_PARTITION__"
# A file that has grown to this is closed.
_ENOUGH: Final = 256 << 20
# How many files a task has open. More partitions than these are written to more files.
_MOST_OPEN: Final = 100
# Longer strings are not used as bounds of a file.
_LONGEST: Final = 32


@dataclass(frozen=True, slots=True)
class NewFile:
    """What the log says of a file; its path is relative, and not encoded as in the log."""

    path: str
    size: int
    values: Mapping[str, str | None]
    rows: int
    stats: str
    made_ms: int = field(default_factory=lambda: time.time_ns() // 1_000_000)

    def written(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, text: str) -> NewFile:
        return cls(**json.loads(text))


@dataclass(frozen=True, slots=True)
class DeltaTableFiles:
    """Writes the rows of a task. Its notes are the files."""

    folder: Location
    columns: TableColumns
    partitioned_by: tuple[str, ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, str]]:
        from tidemark.runtime.combining import gathered

        open_: dict[str, _Growing] = {}  # those added to last come last
        try:
            for table in gathered(batch for batch in batches if batch.num_rows):
                for values, rows in self._divided(self.columns.of(table)):
                    key = json.dumps(values)
                    file = open_.pop(key, None) or _Growing(self.folder, values)
                    file.add(rows)
                    if file.size >= _ENOUGH:
                        yield file.finished()
                        continue
                    open_[key] = file
                    if len(open_) > _MOST_OPEN:
                        yield open_.pop(next(iter(open_))).finished()
            while open_:
                yield open_.pop(next(iter(open_))).finished()
        finally:
            for file in open_.values():
                file.give_up()

    def _divided(self, rows: pa.Table) -> Iterator[tuple[Mapping[str, str | None], pa.Table]]:
        """The rows of each partition, without its columns."""
        if not self.partitioned_by:
            yield {}, rows
            return
        import polars as pl

        keys = pl.from_arrow(rows.select(self.partitioned_by))
        assert isinstance(keys, pl.DataFrame)
        groups = (
            keys.with_row_index("_tm_at")
            .group_by(keys.columns, maintain_order=True)
            .agg("_tm_at", _tm_rows=pl.len())
        )
        inside = rows.drop_columns([*self.partitioned_by])
        if groups.height > 1:
            inside = inside.take(groups["_tm_at"].explode().to_arrow())
        start = 0
        for *values, _, count in groups.iter_rows():
            # An empty string and NULL are the same partition.
            texts = {n: text_of(v) or None for n, v in zip(keys.columns, values, strict=True)}
            yield texts, inside.slice(start, count)
            start += count


class _Growing:
    """A file that rows are added to."""

    def __init__(self, table: Location, values: Mapping[str, str | None]) -> None:
        self._values, self._table = values, table
        folder = partition_folder(values, _NO_VALUE)
        self._name = f"{folder}/" * bool(folder) + f"part-{uuid.uuid4()}.snappy.parquet"
        self._location = table / self._name
        self._location.parent.make()
        self._native = self._location.output()
        self._writer: ParquetWriter | None = None
        self._about: list[FileMetaData] = []

    @property
    def size(self) -> int:
        return int(self._native.tell())

    def add(self, rows: pa.Table) -> None:
        from pyarrow.parquet import ParquetWriter

        if self._writer is None:
            self._writer = ParquetWriter(
                self._native,
                rows.schema,
                compression="snappy",
                write_page_checksum=True,
                metadata_collector=self._about,
            )
        self._writer.write_table(rows, rows.num_rows)

    def finished(self) -> tuple[int, str]:
        assert self._writer is not None
        self._writer.close()
        size = self.size
        self._native.close()
        [about] = self._about
        stats = json.dumps(statistics(about))
        file = NewFile(self._name, size, self._values, about.num_rows, stats)
        return about.num_rows, file.written()

    def give_up(self) -> None:
        self._native.close()
        self._location.remove()


# --- statistics --------------------------------------------------------------------------------


def statistics(about: FileMetaData) -> dict[str, Any]:
    """What readers can leave a file out by: bounds and numbers of NULLs of plain columns."""
    least: dict[str, Any] = {}
    most: dict[str, Any] = {}
    nulls: dict[str, int] = {}
    for place in range(about.num_columns):
        parts = [about.row_group(group).column(place) for group in range(about.num_row_groups)]
        name = about.schema.column(place).name
        known = [part.statistics for part in parts]
        if parts[0].path_in_schema != name or not all(known):
            continue  # a part of a nested column
        if all(one.has_null_count for one in known):
            nulls[name] = sum(one.null_count for one in known)
        # A group of NULLs has no bounds.
        bounds = [(one.min, one.max) for one in known if one.has_min_max]
        if bounds and len(bounds) + sum(one.num_values == 0 for one in known) >= len(known):
            low, high = min(b[0] for b in bounds), max(b[1] for b in bounds)
            if _is_a_bound(low) and _is_a_bound(high):
                least[name], most[name] = _written(low), _written(high)
    return {
        "numRecords": about.num_rows,
        "minValues": least,
        "maxValues": most,
        "nullCount": nulls,
    }


def _is_a_bound(value: Any) -> bool:
    """Floats are none: of NaN they say nothing, which is larger than any number."""
    if isinstance(value, str):
        return len(value) <= _LONGEST
    return isinstance(value, (int, dt.date)) and not isinstance(value, bool)


def _written(value: Any) -> Any:
    if isinstance(value, dt.datetime):
        if value.tzinfo is not None:
            value = value.astimezone(dt.UTC)
            return value.replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"
        return value.isoformat(timespec="microseconds")
    return value.isoformat() if isinstance(value, dt.date) else value


def adds(files: Sequence[NewFile]) -> list[Any]:
    """The actions that add files to a table."""
    from deltalake.transaction import AddAction

    return [AddAction(f.path, f.size, dict(f.values), f.made_ms, True, f.stats) for f in files]
