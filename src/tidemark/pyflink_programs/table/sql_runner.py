"""Runs the statements of an environment, one at a time."""

from __future__ import annotations

from typing import Final

from tidemark.dialect import parse_script
from tidemark.dialect import statements as s
from tidemark.errors import TidemarkError
from tidemark.plan.nodes import Column
from tidemark.pyflink_programs.program_run import current
from tidemark.pyflink_programs.table.results import TableResult
from tidemark.session.result import JobResult, Result
from tidemark.session.session import Session

_WIDEST: Final = ("table.display.max-column-width", "sql-client.display.max-column-width")


class SqlRunner:
    """A session, and names for what a program has not named itself."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._unnamed = 0

    def run(self, stmt: str) -> Result:
        """Run one statement. A query starts when its rows are asked for."""
        the_statement(stmt)
        result = self.session.sql(stmt)
        if isinstance(result, JobResult):
            current().jobs.append(result)
        for warning in result.warnings:
            current().note_once(warning)
        return result

    def execute(self, stmt: str) -> TableResult:
        result = self.run(stmt)
        options = self.session.workspace.options
        return TableResult(
            result, kinds=not options.batch, widest=int(options.first(_WIDEST) or 30)
        )

    def explain(self, stmt: str, *details: str) -> str:
        [row] = self.run(f"EXPLAIN {', '.join(details)} {stmt}").rows()
        return str(row["result"])

    def columns_of(self, query: str) -> tuple[Column, ...]:
        return self.session.sql(query).columns

    def unnamed(self) -> str:
        """A name for a table, as PyFlink makes them."""
        name = f"UnnamedTable${self._unnamed}"
        self._unnamed += 1
        return name


def the_statement(text: str) -> tuple[s.Statement, str]:
    """The only statement of a string, and its text without what ends it."""
    statements = parse_script(text).statements
    if len(statements) != 1:
        raise TidemarkError(
            f"expected one statement, not {len(statements)}", hint="call execute_sql() for each"
        )
    span = statements[0].span
    return statements[0], text[span.start : span.end]
