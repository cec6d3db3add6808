"""ANALYZE TABLE: checked as in Flink. Plans do not use statistics, so nothing is computed."""

from __future__ import annotations

from tidemark.catalog.catalogs import Catalogs
from tidemark.catalog.options import RUNTIME_MODE
from tidemark.catalog.tables import Table
from tidemark.dialect import statements as s
from tidemark.errors import CatalogError, did_you_mean


def analyze(statement: s.Analyze, catalogs: Catalogs, *, batch: bool) -> str:
    """Check the statement. Returns what it does, which is nothing."""
    table = catalogs.relation(statement.name)
    if not isinstance(table, Table):
        raise CatalogError(f"`{table.name}` is a view; ANALYZE takes a table", at=statement.span)
    names = [column.name for column in table.columns]
    for name in statement.columns:
        if name not in names:
            raise CatalogError(
                f"column `{name}` does not exist in table `{table.name}`",
                at=statement.span,
                hint=did_you_mean(name, names),
            )
    if sorted(statement.partition) != sorted(table.partitioned_by):
        keys = ", ".join(table.partitioned_by)
        raise CatalogError(
            f"ANALYZE must name all partition columns of `{table.name}` (same in Flink)",
            at=statement.span,
            notes={"PARTITIONED BY": keys or "nothing"},
            hint=f"write PARTITION ({keys})" if keys else "leave PARTITION out",
        )
    if not batch:
        raise CatalogError(
            "ANALYZE TABLE cannot run in streaming mode, as in Flink",
            at=statement.span,
            hint=f"SET '{RUNTIME_MODE}' = 'batch'",
        )
    return f"table `{table.name}`: no statistics computed, because plans do not depend on them"
