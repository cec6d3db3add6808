"""Changes of tasks on their way into a table by key: each task leaves the last change of its keys
in files, until all have done so.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tidemark.catalog.tables import Changelog
from tidemark.connectors.base import Target
from tidemark.connectors.lake.encoding import TableColumns
from tidemark.connectors.last_changes import GONE, last_changes, of_tasks, with_gone
from tidemark.storage import Location

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa


# Whether a row goes, beside the columns of a table: not the name of a user's column.
GOES: Final = "_tm_gone"


@dataclass(frozen=True, slots=True)
class LakeStaging:
    """Takes the changes of a task. Its note is the names of files, in order."""

    folder: Location
    columns: TableColumns
    keys: tuple[str, ...]
    retracts: bool

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, str | None]]:
        import polars as pl

        from tidemark.runtime.combining import gathered

        rows = 0
        files: list[str] = []
        for table in gathered(batch for batch in batches if batch.num_rows):
            sent = pl.from_arrow(table)
            assert isinstance(sent, pl.DataFrame)
            marked = with_gone(sent, self._names)
            last = last_changes(marked, self._keys, retracts=self.retracts)
            name = uuid.uuid4().hex
            with (self.folder / name).output() as file:
                last.write_ipc(file, compression="zstd")
            rows, files = rows + table.num_rows, [*files, name]
        yield rows, " ".join(files) if files else None

    @contextmanager
    def ready(self) -> Iterator[None]:
        """The folder, without what a job has left that was killed; it is gone afterwards."""
        self.folder.remove_all()
        self.folder.make()
        try:
            yield
        finally:
            self.folder.remove_all()

    def changes(self, notes: Sequence[str]) -> pa.Table | None:
        """The last change of each key, and whether its row goes; None without any."""
        import pyarrow as pa

        if not notes:
            return None
        pieces = [[self._read(name) for name in note.split()] for note in notes]
        rows = of_tasks(pieces, self._keys).select(*self._names, GONE).to_arrow()
        gone = rows.column(GONE)
        kept = self.columns
        # Of a row that goes, only the key counts: NULLs are allowed in it.
        loose = TableColumns(pa.schema([f.with_nullable(True) for f in kept.schema]), kept.place)
        kept.of(rows.filter(pa.compute.invert(gone)))
        return loose.of(rows).append_column(GOES, gone)

    # The columns on their way, which must not be called like those of our own.
    @property
    def _names(self) -> list[str]:
        return [f"c{place}" for place in range(len(self.columns.schema))]

    @property
    def _keys(self) -> list[str]:
        return [f"c{self.columns.schema.names.index(key)}" for key in self.keys]

    def _read(self, name: str) -> pl.DataFrame:
        import polars as pl

        with (self.folder / name).input() as file:
            return pl.read_ipc(file.read())


def of(target: Target, folder: Location, columns: TableColumns) -> LakeStaging:
    key = target.table.primary_key
    assert key is not None
    known = f"{target.job or uuid.uuid4().hex} {target.table.identifier}"
    own = folder / hashlib.sha256(known.encode()).hexdigest()[:24]
    there = {name.lower(): name for name in columns.schema.names}
    keys = tuple(there[name.lower()] for name in key.columns)
    return LakeStaging(own, columns, keys, target.changelog is Changelog.RETRACT)
