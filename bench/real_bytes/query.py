"""What a query of a measurement is: its SQL, its sink and tables, and what is wanted of it.

Only the standard library is imported here, so that the interpreter with Flink can load it too.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wanted:
    """The minimum rate relative to Flink's."""

    warm: float
    cold: float = 0.0


@dataclass(frozen=True)
class Query:
    """A query, the columns of its sink, and the tables it reads."""

    text: str
    columns: str
    tables: tuple[str, ...] = ("orders",)
    wanted: Wanted = Wanted(warm=4.0, cold=1.5)
    # Whether its rows are written to files of the same format; otherwise they are discarded.
    written: bool = False
    # Whether rates are Debezium's events of their table.
    events: bool = False
    # Whether Flink has it in batch mode; otherwise Flink runs it as a stream.
    flink_batch: bool = True
    # Whether Flink runs it at all.
    flink: bool = True
    # Whether `--local` does.
    local: bool = True
    # Whether its rows change in a stream, so that files cannot take them.
    updating: bool = False
    # Statements before it, such as those that create views.
    before: tuple[str, ...] = ()
    # Of a sink that is written: its format if it is not that of the tables, PARTITIONED BY, and
    # further options.
    written_format: str = ""
    partitioned: str = ""
    sink_options: str = ""
    # The columns of the result that the input determines, if not all: with equal ranks,
    # an engine may take any of the rows. Without any, results are not compared.
    certain: tuple[str, ...] | None = None
