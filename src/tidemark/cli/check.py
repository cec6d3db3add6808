"""`tidemark check`: reports everything wrong with a script that can be found without running it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tidemark.catalog.tables import Identifier, Table
from tidemark.cli.assumed_tables import AssumedTraits, tables_used
from tidemark.cli.choices import CheckFormat
from tidemark.cli.exit_codes import Failed
from tidemark.cli.problems import report, report_warning
from tidemark.cli.scripts import init_scripts, read_scripts, read_settings
from tidemark.cli.status import count
from tidemark.cli.terminal import Terminal
from tidemark.connectors import registry
from tidemark.dialect import is_complete, parse_script
from tidemark.dialect import statements as s
from tidemark.errors import (
    CatalogError,
    MissingConnector,
    Source,
    Span,
    SqlError,
    TidemarkError,
    UnknownFunction,
)
from tidemark.session.workspace import Planned, Workspace


def check_command(
    file: str | None,
    execute: Sequence[str],
    init: str | None,
    settings: Sequence[str],
    format: CheckFormat,
    terminal: Terminal,
) -> None:
    scripts = read_scripts(file, execute, "check")
    workspace = Workspace(read_settings(settings))
    findings = check(init_scripts(init), scripts, workspace)
    if format is CheckFormat.json:
        show_as_json(findings, terminal)
    else:
        show_as_text(findings, terminal)
    if not findings.ok:
        raise Failed


@dataclass(frozen=True, slots=True)
class Warned:
    """A planner warning, located at its statement."""

    message: str
    source: Source
    at: Span


@dataclass
class Findings:
    """What was found in the scripts of one check."""

    statements: int = 0
    jobs: int = 0
    errors: list[SqlError] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)
    # Names whose declaration failed: later errors about them are consequences.
    undeclared: set[str] = field(default_factory=set)
    lacks_catalog: bool = False
    consequences: int = 0
    # What statements read and write, and the source of those that did not parse.
    used: set[Identifier] = field(default_factory=set)
    unread: list[str] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        return not self.errors

    def add(self, planned: Planned) -> None:
        if planned.plan is None:
            return
        if not isinstance(planned.statement, s.Query):
            self.jobs += len(planned.plan.jobs)
        self.warnings += [
            Warned(message, planned.source, planned.statement.span)
            for message in planned.plan.warnings
        ]

    def add_error(self, error: SqlError) -> None:
        if self._follows(error) or self._is_known(error):
            self.consequences += 1
        else:
            self.errors.append(error)

    def add_objection(self, problem: SqlError, table: Table) -> None:
        """A table that its connector cannot serve; the script still runs if nothing uses it."""
        if self._is_known(problem) or self._follows(problem):
            return
        if self._uses(table):
            self.errors.append(problem)
        elif problem.source is not None and problem.at is not None:
            message = f"{problem.message}; no statement uses the table"
            self.warnings.append(Warned(message, problem.source, problem.at))

    def _uses(self, table: Table) -> bool:
        word = re.compile(rf"(?<!\w){re.escape(table.name)}(?!\w)")
        return table.identifier in self.used or any(word.search(text) for text in self.unread)

    def _follows(self, error: SqlError) -> bool:
        """Whether something is missing because its declaration failed."""
        if isinstance(error, MissingConnector) and self.lacks_catalog:
            return True  # tables of the catalog need none
        named = _quoted_names(error.message)
        if isinstance(error, UnknownFunction):  # such names are extracted without regard to case
            return bool({n.lower() for n in self.undeclared} & {n.lower() for n in named})
        return isinstance(error, CatalogError) and bool(self.undeclared & named)

    def _is_known(self, error: SqlError) -> bool:
        return any(_same(error, known) for known in self.errors)


_DECLARATIONS = (
    s.CreateTable,
    s.CreateView,
    s.CreateFunction,
    s.CreateCatalog,
    s.CreateDatabase,
)


def check(init: Sequence[Source], scripts: Sequence[Source], workspace: Workspace) -> Findings:
    """Plan every statement, continuing after those that are wrong or whose connector is."""
    findings = Findings()
    traits = AssumedTraits(workspace.options)
    workspace.planner = replace(workspace.planner, traits=traits)
    for source in init:
        workspace.plan_script(source.text, source.name)
    for source in scripts:
        for piece in pieces(source):
            _check_piece(piece, source, workspace, findings, traits)
    for relation in workspace.catalogs.relations():
        if isinstance(relation, Table):
            try:
                registry.traits(relation)
            except SqlError as problem:
                findings.add_objection(problem, relation)
    findings.errors.sort(key=_position)
    return findings


def _check_piece(
    piece: str, source: Source, workspace: Workspace, findings: Findings, traits: AssumedTraits
) -> None:
    try:
        statements = parse_script(piece, source.name).statements
    except SqlError as error:
        findings.statements += 1
        findings.undeclared |= _names_declared_by(piece)
        findings.unread.append(_DECLARES.sub("", piece, count=1))
        error.source = source
        findings.add_error(error)
        return
    for statement in statements:
        findings.statements += 1
        findings.used.update(tables_used(statement, workspace.catalogs))
        errors = _applied(statement, source, workspace, findings)
        for problem in _distinct([*traits.taken(), *errors]):
            findings.add_error(problem)
        # Only now: what is wrong with the declaration itself follows from nothing.
        if errors and isinstance(statement, _DECLARATIONS):
            findings.undeclared.add(statement.name.parts[-1])
            findings.lacks_catalog |= isinstance(statement, s.CreateCatalog)


def _applied(
    statement: s.Statement, source: Source, workspace: Workspace, findings: Findings
) -> list[SqlError]:
    """What is wrong with a statement; for a statement set, with each of its parts."""
    try:
        planned = workspace.apply(statement, source)
        findings.add(planned)
        findings.warnings += _without_effect(planned, workspace)
    except SqlError as error:
        if not isinstance(statement, s.StatementSet):
            return [error]
        parts = [_applied(part, source, workspace, findings) for part in statement.inserts]
        return [wrong for part in parts for wrong in part] or [error]
    except TidemarkError as error:
        return [_found_at(statement, source, error)]
    return []


def _found_at(statement: s.Statement, source: Source, error: TidemarkError) -> SqlError:
    """An error of a system that was asked, such as a catalog that is not reached from here."""
    return SqlError(
        error.message, at=statement.span, source=source, notes=error.notes, hint=error.hint
    )


def _without_effect(planned: Planned, workspace: Workspace) -> Iterator[Warned]:
    """ADD JAR, and SET of a key that nothing knows, which may be a mistake."""
    if isinstance(planned.statement, s.Jar):
        yield Warned(planned.message or "", planned.source, planned.statement.span)
    option = planned.statement.option if isinstance(planned.statement, s.Set) else None
    if option is not None and not workspace.options.knows(option.key):
        yield Warned(planned.message or "", planned.source, option.span)


def _distinct(errors: Sequence[SqlError]) -> list[SqlError]:
    return [e for i, e in enumerate(errors) if not any(_same(e, other) for other in errors[:i])]


def pieces(source: Source) -> Iterator[str]:
    """The script if it parses; otherwise one statement at a time.

    Text before a piece is blanked out and not removed, so that locations stay the same.
    """
    try:
        parse_script(source.text, source.name)
    except SqlError:
        yield from _separated(source.text)
    else:
        yield source.text


def _separated(text: str) -> Iterator[str]:
    start = 0
    for end in [*(found.end() for found in re.finditer(";", text)), len(text)]:
        piece = text[start:end]
        if piece.strip() and (end == len(text) or is_complete(piece)):
            yield re.sub(r"[^\n]", " ", text[:start]) + piece
            start = end


_DECLARES = re.compile(
    r"\s*CREATE\b[^('=]*?(?P<name>[\w$]+|`[^`]+`)\s*(?:\(|\bAS\b|\bWITH\b|\bLIKE\b)", re.IGNORECASE
)


def _names_declared_by(text: str) -> set[str]:
    """The name that a CREATE would have declared, had it parsed."""
    found = _DECLARES.match(text)
    return {found["name"].strip("`")} if found else set()


def _same(error: SqlError, other: SqlError) -> bool:
    return (error.message, error.at, error.source) == (other.message, other.at, other.source)


def _position(error: SqlError) -> tuple[str, int]:
    return (error.source.name if error.source else "", error.at.start if error.at else 0)


def _quoted_names(message: str) -> set[str]:
    return {name.split(".")[-1] for name in re.findall(r"`([^`]+)`", message)}


# --- showing -----------------------------------------------------------------------------------


def show_as_text(findings: Findings, terminal: Terminal) -> None:
    for warned in findings.warnings:
        row, column = warned.source.line_and_column(warned.at.start)
        report_warning(warned.message, f"{warned.source.name}:{row}:{column}", terminal)
    for error in findings.errors:
        report(error, terminal)
    if findings.ok:
        numbers = f"{count(findings.statements, 'statement')}, {count(findings.jobs, 'job')}"
        terminal.write(f"{terminal.paint('ok', 'bold green')}: {numbers}\n")
        return
    more = (
        f" (plus {count(findings.consequences, 'follow-up error')})"
        if findings.consequences
        else ""
    )
    total = f"{count(len(findings.errors), 'error')}{more}"
    terminal.say(terminal.paint_err(total, "bold red"))


def show_as_json(findings: Findings, terminal: Terminal) -> None:
    """For editors and scripts: one object, with locations counted from one."""
    problems = [
        *(_error_as_json(error) for error in findings.errors),
        *(
            {"severity": "warning", "message": w.message, **_place(w.at, w.source)}
            for w in findings.warnings
        ),
    ]
    summary = {
        "ok": findings.ok,
        "statements": findings.statements,
        "jobs": findings.jobs,
        "problems": sorted(problems, key=lambda p: (p["file"] or "", p["line"] or 0)),
    }
    terminal.write(json.dumps(summary, indent=2, ensure_ascii=False) + "\n")


def _error_as_json(error: SqlError) -> dict[str, Any]:
    return {
        "severity": "error",
        "kind": type(error).__name__,
        "message": error.message,
        **_place(error.at, error.source),
        "notes": {key: str(value) for key, value in error.notes.items()},
        "hint": error.hint,
    }


def _place(at: Span | None, source: Source | None) -> dict[str, Any]:
    place: dict[str, Any] = dict.fromkeys(("line", "column", "end_line", "end_column"))
    if at is not None and source is not None:
        place["line"], place["column"] = source.line_and_column(at.start)
        place["end_line"], place["end_column"] = source.line_and_column(at.end)
    return {"file": source.name if source else None, **place}
