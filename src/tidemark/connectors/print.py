"""The print connector: prints each change on standard output, as Flink's does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tidemark import types as t
from tidemark.catalog.tables import Table, TableTraits
from tidemark.connectors.base import Connector, OptionSpec, Target, WorkerSink, WriteRequest
from tidemark.connectors.sent_types import fetched
from tidemark.rows import print_text
from tidemark.spark.frame import KIND

if TYPE_CHECKING:
    import pyarrow as pa

OPTIONS = (
    OptionSpec("print-identifier", summary="a prefix of each line"),
    OptionSpec("standard-error", "boolean", False, summary="print to standard error"),
    OptionSpec(
        "sink.parallelism", "int", summary="if greater than 1, lines start with a task number"
    ),
)


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    return TableTraits(writable=True, accepts_updates=True, upserts=True)


def write(request: WriteRequest) -> None:
    rows: pa.Table = request.frame.selectExpr(*_columns(request)).toArrow()
    _print(rows, request)


def local_sink(target: Target) -> WorkerSink:
    """Prints rows of this process, all of them at its end."""

    def printed(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, None]]:
        import pyarrow as pa

        whole = [*batches]
        if whole:
            rows = pa.Table.from_batches(whole)
            if KIND not in rows.column_names:
                rows = rows.append_column(KIND, pa.array(["+I"] * rows.num_rows, pa.string()))
            others = [name for name in rows.column_names if name != KIND]
            _print(rows.select([KIND, *others]), target)
        yield sum(batch.num_rows for batch in whole), None

    def commit(notes: Callable[[], Sequence[str]], batch_id: int | None) -> None:
        notes()

    return WorkerSink(printed, commit)


def _print(rows: pa.Table, target: Target) -> None:
    """Prints rows whose first column is their kind."""
    out = sys.stderr if target.options["standard-error"] else sys.stdout
    lines = _lines(rows, target.types)
    # A single write, which is also all that replacements of a stream must support.
    out.write(
        "".join(f"{_prefix(target.options, number)}{line}\n" for number, line in enumerate(lines))
    )
    out.flush()


def _columns(request: WriteRequest) -> list[str]:
    """The row kind first."""
    appended = KIND not in request.frame.columns
    kind = "'+I' AS _tm_kind" if appended else "_tm_kind"
    return [kind, *(fetched(*one) for one in zip(request.columns, request.types, strict=True))]


def _lines(rows: pa.Table, types: Sequence[t.DataType]) -> Iterator[str]:
    """Column by column, because values of one type are written the same way."""
    kinds, *columns = rows.columns
    strings = [
        [print_text(value, type_) for value in column.to_pylist()]
        for column, type_ in zip(columns, types, strict=True)
    ]
    for kind, *row in zip(kinds.to_pylist(), *strings, strict=True):
        yield f"{kind}[{', '.join(row)}]"


def _prefix(options: Mapping[str, Any], row: int) -> str:
    parallelism = options["sink.parallelism"] or 1
    task = str(row % parallelism + 1) if parallelism > 1 else ""
    words = [word for word in (options["print-identifier"], task) if word]
    return f"{':'.join(words)}> " if words else ""


PRINT = Connector(
    name="print",
    options=OPTIONS,
    summary="prints each change to standard output",
    traits=traits,
    write=write,
    local_sink=local_sink,
    on_client=True,
)
