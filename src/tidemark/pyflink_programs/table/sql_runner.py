"""Runs the statements of an environment, one at a time."""

from __future__ import annotations

from typing import Final

from tidemark.dialect import parse_script
from tidemark.dialect import statements as s
from tidemark.errors import TidemarkError
from tidemark.plan.nodes import Column
from tidemark.pyflink.api.table.udf import Declared
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
        # Tables of rows in memory, which PyFlink has as queries.
        self.hidden: set[str] = set()
        self._functions: dict[int, tuple[Declared, str]] = {}

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
        [planned] = self.session.workspace.plan_script(query)
        assert planned.plan is not None
        return planned.plan.roots[0].edge.columns

    def function(self, declared: Declared) -> str:
        """The name of a function that the program has not registered itself."""
        known = self._functions.get(id(declared))
        if known is None:
            name = f"python_function_{len(self._functions)}"
            self.session.create_function(name, declared)
            # It is kept, so that its identity is not another one's.
            known = self._functions[id(declared)] = declared, name
        return known[1]

    def aggregates(self, function: str) -> bool:
        """Whether it is the name of an aggregate function of the program."""
        parts = tuple(part.strip("`") for part in function.split("."))
        found = self.session.workspace.catalogs.function(s.Name(parts))
        return found is not None and found.aggregate

    def has_named(self, function: str) -> bool:
        return any(name == function for _, name in self._functions.values())

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
