"""PyFlink's `TablePipeline`."""

from __future__ import annotations

from tidemark.pyflink_programs.table.compiled_plan import CompiledPlan
from tidemark.pyflink_programs.table.results import TableResult
from tidemark.pyflink_programs.table.sql_runner import SqlRunner


class TablePipeline:
    """An INSERT that has not been started."""

    def __init__(self, insert: str, runner: SqlRunner) -> None:
        self._insert, self._runner = insert, runner

    def execute(self) -> TableResult:
        return self._runner.execute(self._insert)

    def compile_plan(self) -> CompiledPlan:
        return CompiledPlan.of(self._insert, self._runner)

    def explain(self, *extra_details: str) -> str:
        return self._runner.explain(self._insert, *extra_details)

    def print_explain(self, *extra_details: str) -> None:
        print(self.explain(*extra_details), flush=True)
