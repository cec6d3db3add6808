"""What building the rows of a plan needs, and what it collects on the way."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tidemark.errors import NeedsSpark
from tidemark.local.rows import LocalRows
from tidemark.plan.expressions import Expression
from tidemark.plan.nodes import Node, Scan
from tidemark.runtime.source_report import SourceReport

if TYPE_CHECKING:
    from tidemark.columns import Program
    from tidemark.physical import Stage
    from tidemark.runtime.batch import Tally


@dataclass(frozen=True, slots=True)
class LocalBuilder:
    """Builds the rows of a bounded plan. `now` is the time of the whole run."""

    zone: str
    ttl_ms: int
    now: dt.datetime
    read: Callable[[Scan, LocalBuilder], LocalRows]
    lower: Callable[[LocalBuilder, Stage], LocalRows]
    # What the stateful operators have done, by id.
    tallies: dict[str, Tally] = field(default_factory=dict)
    # What the scans have read; if they are followed, with their watermark.
    report: SourceReport = field(default_factory=SourceReport)
    follows: bool = False
    # What the random values of the run derive from.
    seed: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def now_ms(self) -> int:
        return int(self.now.timestamp() * 1000)

    def build(self, stage: Stage) -> LocalRows:
        return self.lower(self, stage)

    def program(self, expressions: Sequence[Expression], rows: LocalRows, node: Node) -> Program:
        """The expressions of a node, over rows."""
        from tidemark.columns import NotInColumns, Program

        try:
            return Program.of(expressions, rows.columns, self.zone, self.now)
        except NotInColumns as problem:
            raise needs_spark(problem.what, node) from None


def needs_spark(what: str, node: Node) -> NeedsSpark:
    """The error for a node that only runs on Spark."""
    description = node.description
    where = f"{description.name}({', '.join(description.details)})"
    return NeedsSpark(what, notes={"where": where})
