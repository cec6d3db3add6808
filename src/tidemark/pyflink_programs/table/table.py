"""PyFlink's `Table`: a query, which can be executed, inserted, or named in another query."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tidemark.errors import NotSupported
from tidemark.pyflink_programs.table.results import TableResult
from tidemark.pyflink_programs.table.schemas import ResolvedSchema
from tidemark.pyflink_programs.table.sql_runner import SqlRunner

if TYPE_CHECKING:
    import pandas as pd


class Table:
    """A query. In an f-string it stands for a view of it."""

    def __init__(self, query: str, runner: SqlRunner) -> None:
        self._query, self._runner = query, runner
        self._columns = runner.columns_of(query)
        self._name: str | None = None

    def __str__(self) -> str:
        """The name of a temporary view with the rows of this table, for use in SQL."""
        if self._name is None:
            self._name = self._runner.unnamed()
            self._runner.run(f"CREATE TEMPORARY VIEW {self._name} AS\n{self._query}")
        return self._name

    def execute(self) -> TableResult:
        return self._runner.execute(self._query)

    def execute_insert(self, table_path: str, overwrite: bool = False) -> TableResult:
        return self._runner.execute(self._insert(table_path, overwrite))

    def _insert(self, table_path: str, overwrite: bool) -> str:
        verb = "INSERT OVERWRITE" if overwrite else "INSERT INTO"
        return f"{verb} {table_path}\n{self._query}"

    def to_pandas(self) -> pd.DataFrame:
        """All rows. Waits until a bounded query has ended."""
        return self._runner.run(self._query).to_pandas()

    def get_schema(self) -> ResolvedSchema:
        return ResolvedSchema(self._columns)

    get_resolved_schema = get_schema

    def print_schema(self) -> None:
        print(self.get_schema(), flush=True)

    def explain(self, *extra_details: str) -> str:
        return self._runner.explain(self._query, *extra_details)

    def print_explain(self, *extra_details: str) -> None:
        print(self.explain(*extra_details), flush=True)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NotSupported(
            f"PyFlink's Table API is not supported: Table.{name}",
            hint='write it as SQL: t_env.sql_query(f"SELECT ... FROM {table}")',
        )
