"""`tidemark explain`: the plans of a script's queries and INSERTs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidemark.cli.choices import PlanFormat
from tidemark.cli.scripts import init_scripts, read_scripts, read_settings
from tidemark.cli.terminal import Terminal
from tidemark.dialect import statements as s
from tidemark.errors import Source
from tidemark.physical import Settings
from tidemark.physical.explain import Format, as_json, explain
from tidemark.plan.planner import Plan
from tidemark.session.columns_in_workers import TABLES
from tidemark.session.sinks import writes
from tidemark.session.workspace import Planned, Workspace


def explain_command(
    file: str | None,
    execute: Sequence[str],
    init: str | None,
    settings: Sequence[str],
    format: PlanFormat,
    terminal: Terminal,
) -> None:
    scripts = read_scripts(file, execute, "explain")
    workspace = Workspace(read_settings(settings))
    show_plans(plans_of(init_scripts(init), scripts, workspace), format, terminal)


@dataclass(frozen=True, slots=True)
class Placed:
    """A plan and the location of its statement."""

    plan: Plan
    place: str
    settings: Settings


def plans_of(
    init: Sequence[Source], scripts: Sequence[Source], workspace: Workspace
) -> list[Placed]:
    """What the scripts would run, in order. Raises SqlError at the first problem."""
    for source in init:
        workspace.plan_script(source.text, source.name)
    return [
        Placed(
            plan,
            _place(planned),
            Settings.of(workspace.options, tables=TABLES, writes=writes),
        )
        for source in scripts
        for planned in workspace.plan_script(source.text, source.name)
        for plan in _plans(planned, workspace)
    ]


def _plans(planned: Planned, workspace: Workspace) -> Iterator[Plan]:
    if planned.plan is not None:
        yield planned.plan
    elif isinstance(planned.statement, s.Explain):
        yield workspace.planner.plan(planned.statement.statement)


def show_plans(plans: Sequence[Placed], format: PlanFormat, terminal: Terminal) -> None:
    """A single plan alone; several with a heading that gives the location of each statement."""
    if not plans:
        terminal.say("nothing to explain: the script has no query and no INSERT")
    if format is PlanFormat.json:
        terminal.write(_as_json(plans) + "\n")
        return
    comment = "%%" if format is PlanFormat.mermaid else "--"
    for number, placed in enumerate(plans):
        if len(plans) > 1:
            gap = "\n" if number else ""
            terminal.write(f"{gap}{terminal.paint(f'{comment} {placed.place}', 'bold')}\n")
        terminal.write(_as_text(placed, format) + "\n")


def _as_text(placed: Placed, format: PlanFormat) -> str:
    drawn: Format = "mermaid" if format is PlanFormat.mermaid else "text"
    return explain(placed.plan, drawn, settings=placed.settings)


def _as_json(plans: Sequence[Placed]) -> str:
    """An object for one plan, a list for several."""
    values = [{"at": placed.place, **as_json(placed.plan, placed.settings)} for placed in plans]
    return json.dumps(values[0] if len(values) == 1 else values, indent=2, ensure_ascii=False)


def _place(planned: Planned) -> str:
    row, column = planned.source.line_and_column(planned.statement.span.start)
    return f"{planned.source.name}:{row}:{column}"
