"""PyFlink's `TableResult`: what a statement returned, or the rows of a query as they come."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from types import TracebackType
from typing import Self

from tidemark.errors import TidemarkError
from tidemark.plan.nodes import Column
from tidemark.pyflink.api.common.row import Row
from tidemark.pyflink_programs.common.jobs import JobClient
from tidemark.pyflink_programs.program_run import current
from tidemark.pyflink_programs.table.printing import print_changes, print_table
from tidemark.pyflink_programs.table.rows import row_of
from tidemark.pyflink_programs.table.schemas import ResolvedSchema, TableSchema
from tidemark.rows import Change
from tidemark.session.result import JobResult, Result

# How many rows an INSERT has written is unknown, in Flink as well.
_UNKNOWN = -1


class ResultKind:
    """Whether a statement has more to say than that it was right."""

    SUCCESS = 0
    SUCCESS_WITH_CONTENT = 1


class CloseableIterator:
    """Rows as they come. Closing it ends the query."""

    def __init__(self, rows: Iterator[Row], end: Iterator[object] | None = None) -> None:
        self._rows = rows
        self._end = end

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        return next(self._rows)

    next = __next__

    def close(self) -> None:
        close = getattr(self._end, "close", None)
        if close is not None:
            close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class TableResult:
    """The result of `execute_sql()` or `execute()`."""

    def __init__(self, result: Result, *, kinds: bool = True, widest: int = 30) -> None:
        self._result = result
        self._kinds, self._widest = kinds, widest
        self._changes: Iterator[Change] | None = None
        # The first change, or none of an empty result, if someone has waited for it.
        self._waited: tuple[Change, ...] | None = None

    def get_job_client(self) -> JobClient | None:
        job = self._result.job
        return None if job is None else JobClient(job)

    def get_result_kind(self) -> int:
        done = self._result.kind == "ok"
        return ResultKind.SUCCESS if done else ResultKind.SUCCESS_WITH_CONTENT

    def get_resolved_schema(self) -> ResolvedSchema:
        return ResolvedSchema(self._columns)

    def get_table_schema(self) -> TableSchema:
        return TableSchema(self._columns)

    @property
    def _columns(self) -> tuple[Column, ...]:
        return self._result.columns

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait for the end of a job, or for the first row of a query."""
        if isinstance(self._result, JobResult):
            if not self._result.wait(None if timeout_ms is None else timeout_ms / 1000):
                raise TimeoutError(f"the job has not ended after {timeout_ms} ms")
            current().has_waited_for(self._result.job)
        elif self._result.kind == "query" and self._changes is None:
            first = next(self._started(), None)
            self._waited = () if first is None else (first,)

    def collect(self) -> CloseableIterator:
        match self._result.kind:
            case "query":
                changes = self._all_changes()
                return CloseableIterator(
                    (row_of(change, self._columns) for change in changes), self._changes
                )
            case "job":
                return CloseableIterator(self._when_done())
            case "table":
                return CloseableIterator(Row(*row.values()) for row in self._result.rows())
        return CloseableIterator(iter([Row("OK")]))

    def print(self) -> None:
        match self._result.kind:
            case "query":
                print_changes(
                    self._all_changes(), self._columns, kinds=self._kinds, widest=self._widest
                )
            case "job":
                for row in self._when_done():
                    print(*row, flush=True)
            case "table":
                self._print_table()
            case _:
                print("OK", flush=True)

    def _print_table(self) -> None:
        names = [column.name for column in self._columns]
        rows = [list(row.values()) for row in self._result.rows()]
        if names == ["result"]:
            # Plans and statements have lines of their own.
            print("\n".join(str(value) for row in rows for value in row), flush=True)
        else:
            print_table(names, rows)

    def _when_done(self) -> Iterator[Row]:
        self.wait()
        yield Row(_UNKNOWN)

    def _started(self) -> Iterator[Change]:
        if self._changes is not None:
            raise TidemarkError(
                "the rows of this result have been read",
                hint="execute the query again; collect() and print() exclude each other",
            )
        self._changes = self._result.changes()
        return self._changes

    def _all_changes(self) -> Iterator[Change]:
        if self._waited is not None:
            waited, self._waited = self._waited, None
            assert self._changes is not None
            return chain(waited, self._changes)
        return self._started()
