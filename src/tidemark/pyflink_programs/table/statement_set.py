"""PyFlink's `StatementSet`: several INSERTs that run as one job."""

from __future__ import annotations

from collections.abc import Callable

from tidemark.dialect import statements as s
from tidemark.errors import TidemarkError
from tidemark.pyflink_programs.common.jobs import JobClient
from tidemark.pyflink_programs.table.compiled_plan import CompiledPlan
from tidemark.pyflink_programs.table.pipeline import TablePipeline
from tidemark.pyflink_programs.table.results import TableResult
from tidemark.pyflink_programs.table.sql_runner import SqlRunner, the_statement
from tidemark.pyflink_programs.table.table import Table


class StatementSet:
    """Collects INSERTs."""

    def __init__(
        self, runner: SqlRunner, attach: Callable[[Callable[[], JobClient | None]], None]
    ) -> None:
        self._runner, self._attach = runner, attach
        self._inserts: list[str] = []

    def add_insert_sql(self, stmt: str) -> StatementSet:
        statement, text = the_statement(stmt)
        if not isinstance(statement, s.Insert):
            raise TidemarkError("add_insert_sql() takes an INSERT statement")
        self._inserts.append(text)
        return self

    def add_insert(self, target_path: str, table: Table, overwrite: bool = False) -> StatementSet:
        self._inserts.append(table._insert(target_path, overwrite))
        return self

    def add(self, table_pipeline: TablePipeline) -> StatementSet:
        self._inserts.append(table_pipeline._insert)
        return self

    def execute(self) -> TableResult:
        """Start the job; the set is empty after that."""
        text = self._text()
        self._inserts.clear()
        return self._runner.execute(f"EXECUTE {text}")

    def attach_as_datastream(self) -> None:
        """Let `StreamExecutionEnvironment.execute()` start the job; the set is empty after that."""
        text = self._text()
        self._inserts.clear()
        self._attach(lambda: self._runner.execute(f"EXECUTE {text}").get_job_client())

    def compile_plan(self) -> CompiledPlan:
        return CompiledPlan.of(self._text(), self._runner)

    def explain(self, *extra_details: str) -> str:
        return self._runner.explain(self._text(), *extra_details)

    def print_explain(self, *extra_details: str) -> None:
        print(self.explain(*extra_details), flush=True)

    def _text(self) -> str:
        inserts = "".join(f"{insert}\n;\n" for insert in self._inserts)
        return f"STATEMENT SET BEGIN\n{inserts}END"
