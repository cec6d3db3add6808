"""EXPLAIN: a plan as text, as a Mermaid diagram, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, Literal, TypeVar, cast

from tidemark.catalog.tables import Changelog
from tidemark.physical import words
from tidemark.physical.planner import Settings, physical_plan
from tidemark.physical.stages import ColumnStage, Compute, Operator, PhysicalPlan
from tidemark.plan.nodes import Node, Sink, inputs
from tidemark.plan.planner import Plan

Format = Literal["text", "mermaid", "json"]

_FLINK_MODES = {
    Changelog.APPEND: "[I]",
    Changelog.UPSERT: "[I,UA,D]",
    Changelog.RETRACT: "[I,UB,UA,D]",
}


def explain(
    plan: Plan,
    format: Format = "text",
    details: Sequence[str] = (),
    settings: Settings = Settings(),  # noqa: B008  (a frozen value)
) -> str:
    """The plan for a reader. `details` are those of the EXPLAIN statement.

    Nothing here depends on Spark: it prints what Spark will be asked to do.
    """
    if format == "json" or "JSON_EXECUTION_PLAN" in details:
        return json.dumps(as_json(plan, settings), indent=2, ensure_ascii=False)
    if format == "mermaid":
        return _mermaid(plan)
    return _text(plan, details, settings)


def _as_it_runs(plan: Plan, root: Node, settings: Settings) -> PhysicalPlan:
    """A plan with only bounded sources runs as one batch; it needs a stream only to resume."""
    streaming = plan.mode == "streaming" and not root.edge.bounded
    return physical_plan(root, settings, streaming=streaming)


# --- text --------------------------------------------------------------------------------------

WIDTH = 100


def _text(plan: Plan, details: Sequence[str], settings: Settings) -> str:
    modes = "CHANGELOG_MODE" in details
    physical = [_as_it_runs(plan, root, settings) for root in plan.roots]
    sections = [
        ("Logical plan", [line for root in plan.roots for line in _logical(root, modes)]),
        (
            f"Physical plan ({_execution(plan, physical)})",
            [line for part in physical for line in _drawn(part, settings)],
        ),
        ("State", _state(physical)),
    ]
    if plan.warnings:
        sections.append(("Warnings", [f"- {warning}" for warning in plan.warnings]))
    elif "PLAN_ADVICE" in details:
        sections.append(("Advice", ["no advice"]))
    return "\n\n".join(f"== {title} ==\n" + "\n".join(lines) for title, lines in sections)


Part = TypeVar("Part")


def tree(
    node: Part,
    lines: Callable[[Part], list[str]],
    inputs: Callable[[Part], Sequence[Part]],
    indent: str = "",
    branch: str = "",
) -> list[str]:
    """The node's lines and below them those of its inputs, joined by branches."""
    head, *more = lines(node)
    below = inputs(node)
    inner = indent + {"": "", "├─ ": "│  ", "└─ ": "   "}[branch]
    stem = inner + ("│  " if below else "   ")
    drawn = [indent + branch + head, *(stem + line for line in more)]
    for position, child in enumerate(below):
        last = position == len(below) - 1
        drawn += tree(child, lines, inputs, inner, "└─ " if last else "├─ ")
    return drawn


def _logical(root: Node, modes: bool) -> list[str]:
    def lines(node: Node) -> list[str]:
        description = node.description
        details = list(description.details)
        if modes:
            details.append(f"changelogMode={_FLINK_MODES[node.edge.changelog]}")
        return [f"{description.name}({', '.join(details)})", *_news(node, is_root=node is root)]

    return tree(root, lines, inputs)


def _news(node: Node, *, is_root: bool) -> list[str]:
    """The output, if it differs from the input: columns, and properties of the rows."""
    below = [child.edge for child in node.inputs]
    known, passed = node.edge.traits, [edge.traits for edge in below]
    news = []
    same = any((e.names, e.types) == (node.edge.names, node.edge.types) for e in below)
    if is_root or not same:
        news += _wrapped([f"{c.name} {c.type}" for c in node.edge.columns])
    if is_root or any(traits_below != known for traits_below in passed) or not below:
        news.append("; ".join(known))
    return news


