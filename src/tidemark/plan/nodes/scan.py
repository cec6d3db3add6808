"""Where rows come from: tables, constants, and operators that others know nothing of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tidemark.catalog.tables import Changelog, Table
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes.base import Description, Narrowed, Reason
from tidemark.plan.nodes.edge import Column, Edge
from tidemark.plan.nodes.families import Leaf, Stateless
from tidemark.plan.nodes.narrowing import whole
from tidemark.types import Row


@dataclass(frozen=True)
class Scan(Leaf, Stateless):
    """A table's rows as its connector provides them: physical columns, then metadata by key."""

    table: Table
    metadata: tuple[str, ...]
    columns: tuple[Column, ...]
    changelog: Changelog = Changelog.APPEND
    bounded: bool = True
    ordered: bool = False  # whether its rows come in order from a single source
    # The places of the columns that are read; a connector may leave the others NULL. None: all.
    read: tuple[int, ...] | None = None
    # Columns with rows of which only some fields are read, with the type of those fields.
    rows_read: tuple[tuple[str, Row], ...] = ()
    # Whether its rows come from partitions, each with a watermark of its own. If something follows
    # that, it is this expression; and the number of the source among those of the plan.
    partitioned: bool = False
    watermark: Expression | None = None
    number: int = 0
    idle_ms: int | None = None  # after how much silence a partition holds back no watermark
    noted: bool = False  # whether its connector keeps account of a stream itself
    at_once: bool = False  # whether the first micro-batch of a stream reads all rows there are
    grows: bool = False  # whether there may be others when a job starts again
    # How often a stream looks for what is new; None: as often as the engine does.
    looks_every_ms: int | None = None
    # Rows that do not meet one of these may be left out: filters above test them again.
    conditions: tuple[Expression, ...] = ()

    @property
    def names_read(self) -> frozenset[str] | None:
        return None if self.read is None else frozenset(self.columns[i].name for i in self.read)

    @property
    def keeps_notes(self) -> bool:
        """Whether a stream of it needs a folder of its own."""
        return self.partitioned or self.noted

    def _edge(self) -> Edge:
        key = self.table.primary_key
        keys = () if key is None else (key.columns,)
        return Edge(self.columns, self.changelog, keys, self.bounded)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(replace(self, read=tuple(wanted), rows_read=()))

    def _description(self) -> Description:
        connector = self.table.option("connector") or "unknown"
        form = self.table.option("format")
        details = [f"table=[{self.table.identifier}]"]
        if self.metadata:
            details.append(f"metadata=[{', '.join(self.metadata)}]")
        reader = f"{connector} source" + (f", {form} format" if form else "")
        ends = "bounded" if self.bounded else "unbounded"
        return Description("Scan", tuple(details), f"{reader}, {ends}")

    @property
    def why_rows_change(self) -> Reason | None:
        if self.changelog is Changelog.APPEND:
            return None
        return Reason(f"table `{self.table.name}` is a changelog")

    @property
    def is_ordered(self) -> bool:
        return self.ordered


@dataclass(frozen=True)
class Values(Leaf, Stateless):
    """Constant rows."""

    rows: tuple[tuple[Expression, ...], ...]
    columns: tuple[Column, ...]

    def _edge(self) -> Edge:
        return Edge(self.columns)

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)

    def _description(self) -> Description:
        return Description("Values", (f"rows=[{len(self.rows)}]",), "constants, bounded")

    @property
    def is_ordered(self) -> bool:
        return False


@dataclass(frozen=True)
class Emitted(Leaf, Stateless):
    """Rows of an operator, where only the rows are known: a worker that computes with them."""

    emitted: Edge

    def _edge(self) -> Edge:
        return self.emitted

    def narrowed(self, wanted: Sequence[int]) -> Narrowed:
        return whole(self)

    def _description(self) -> Description:
        return Description("Emitted", (f"columns=[{', '.join(self.emitted.names)}]",), "rows")

    @property
    def is_ordered(self) -> bool:
        return False
