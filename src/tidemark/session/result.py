"""The result of a statement: a message, a table, the changes of a query, or a job."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from tidemark import types as t
from tidemark.catalog.tables import Changelog
from tidemark.dialect.statements import Query, Statement
from tidemark.errors import TidemarkError
from tidemark.plan.nodes import Column, Edge
from tidemark.rows import Change
from tidemark.session.changes import ChangeStream
from tidemark.session.table_result import TableResult
from tidemark.spark.jobs import Job

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from tidemark.session.live import LiveTable
    from tidemark.session.windowed import Run, WindowedTable
    from tidemark.windows import Window

Kind = Literal["ok", "table", "query", "job"]


class Result:
    """The result of one statement. A query starts when its rows are requested."""

    kind: Kind = "ok"

    def __init__(self, statement: Statement, message: str | None = None) -> None:
        self.statement = statement
        self.message = message
        self.columns: tuple[Column, ...] = ()
        self.changelog = Changelog.APPEND
        self.bounded = True
        self.keys: tuple[tuple[str, ...], ...] = ()
        self.warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        columns = ", ".join(f"{c.name} {c.type}" for c in self.columns)
        return f"<Result {self.kind}{f': {columns}' if columns else ''}>"

    @property
    def job(self) -> Job | None:
        """The job of an INSERT, or of a query whose changes are being read."""
        return None

    def batches(self) -> Iterator[pa.Table]:
        """The changes as Arrow tables, as they arrive; `_tm_kind` contains the row kinds if
        there are others than `+I`.
        """
        raise TidemarkError("this statement does not return rows", hint="only queries have")

    def changes(self) -> Iterator[Change]:
        """The changes one by one, as they arrive. Closing the iterator stops the query."""
        from tidemark.session.changelogs import changes_of

        batches = self.batches()
        try:
            for batch in batches:
                yield from changes_of(batch)
        finally:
            _close(batches)

    def to_arrow(self) -> pa.Table:
        """All changes applied, as an Arrow table. Waits until a bounded query has ended."""
        raise TidemarkError("this statement does not return rows", hint="only queries have")

    def rows(self) -> list[dict[str, Any]]:
        """All changes applied, as a list of dicts."""
        from tidemark.session.changelogs import python_rows

        return python_rows(self.to_arrow())

    def to_polars(self) -> pl.DataFrame:
        """All changes applied, as a Polars frame."""
        import polars as pl

        frame = pl.from_arrow(self.to_arrow())
        assert isinstance(frame, pl.DataFrame)
        return frame

    def to_pandas(self) -> pd.DataFrame:
        """All changes applied, as a pandas frame."""
        return self.to_arrow().to_pandas()

    def live(self, keep: int = 10_000) -> LiveTable:
        """The rows as a table that follows the query while it runs, forever if it is unbounded; in
        a notebook the display is updated. For an append-only query it keeps the newest `keep`
        rows.

        >>> with session.sql("SELECT shop, COUNT(*) AS n FROM orders GROUP BY shop").live() as now:
        ...     now.show(seconds=60)  # doctest: +SKIP
        """
        raise TidemarkError("this statement does not return rows", hint="only queries have")

    def to_dataframe(self, kind_column: str = "row_kind") -> DataFrame:
        """The query as a Spark DataFrame, streaming if it is unbounded. A changelog has its row
        kinds in a column with this name.
        """
        raise TidemarkError("this statement is not a query", hint="only queries are DataFrames")

    def window(self, window: Window) -> WindowedTable[Result]:
        """The rows in windows, to be grouped and aggregated: see `tidemark.windows`.

        >>> from tidemark.windows import Tumble
        >>> session.table("orders").window(Tumble("1 hour", on="ts")).group_by("shop").select(
        ...     "shop", "window_start", "COUNT(*) AS n"
        ... )  # doctest: +SKIP
        """
        raise TidemarkError("this statement does not return rows", hint="only queries have windows")


def _close(batches: Iterator[Any]) -> None:
    close = getattr(batches, "close", None)
    if close is not None:
        close()


class TableOutput(Result):
    """A small table that was available at once: SHOW, DESCRIBE, EXPLAIN, SET."""

    kind: Kind = "table"

    def __init__(self, statement: Statement, table: TableResult) -> None:
        super().__init__(statement)
        self.columns = table.columns
        self._table = table

    def batches(self) -> Iterator[pa.Table]:
        yield self.to_arrow()

    def to_arrow(self) -> pa.Table:
        import pyarrow as pa

        rows = self._table.rows
        values = zip(*rows, strict=True) if rows else [()] * len(self.columns)
        types = (pa.bool_() if isinstance(c.type, t.Boolean) else pa.string() for c in self.columns)
        arrays = [pa.array(list(v), type_) for v, type_ in zip(values, types, strict=True)]
        return pa.table(arrays, names=[column.name for column in self.columns])


class QueryResult(Result):
    """The changes of a query."""

    kind: Kind = "query"

    def __init__(
        self,
        statement: Query,
        edge: Edge,
        start: Callable[[], ChangeStream],
        frame: Callable[[str], DataFrame],
        run_windows: Run[Result],
        warnings: tuple[str, ...] = (),
    ) -> None:
        super().__init__(statement)
        self._query = statement.query
        self._run_windows = run_windows
        self.columns = edge.columns
        self.changelog = edge.changelog
        self.bounded = edge.bounded
        self.keys = edge.keys
        self.warnings = warnings
        self._edge = edge
        self._start = start
        self._frame = frame
        self._stream: ChangeStream | None = None

    @property
    def job(self) -> Job | None:
        return self._stream.job if self._stream is not None else None

    def batches(self) -> Iterator[pa.Table]:
        self._stream = stream = self._start()
        try:
            yield from stream
        finally:
            stream.close()

    def to_arrow(self) -> pa.Table:
        if not self.bounded:
            raise TidemarkError(
                "this query is unbounded, so it never has all its rows",
                hint="iterate over `changes()` instead, and stop when you have enough",
            )
        from tidemark.session.changelogs import applied

        return applied(self.batches(), self._edge)

    def live(self, keep: int = 10_000) -> LiveTable:
        from tidemark.session.live import LiveTable

        def start() -> ChangeStream:
            self._stream = self._start()
            return self._stream

        return LiveTable(self._edge, start, keep)

    def to_dataframe(self, kind_column: str = "row_kind") -> DataFrame:
        return self._frame(kind_column)

    def window(self, window: Window) -> WindowedTable[Result]:
        from tidemark.session.windowed import WindowedTable

        return WindowedTable(self._query, self._run_windows, window)


class JobResult(Result):
    """A running INSERT or statement set."""

    kind: Kind = "job"

    def __init__(
        self, statement: Statement, job: Job, bounded: bool, warnings: tuple[str, ...] = ()
    ) -> None:
        super().__init__(statement, f"job {job.name} started")
        self._job = job
        self.bounded = bounded
        self.warnings = warnings

    @property
    def job(self) -> Job:
        return self._job

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job has ended; see `Job.wait`."""
        return self._job.wait(timeout)

    def stop(self) -> None:
        self._job.stop()

    def progress(self) -> Any:
        return self._job.progress()