def _wrapped(items: Sequence[str]) -> list[str]:
    """The items in lines, without breaking any of them."""
    lines: list[list[str]] = [[]]
    for item in items:
        if lines[-1] and len(", ".join([*lines[-1], item])) > WIDTH:
            lines.append([])
        lines[-1].append(item)
    return [line for line in ",\n".join(map(", ".join, lines)).split("\n") if line]


def _execution(plan: Plan, physical: Sequence[PhysicalPlan]) -> str:
    if plan.mode == "streaming" and not any(part.streaming for part in physical):
        return "streaming, as one batch: all sources are bounded"
    return plan.mode


def _drawn(plan: PhysicalPlan, settings: Settings) -> list[str]:
    """Operators by id, preceded by their exchanges."""

    def lines(part: words.Part) -> list[str]:
        return [words.line(part) + _writes(part, settings)]

    return tree(cast("words.Part", plan.root), lines, words.below)


def _writes(part: words.Part, settings: Settings) -> str:
    """Who writes the rows of a sink, if that is known."""
    if settings.writes is None or not isinstance(part, Compute) or not isinstance(part.node, Sink):
        return ""
    known = settings.writes(part.node)
    if known is None:
        return ""
    if known.only_spark is not None:
        return f"; Spark writes it, because of {known.only_spark}"
    has_columns = isinstance(part.inputs[0], Operator | ColumnStage)
    if has_columns or known.any_case:
        return "; workers write it"
    return "; Spark writes it, because it computes the rows last"


def _state(physical: Sequence[PhysicalPlan]) -> list[str]:
    """What each operator keeps in state, and for how long."""
    keeping = [
        f"{operator.id}: {keeps}"
        for part in physical
        for operator in part.operators
        if (keeps := operator.node.description.keeps) != "nothing"
    ]
    return keeping or ["no stateful operators"]


# --- pictures and JSON -------------------------------------------------------------------------


def _mermaid(plan: Plan) -> str:
    """A flowchart from the sources down; GitHub and GitLab render it in Markdown."""
    lines = ["flowchart TD"]
    numbers = count(1)

    def add(node: Node) -> str:
        name = f"n{next(numbers)}"
        description = node.description
        label = "<br/>".join([f"<b>{description.name}</b>", *map(_escaped, description.details)])
        lines.append(f'    {name}["{label}"]')
        for child in node.inputs:
            below = add(child)
            lines.append(f'    {below} -->|"{_escaped("; ".join(child.edge.traits))}"| {name}')
        return name

    for root in plan.roots:
        add(root)
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return "".join(_ENTITIES.get(character, character) for character in text)


# Mermaid reads `#name;` as a character and, where labels are HTML, tags and `&name;` too.
_ENTITIES = {"#": "#35;", "&": "#amp;", '"': "#quot;", "<": "#lt;", ">": "#gt;"}


def as_json(plan: Plan, settings: Settings = Settings()) -> dict[str, Any]:  # noqa: B008
    """The plan as JSON values."""
    physical = [_as_it_runs(plan, root, settings) for root in plan.roots]
    return {
        "mode": plan.mode,
        "bounded": plan.bounded,
        "warnings": list(plan.warnings),
        "roots": [_node_json(root) for root in plan.roots],
        "physical": [
            {
                "streaming": part.streaming,
                "operators": [words.operator_json(operator) for operator in part.operators],
            }
            for part in physical
        ],
    }


def _node_json(node: Node) -> dict[str, Any]:
    description = node.description
    return {
        "operator": description.name,
        "details": list(description.details),
        "runs_as": description.runs_as,
        "state": description.keeps,
        "columns": [
            {"name": c.name, "type": str(c.type), "time_attribute": c.time}
            for c in node.edge.columns
        ],
        "changelog": node.edge.changelog.value,
        "keys": [list(key) for key in node.edge.keys],
        "bounded": node.edge.bounded,
        "inputs": [_node_json(child) for child in node.inputs],
    }
