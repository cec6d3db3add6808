"""Where a job begins to read the log, and the table as it is there."""

from __future__ import annotations

from bisect import bisect_left

from tidemark.connectors.mysql_cdc import options as o
from tidemark.connectors.mysql_cdc.captured import (
    CapturedMysql,
    KnownTable,
    end_of_log,
    files_of_log,
)
from tidemark.connectors.mysql_cdc.positions import FIRST_BYTE, LogPosition
from tidemark.errors import DataError, SetupError


def position(captured: CapturedMysql, options: o.Options) -> LogPosition:
    """The position that options ask for."""
    mode = options[o.STARTUP]
    with captured.connected("reading") as connection:
        if mode == "latest-offset":
            return end_of_log(connection, captured)
        files = [LogPosition(file, FIRST_BYTE) for file in files_of_log(connection, captured)]
        end = end_of_log(connection, captured)
    if mode == "specific-offset":
        return _given(captured, files, end, options)
    return files[0] if mode == "earliest-offset" else _at(captured, files, end, options)


def _given(
    captured: CapturedMysql, files: list[LogPosition], end: LogPosition, options: o.Options
) -> LogPosition:
    """The position that options name, if the log has it."""
    from tidemark.connectors.mysql_cdc.columns.log import logged

    found = LogPosition(options[o.START_FILE], max(options[o.START_POS], FIRST_BYTE))
    why = None
    try:
        if found.file in {file.file for file in files} and found <= end:
            next(logged(captured, found), None)
            return found
    except DataError as problem:
        why = problem.notes.get("why")
    raise SetupError(
        f"the log of {captured.database} cannot be read from {found}",
        notes={"it has": f"{files[0]} to {end}", **({"why": why} if why else {})},
        hint=f"set '{o.START_FILE}' and '{o.START_POS}' to where an event begins, as "
        "SHOW BINLOG EVENTS lists them",
    )


def _at(
    captured: CapturedMysql, files: list[LogPosition], end: LogPosition, options: o.Options
) -> LogPosition:
    """The first position with changes of a time or later."""
    from tidemark.connectors.mysql_cdc.columns.scanning import begun, first_since

    # The log has seconds. Those of one may be in two files, of which each that is looked at is a
    # connection.
    seconds = options[o.START_TIME] // 1000
    before = bisect_left(files, seconds, key=lambda file: begun(captured, file))
    return first_since(captured, files[before - 1], end, seconds) if before else files[0]


def settled(captured: CapturedMysql, start: LogPosition) -> tuple[LogPosition, KnownTable]:
    """The table as it is from a position on. Names of columns are not in the log: if it was
    defined anew after that, there must not be changes between, and it is read from there.
    """
    from tidemark.connectors.mysql_cdc.columns.scanning import LogScan

    # In one transaction: what the table is now, it is at this end of the log.
    known, end = captured.asked(
        lambda connection: (KnownTable.of(connection, captured), end_of_log(connection, captured))
    )
    check_there(end, start, captured)
    found = LogScan(captured, known.described, stops=False).run(start, end)
    if found.defined is None:
        return start, known
    if found.changes_before:
        raise DataError(
            f"{captured} was altered after changes that were not read yet",
            notes={
                "why": "the log does not have the names of the columns that it had before",
                "altered at": str(found.defined),
            },
            hint="start the job without its checkpoint, and after this position",
        )
    return found.defined, known


def check_there(end: LogPosition, start: LogPosition, captured: CapturedMysql) -> None:
    if end < start:
        raise DataError(
            f"{captured.database} is at {end}, before {start}, which was there",
            notes={"why": "it was restored, or another server has taken its place"},
            hint="start the job without its checkpoint",
        )
