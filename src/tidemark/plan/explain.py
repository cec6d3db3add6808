"""EXPLAIN: a plan as text, as a Mermaid picture, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from typing import Any, Literal

from tidemark.catalog.tables import Changelog
from tidemark.plan.describe import describe, traits
from tidemark.plan.nodes import Node, inputs, walk
from tidemark.plan.planner import Plan

Format = Literal["text", "mermaid", "json"]

_FLINK_MODES = {
    Changelog.APPEND: "[I]",
    Changelog.UPSERT: "[I,UA,D]",
    Changelog.RETRACT: "[I,UB,UA,D]",
}


def explain(plan: Plan, format: Format = "text", details: Sequence[str] = ()) -> str:
    """The plan for a reader. `details` are those of the EXPLAIN statement.

    Nothing here depends on Spark: what is printed is what Spark will be asked to do.
    """
    if format == "json" or "JSON_EXECUTION_PLAN" in details:
        return json.dumps(as_json(plan), indent=2, ensure_ascii=False)
    if format == "mermaid":
        return _mermaid(plan)
    return _text(plan, details)


# --- text --------------------------------------------------------------------------------------


def _text(plan: Plan, details: Sequence[str]) -> str:
    modes = "CHANGELOG_MODE" in details
    sections = [
        ("Logical plan", [line for root in plan.roots for line in _logical(root, modes)]),
        (f"Physical plan ({plan.mode})", [line for root in plan.roots for line in _physical(root)]),
        ("State", _state(plan)),
    ]
    if plan.warnings:
        sections.append(("Warnings", [f"- {warning}" for warning in plan.warnings]))
    elif "PLAN_ADVICE" in details:
        sections.append(("Advice", ["no advice"]))
    return "\n\n".join(f"== {title} ==\n" + "\n".join(lines) for title, lines in sections)


def _tree(node: Node, line: Any, prefix: str = "", branch: str = "") -> list[str]:
    lines = [prefix + branch + line(node)]
    below = inputs(node)
    indent = prefix + ({"": "", "├─ ": "│  ", "└─ ": "   "}[branch])
    for position, child in enumerate(below):
        last = position == len(below) - 1
        lines += _tree(child, line, indent, "└─ " if last else "├─ ")
    return lines


def _logical(root: Node, modes: bool) -> list[str]:
    def line(node: Node) -> str:
        said = describe(node)
        details = list(said.details)
        if modes:
            details.append(f"changelogMode={_FLINK_MODES[node.edge.changelog]}")
        columns = ", ".join(f"{c.name} {c.type}" for c in node.edge.columns)
        return f"{said.name}({', '.join(details)})  -> ({columns}) {'; '.join(traits(node.edge))}"

    return _tree(root, line)


def _physical(root: Node) -> list[str]:
    return _tree(root, lambda node: f"{describe(node).name}: {describe(node).runs_as}")


def _state(plan: Plan) -> list[str]:
    """What is remembered between rows, and for how long."""
    keeping = [
        f"{said.name}: {said.keeps}"
        for root in plan.roots
        for node in walk(root)
        if (said := describe(node)).keeps != "nothing"
    ]
    return keeping or ["no operator keeps state"]


# --- pictures and JSON -------------------------------------------------------------------------


def _mermaid(plan: Plan) -> str:
    """A flowchart from the sources down; forges render it in Markdown."""
    lines = ["flowchart TD"]
    numbers = count(1)

    def add(node: Node) -> str:
        name = f"n{next(numbers)}"
        said = describe(node)
        label = "<br/>".join([f"<b>{said.name}</b>", *map(_escaped, said.details)])
        lines.append(f'    {name}["{label}"]')
        for child in inputs(node):
            below = add(child)
            lines.append(f'    {below} -->|"{_escaped("; ".join(traits(child.edge)))}"| {name}')
        return name

    for root in plan.roots:
        add(root)
    return "\n".join(lines)


def _escaped(text: str) -> str:
    for character, entity in (("&", "&amp;"), ('"', "&quot;"), ("<", "&lt;"), (">", "&gt;")):
        text = text.replace(character, entity)
    return text


def as_json(plan: Plan) -> dict[str, Any]:
    """The plan as values that JSON can hold."""
    return {
        "mode": plan.mode,
        "bounded": plan.bounded,
        "warnings": list(plan.warnings),
        "roots": [_node_json(root) for root in plan.roots],
    }


def _node_json(node: Node) -> dict[str, Any]:
    said = describe(node)
    return {
        "operator": said.name,
        "details": list(said.details),
        "runs_as": said.runs_as,
        "state": said.keeps,
        "columns": [
            {"name": c.name, "type": str(c.type), "time_attribute": c.time}
            for c in node.edge.columns
        ],
        "changelog": node.edge.changelog.value,
        "keys": [list(key) for key in node.edge.keys],
        "bounded": node.edge.bounded,
        "inputs": [_node_json(child) for child in inputs(node)],
    }
