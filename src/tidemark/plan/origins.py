"""Where a column comes from: a column of a table, or what it was computed from.

Names are not enough: two computed keys may have the same name, and a column may be renamed.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from tidemark.catalog.tables import UserFunction
from tidemark.functions.registry import Function
from tidemark.plan.expressions import Ref
from tidemark.plan.nodes import AssignWatermark, AssignWindows, Filter, Node, Project, Unnest
from tidemark.types import DataType


def origin(node: Node, place: int) -> Any:
    """The name of a column, traced to the table or operator that provides it; for a computed
    column, the expression. As plain values.
    """
    match node:
        case Project():
            return plain(node.expressions[place], node.input)
        case Filter() | AssignWatermark():
            return origin(node.input, place)
        case Unnest() | AssignWindows() if place < len(node.input.edge.columns):
            return origin(node.input, place)
    return node.edge.names[place]


def origins(node: Node, places: tuple[int, ...]) -> list[Any]:
    return [origin(node, place) for place in places]


def plain(value: Any, below: Node | None = None) -> Any:
    """A value of a plan as JSON, by its structure, not its description. Columns are those of the
    node `below`.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Enum():
            return plain(value.value)
        case DataType():
            return value.text()
        case Function() | UserFunction():
            return value.name
        case Ref(name=name, index=index):
            return {"column": name, "place": index} if below is None else origin(below, index)
        case tuple() | list():
            return [plain(part, below) for part in value]
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: plain(getattr(value, field.name), below) for field in fields(value)}
        return {"is": type(value).__name__, **parts}
    return str(value)
