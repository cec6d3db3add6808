"""Whole scripts: sequences of statements, and the statements that run queries."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

from sqlglot import exp

from tidemark.dialect import statements as s
from tidemark.dialect import unsupported
from tidemark.dialect.alter import AlterParser
from tidemark.dialect.cursor import END, Item
from tidemark.dialect.ddl import DdlParser
from tidemark.dialect.literals import string_of
from tidemark.dialect.operators import QUERY_STARTS
from tidemark.dialect.session import SessionParser
from tidemark.errors import Span

_EXPLAIN_DETAILS = (
    "ESTIMATED_COST",
    "CHANGELOG_MODE",
    "JSON_EXECUTION_PLAN",
    "PLAN_ADVICE",
)


class ScriptParser(SessionParser):
    """The whole language."""

    def script(self) -> s.Script:
        statements: list[s.Statement] = []
        while not self.at(END):
            if self.take(";"):
                continue
            if self.at("QUIT", "EXIT"):
                self._quit()
                break
            statements.append(self.statement())
            self._end_of_statement()
        return s.Script(self.source, tuple(statements))

    def _quit(self) -> None:
        """`QUIT` and `EXIT` end scripts for Flink's client. What followed would never run."""
        quits = self.next()
        while self.take(";"):
            pass
        if not self.at(END):
            self.fail(
                f"nothing may follow {quits.text.upper()}",
                hint="move it to the end, or leave it out",
            )

    def _end_of_statement(self) -> None:
        if not self.at(END) and not self.take(";"):
            self.fail_expecting("`;` or the end of the input", hint=self._stray_hint())

    def _stray_hint(self) -> str | None:
        starts = self.key in self._STATEMENTS or self.key in QUERY_STARTS
        return "separate statements with `;`" if starts else None

    def whole(self, read: Callable[[], Item]) -> Item:
        """The result of `read`, which must consume all of the text up to a final semicolon."""
        found = read()
        self.take(";")
        if not self.at(END):
            self.fail_expecting("the end of the input")
        return found

    def statement(self) -> s.Statement:
        self._refuse_unsupported()
        read = self._STATEMENTS.get(self.key)
        if read is not None:
            return read(self)
        if not self.at("(", *QUERY_STARTS):
            self.fail_expecting(
                "a statement", hint="a statement starts with SELECT, INSERT, CREATE, SET, ..."
            )
        return self.query_statement()

    def _refuse_unsupported(self) -> None:
        for statement in unsupported.STATEMENT.each:
            words = statement.split()
            if self.sees(*words):
                start = self.here
                self.here += len(words)
                self.refuse(unsupported.STATEMENT, statement, start=start)

    # --- queries and jobs ----------------------------------------------------------------------

    def query_statement(self) -> s.Query:
        start = self.here
        query = self.query()
        emit = self.emit()
        return s.Query(query, emit, self.span_from(start))

    def insert(self) -> s.Insert:
        start = self.here
        self.expect("INSERT")
        overwrite = self.expect_any("INTO", "OVERWRITE") == "OVERWRITE"
        self.take("TABLE")
        target = self.qualified_name("a table name")
        options = self._target_options()
        partition = self.partition() if self.take("PARTITION") else ()
        columns: tuple[str, ...] = ()
        spans: tuple[Span, ...] = ()
        if self.at("(") and not self.starts_query(1):
            columns, spans = self._located_columns()
        query = self.query()
        emit = self.emit()
        on_conflict = self._on_conflict() if self.take("ON") else None
        return s.Insert(
            target=target,
            query=query,
            columns=columns,
            partition=partition,
            options=options,
            overwrite=overwrite,
            emit=emit,
            on_conflict=on_conflict,
            span=self.span_from(start),
            column_spans=spans,
        )

    def _on_conflict(self) -> s.OnConflict:
        """`ON CONFLICT DO ERROR | NOTHING | DEDUPLICATE`"""
        self.expect("CONFLICT", "DO")
        actions: dict[str, s.OnConflict] = {a: a for a in get_args(s.OnConflict)}
        return actions[self.expect_any(*actions)]

    def _target_options(self) -> tuple[s.Option, ...]:
        start = self.here
        hints = self.hints()
        for hint in hints:
            if hint.name != "OPTIONS":
                self.refuse(unsupported.TARGET_HINT, hint.name, start=start)
        given = [option for hint in hints for option in hint.expressions]
        if any(isinstance(option, exp.Literal) for option in given):
            self.fail("hint OPTIONS takes 'key' = 'value' pairs", at=self.span_from(start))
        span = self.span_from(start)
        return tuple(s.Option(option.name, option.args["value"], span) for option in given)

    def _statement_set(self) -> s.StatementSet:
        """`EXECUTE STATEMENT SET BEGIN ... END`, `BEGIN STATEMENT SET; ... END`"""
        start = self.here
        if self.take("BEGIN"):
            self.expect("STATEMENT", "SET")
            self.expect(";")
        else:
            self.take("EXECUTE")
            self.expect("STATEMENT", "SET")
            self.expect("BEGIN")
        inserts: list[s.Insert] = []
        while not self.at("END"):
            if not self.at("INSERT"):
                hint = "a statement set contains only INSERT statements"
                if self.at(";"):
                    hint = "leave the `;` out" if inserts else "leave the `;` after BEGIN out"
                self.fail_expecting("`INSERT` or `END`", hint=hint)
            inserts.append(self.insert())
            if not self.take(";") and not self.at("END"):
                self.fail_expecting("`;` after the INSERT")
        if not inserts:
            self.fail("this statement set is empty")
        self.expect("END")
        return s.StatementSet(tuple(inserts), self.span_from(start))

    def _execute(self) -> s.Statement:
        if self.peek() == "STATEMENT":
            return self._statement_set()
        if self.peek() == "PLAN":
            return self._execute_plan()
        self.here += 1
        return self.insert() if self.at("INSERT") else self.query_statement()

    def _execute_plan(self) -> s.ExecutePlan:
        start = self.here
        self.expect("EXECUTE", "PLAN")
        path = string_of(self, "the path of the plan in single quotes")
        return s.ExecutePlan(path, self.span_from(start))

    def _compile_plan(self) -> s.CompilePlan:
        start = self.here
        self.expect("COMPILE")
        execute = self.take("AND", "EXECUTE")
        self.expect("PLAN")
        path = string_of(self, "the path of the plan in single quotes")
        if_not_exists = self.take("IF", "NOT", "EXISTS")
        self.expect("FOR")
        if not self.at("INSERT", "EXECUTE", "BEGIN", "STATEMENT"):
            self.fail_expecting("`INSERT` or `STATEMENT SET`", hint="queries have no plan files")
        statement = self.insert() if self.at("INSERT") else self._statement_set()
        return s.CompilePlan(path, statement, if_not_exists, execute, self.span_from(start))

    def _explain(self) -> s.Explain:
        start = self.here
        self.here += 1
        details: list[str] = []
        if not self.take("PLAN", "FOR") and self.at(*_EXPLAIN_DETAILS):
            details = self.listed(lambda: self.expect_any(*_EXPLAIN_DETAILS))
        if self.at("EXECUTE") and self.peek() != "STATEMENT":
            self.here += 1
        statement: s.Query | s.Insert | s.StatementSet | s.CreateTable
        if self.at("INSERT"):
            statement = self.insert()
        elif self.at("CREATE", "REPLACE"):
            statement = self._explained_table()
        elif self.at("EXECUTE", "BEGIN", "STATEMENT"):
            statement = self._statement_set()
        else:
            statement = self.query_statement()
        return s.Explain(statement, tuple(details), self.span_from(start))

    def _explained_table(self) -> s.CreateTable:
        start = self.here
        created = self.statement()
        if not isinstance(created, s.CreateTable) or created.query is None:
            self.fail(
                "EXPLAIN takes a query, INSERT, statement set, or CREATE TABLE ... AS",
                at=self.span_from(start),
            )
        return created

    _STATEMENTS: dict[str, Callable[[ScriptParser], s.Statement]] = {  # noqa: RUF012
        "CREATE": DdlParser.create,
        "REPLACE": DdlParser.replace_table,
        "DROP": DdlParser.drop,
        "ALTER": AlterParser.alter,
        "INSERT": insert,
        "BEGIN": _statement_set,
        "EXECUTE": _execute,
        "EXPLAIN": _explain,
        "COMPILE": _compile_plan,
        "SET": SessionParser.set,
        "RESET": SessionParser.reset_session,
        "SHOW": SessionParser.show,
        "DESCRIBE": SessionParser.describe,
        "DESC": SessionParser.describe,
        "USE": SessionParser.use,
        "LOAD": SessionParser.load_module,
        "UNLOAD": SessionParser.load_module,
        "ADD": SessionParser.jar,
        "REMOVE": SessionParser.jar,
        "ANALYZE": SessionParser.analyze,
    }
