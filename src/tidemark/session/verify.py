"""Checks that streams and batches agree: a script's queries run both ways and are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tidemark.dialect import statements as s
from tidemark.dialect import to_sql
from tidemark.errors import PlanError, Source, TidemarkError
from tidemark.plan.nodes import Node, Sink
from tidemark.plan.planner import Runnable
from tidemark.session.changelogs import applied
from tidemark.spark.first_start import FirstStart

if TYPE_CHECKING:
    from tidemark.session.session import Session


@dataclass(frozen=True, slots=True)
class ModeResult:
    """The result of a query in one mode: how many rows, and a checksum that ignores their order."""

    rows: int
    checksum: str


@dataclass(frozen=True, slots=True)
class Verification:
    """One query of a script, run as a stream and as a batch."""

    query: str
    stream: ModeResult
    batch: ModeResult

    @property
    def equal(self) -> bool:
        return self.stream == self.batch


def verify(session: Session, text: str, name: str = "<sql>") -> Iterator[Verification]:
    """Run every query of a script over bounded tables both ways. Nothing is written: of an
    INSERT only the query is run.
    """
    from tidemark.dialect import parse_script

    script = parse_script(text, name)
    for statement in script.statements:
        session.workspace.apply(statement, script.source)
        if isinstance(statement, s.CreateTable) and statement.query is not None:
            statement = s.Query(statement.query, span=statement.span)
        if isinstance(statement, s.Query | s.Insert | s.StatementSet):
            yield from _verified(session, statement, script.source)


def _verified(session: Session, statement: Runnable, source: Source) -> Iterator[Verification]:
    """Each mode has its own plan: a batch emits each group once, a stream emits changes."""
    stream = session.workspace.dry_run(statement, source, "streaming")
    if not stream.bounded:
        raise PlanError(
            "only queries over bounded tables can be verified",
            at=statement.span,
            source=source,
        )
    batch = session.workspace.dry_run(statement, source, "batch")
    parts = statement.inserts if isinstance(statement, s.StatementSet) else (statement,)
    roots = (stream.of_single_roots.roots, batch.of_single_roots.roots)
    start = FirstStart()  # both modes read the same random rows
    for part, as_stream, as_batch in zip(parts, *roots, strict=True):
        yield Verification(
            to_sql(part),
            _side(session, as_stream, start, streaming=True),
            _side(session, as_batch, start, streaming=False),
        )


def _side(session: Session, root: Node, start: FirstStart, *, streaming: bool) -> ModeResult:
    """A sum over row hashes does not depend on the order of rows, and counts duplicates."""
    import polars as pl

    from tidemark.kernels.comparable import encoded

    rows = root.input if isinstance(root, Sink) else root
    frame = pl.from_arrow(applied(session.collect(rows, streaming, start), rows.edge))
    if not isinstance(frame, pl.DataFrame):
        raise TidemarkError("the result is not a table")
    whole = frame.select(pl.struct(pl.all()).alias("row"))
    strings = whole.select(encoded("row", whole.schema["row"]))["row"]
    hashes = strings.hash(seed=17).cast(pl.Int128).sum() or 0
    return ModeResult(frame.height, f"{int(hashes) % 2**64:016x}")
