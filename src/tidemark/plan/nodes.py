"""The logical plan: what a query means, as frozen values with their properties on every edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from tidemark.catalog.tables import Changelog, Table
from tidemark.plan.expressions import Expression
from tidemark.types import DataType

TimeAttribute = Literal["event", "processing"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an edge; `time` marks the ones that watermarks or the clock speak about."""

    name: str
    type: DataType
    time: TimeAttribute | None = None


@dataclass(frozen=True, slots=True)
class Edge:
    """What flows out of a node."""

    columns: tuple[Column, ...]
    changelog: Changelog = Changelog.APPEND
    keys: tuple[tuple[str, ...], ...] = ()
    bounded: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def types(self) -> tuple[DataType, ...]:
        return tuple(column.type for column in self.columns)


@dataclass(frozen=True, slots=True)
class Scan:
    """A table's rows as its connector gives them: physical columns, then metadata by key."""

    table: Table
    metadata: tuple[str, ...]
    edge: Edge


@dataclass(frozen=True, slots=True)
class AssignWatermark:
    """Says how far event time has come: the largest `expression` seen so far."""

    input: Node
    column: str
    expression: Expression
    edge: Edge


@dataclass(frozen=True, slots=True)
class Project:
    input: Node
    expressions: tuple[Expression, ...]
    edge: Edge


@dataclass(frozen=True, slots=True)
class Filter:
    input: Node
    condition: Expression
    edge: Edge


@dataclass(frozen=True, slots=True)
class UnionAll:
    inputs: tuple[Node, ...]
    edge: Edge


@dataclass(frozen=True, slots=True)
class Values:
    rows: tuple[tuple[Expression, ...], ...]
    edge: Edge


@dataclass(frozen=True, slots=True)
class Unnest:
    """Each input row once per element of a collection; `outer` keeps rows without elements."""

    input: Node
    collection: Expression
    edge: Edge
    outer: bool = False
    ordinality: bool = False


@dataclass(frozen=True, slots=True)
class KeepLast:
    """Of each key the newest row by event time (`time` is its column), as a changelog."""

    input: Node
    keys: tuple[int, ...]
    time: int
    edge: Edge


@dataclass(frozen=True, slots=True)
class TemporalJoin:
    """Each left row with the right version valid at its time; left columns, then right ones.

    Without `right_time` the version that is there when the left row arrives. If
    `retractions_overwrite`, a `-U` ends the version at its time.
    """

    left: Node
    right: Node
    left_keys: tuple[int, ...]
    right_keys: tuple[int, ...]
    left_time: int
    right_time: int | None
    how: Literal["inner", "left"]
    retractions_overwrite: bool
    edge: Edge


@dataclass(frozen=True, slots=True)
class Sink:
    """An INSERT INTO: rows in the order and types of the target's columns."""

    input: Node
    table: Table
    overwrite: bool
    edge: Edge


Node = (
    Scan
    | AssignWatermark
    | Project
    | Filter
    | UnionAll
    | Values
    | Unnest
    | KeepLast
    | TemporalJoin
    | Sink
)


def inputs(node: Node) -> tuple[Node, ...]:
    match node:
        case UnionAll(inputs=several):
            return several
        case TemporalJoin(left=left, right=right):
            return left, right
        case Scan() | Values():
            return ()
        case _:
            return (node.input,)


def walk(node: Node) -> Iterator[Node]:
    """The node and everything below it, from the top."""
    yield node
    for child in inputs(node):
        yield from walk(child)


def is_stateful(node: Node) -> bool:
    """Whether the plan remembers anything between rows."""
    return any(isinstance(part, KeepLast | TemporalJoin) for part in walk(node))
