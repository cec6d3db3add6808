"""Brings changes into a Delta table by key, with delta-rs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.connectors.lake.staging import GOES

if TYPE_CHECKING:
    import pyarrow as pa
    from deltalake import CommitProperties, DeltaTable


@dataclass(frozen=True, slots=True)
class DeltaMerge:
    """Inserts, updates and deletes the rows of these columns."""

    columns: tuple[str, ...]
    keys: Sequence[str]

    def run(self, table: DeltaTable, changes: pa.Table, how: CommitProperties) -> None:
        same = " AND ".join(f"own.{_name(key)} = new.{_name(key)}" for key in self.keys)
        values = {_name(column): f"new.{_name(column)}" for column in self.columns}
        gone = f"new.{_name(GOES)}"
        merge = table.merge(
            changes, same, source_alias="new", target_alias="own", commit_properties=how
        )
        merge = merge.when_matched_delete(gone).when_matched_update(values)
        merge.when_not_matched_insert(values, predicate=f"NOT {gone}").execute()


def _name(column: str) -> str:
    quoted = column.replace('"', '""')
    return f'"{quoted}"'
