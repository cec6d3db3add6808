"""Stream and backfill must agree: a script's queries run both ways, and compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.dialect import statements as s
from tidemark.dialect import to_sql
from tidemark.errors import PlanError, TidemarkError
from tidemark.plan.nodes import Node, Sink
from tidemark.session.changelogs import applied
from tidemark.session.workspace import Planned

if TYPE_CHECKING:
    import pyarrow as pa

    from tidemark.session.session import Session


@dataclass(frozen=True, slots=True)
class Side:
    """The rows of one way to run a query: how many, and a checksum that ignores their order."""

    rows: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Verification:
    """One query of a script, run as a stream and as a batch."""

    query: str
    stream: Side
    batch: Side

    @property
    def equal(self) -> bool:
        return self.stream == self.batch


def verify(session: Session, text: str, name: str = "<sql>") -> Iterator[Verification]:
    """Run every query of a script over bounded tables both ways. Nothing is written: of an INSERT
    the query is run, not the sink."""
    from tidemark.dialect import parse_script

    script = parse_script(text, name)
    for statement in script.statements:
        planned = session.workspace.apply(statement, script.source)
        if planned.plan is None:
            continue
        for root, query in zip(planned.plan.roots, _queries(planned), strict=True):
            yield _compare(session, root, query, planned)


def _queries(planned: Planned) -> list[str]:
    statement = planned.statement
    parts = statement.inserts if isinstance(statement, s.StatementSet) else (statement,)
    return [to_sql(part) for part in parts]


def _compare(session: Session, root: Node, query: str, planned: Planned) -> Verification:
    rows = root.input if isinstance(root, Sink) else root
    if not rows.edge.bounded:
        raise PlanError(
            "only queries over bounded tables can be run both ways",
            at=planned.statement.span,
            source=planned.source,
        )
    sides = []
    for streaming in (True, False):
        sides.append(_side(applied(session.collect(rows, streaming), rows.edge)))
    return Verification(query, *sides)


def _side(table: pa.Table) -> Side:
    """A sum over row hashes does not depend on the order of rows, and counts duplicates."""
    import polars as pl

    frame = pl.from_arrow(table)
    if not isinstance(frame, pl.DataFrame):
        raise TidemarkError("the result is not a table")
    texts = frame.select(pl.struct(pl.all()).struct.json_encode().alias("row"))
    hashes = texts["row"].hash(seed=17).cast(pl.Int128).sum() or 0
    return Side(frame.height, f"{int(hashes) % 2**64:016x}")
