"""The options of the connector mysql-cdc, and which of them fit together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlencode

from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.cdc.connector import is_bounded
from tidemark.connectors.cdc.options import CHUNK_KEY, NO_EFFECT, SNAPSHOT_OPTIONS, incremental
from tidemark.connectors.jdbc.contract import NotUnderstood
from tidemark.connectors.jdbc.mysql.url import MysqlDatabase, database
from tidemark.connectors.jdbc.options import check_types
from tidemark.connectors.mysql_cdc.dialect import CdcDialect
from tidemark.connectors.options import option_error, span_of_option
from tidemark.connectors.unsupported import CDC_PATTERN, DEBEZIUM_SETTING, GTID_SET
from tidemark.errors import PlanError
from tidemark.zones import zone_names

Options = Mapping[str, Any]

DATABASE: Final = "database-name"
TABLE: Final = "table-name"
ZONE: Final = "server-time-zone"
STARTUP: Final = "scan.startup.mode"
START_FILE: Final = "scan.startup.specific-offset.file"
START_POS: Final = "scan.startup.specific-offset.pos"
START_GTIDS: Final = "scan.startup.specific-offset.gtid-set"
SKIPS: Final = tuple(f"scan.startup.specific-offset.skip-{what}" for what in ("events", "rows"))
START_TIME: Final = "scan.startup.timestamp-millis"
HEARTBEAT: Final = "heartbeat.interval"
AS_APPENDED: Final = "scan.read-changelog-as-append-only.enabled"
INCREMENTAL: Final = "scan.incremental.snapshot.enabled"
SERVER_ID: Final = "server-id"
WAIT: Final = "connect.timeout"
RETRIES: Final = "connect.max-retries"
_DEBEZIUM: Final = "debezium."
_JDBC: Final = "jdbc.properties."

OPTIONS: Final = (
    OptionSpec("hostname", required=True, summary="the server"),
    OptionSpec("port", "int", 3306, summary="the port of the server"),
    OptionSpec(
        "username", required=True, summary="the user who logs in; requires rights to replicate"
    ),
    OptionSpec("password", required=True, secret=True, summary="never shown"),
    OptionSpec(DATABASE, required=True, summary="the database; patterns are not supported"),
    OptionSpec(TABLE, required=True, summary="the table; patterns are not supported"),
    OptionSpec(
        SERVER_ID,
        summary="accepted without effect; the log is read without an ID, as `mysqlbinlog` does",
    ),
    OptionSpec(
        ZONE,
        summary="the time zone in which a `TIMESTAMP` of MySQL is read as `TIMESTAMP` or `STRING`; "
        "by default, that of the session",
    ),
    OptionSpec(
        STARTUP,
        "enum",
        "initial",
        choices=(
            "initial",
            "earliest-offset",
            "latest-offset",
            "specific-offset",
            "timestamp",
            "snapshot",
        ),
        summary="`initial`: the table and then its changes; `latest-offset`: only changes from now "
        "on; `earliest-offset`, `specific-offset`, `timestamp`: only changes from there on; "
        "`snapshot`: only the table, which is then bounded",
    ),
    OptionSpec(START_FILE, summary="for `specific-offset`: the file of the log"),
    OptionSpec(START_POS, "long", 4, summary="for `specific-offset`: the position in the file"),
    OptionSpec(START_GTIDS, summary="not supported"),
    *(OptionSpec(key, "long", 0, summary="only 0 is supported") for key in SKIPS),
    OptionSpec(START_TIME, "long", summary="for `timestamp`: milliseconds since 1970"),
    OptionSpec(
        HEARTBEAT,
        "duration",
        30_000,
        summary="how often the position in the log is noted without changes; `0s`: never",
    ),
    OptionSpec(AS_APPENDED, "boolean", False, summary="read each change as an insert"),
    OptionSpec(WAIT, "duration", 30_000, summary="how long to wait for a connection"),
    OptionSpec(RETRIES, "int", 3, summary="how often a running job tries to connect again"),
    OptionSpec("connection.pool.size", "int", 20, summary=NO_EFFECT),
    OptionSpec(
        f"{_JDBC}#", summary="settings of the Java driver, as in the URL of connector `jdbc`"
    ),
    incremental(True),
    *SNAPSHOT_OPTIONS,
    OptionSpec("scan.newly-added-table.enabled", "boolean", False, summary=NO_EFFECT),
    OptionSpec("scan.parse.online.schema.changes.enabled", "boolean", False, summary=NO_EFFECT),
    OptionSpec("use.legacy.json.format", "boolean", True, summary=NO_EFFECT),
    OptionSpec(f"{_DEBEZIUM}#", summary="those that change nothing here are accepted"),
)

# Settings of Debezium that published scripts have: what they ask for is so here, or has no meaning.
_HARMLESS: Final[Mapping[str, frozenset[str] | None]] = {
    "snapshot.mode": frozenset({"initial"}),
    "snapshot.locking.mode": None,
    "snapshot.fetch.size": None,
    "min.row.count.to.stream.result": None,
    "min.row.count.to.stream.results": None,
    "bigint.unsigned.handling.mode": None,
    "decimal.handling.mode": None,
    "time.precision.mode": None,
    "database.history.store.only.captured.tables.ddl": None,
    "database.history.skip.unparseable.ddl": None,
    "include.schema.changes": None,
    "connect.timeout.ms": None,
    "connect.keep.alive": None,
    "max.batch.size": None,
    "max.queue.size": None,
    "poll.interval.ms": None,
    "tombstones.on.delete": None,
    "database.serverTimezone": None,
    "database.allowPublicKeyRetrieval": None,
    "binary.handling.mode": frozenset({"bytes", "none"}),
    "event.deserialization.failure.handling.mode": frozenset({"fail"}),
    "field.name.adjustment.mode": frozenset({"none"}),
    "inconsistent.schema.handling.mode": frozenset({"fail"}),
}
_INSTEAD: Final = {
    "snapshot.mode": f"set '{STARTUP}'",
    "database.server.id": f"set '{SERVER_ID}', or leave it out",
}


def database_of(options: Options) -> MysqlDatabase:
    """The database that the table is in. Raises NotUnderstood for settings of the Java driver."""
    given = {
        key.removeprefix(_JDBC): value for key, value in options.items() if key.startswith(_JDBC)
    }
    settings = f"?{urlencode(given)}" if given else ""
    login = {"user": options["username"], "password": options["password"]}
    found = database(f"jdbc:mysql:///{settings}", login, options[WAIT] // 1000)
    # Flink CDC's default. The log is read in the same way.
    server = options["hostname"], options["port"]
    return MysqlDatabase(*server, options[DATABASE], found.settings, no_zeros=True)


def changelog_of(options: Options) -> Changelog:
    if is_bounded(options) or options[AS_APPENDED]:
        return Changelog.APPEND
    return Changelog.RETRACT


def check(table: Table, options: Options) -> None:
    check_types(table, CdcDialect())
    _check_settings(table, options)
    for key in (DATABASE, TABLE):
        if re.search(r"[*+?|()\[\]{}^\\,]|\.\*", options[key]):
            raise CDC_PATTERN.error(span_of_option(table, key), key, source=table.source)
    _check_start(table, options)
    zone = options[ZONE]
    if zone is not None and offset_of(zone) is None and zone not in zone_names():
        raise option_error(
            table,
            ZONE,
            f"unknown time zone '{zone}'",
            notes={"expected": "a name such as 'Asia/Shanghai', or an offset such as '+08:00'"},
        )
    given = options[SERVER_ID]
    if given is not None and not re.fullmatch(r"\s*\d+\s*(-\s*\d+\s*)?", given):
        raise option_error(
            table,
            SERVER_ID,
            f"'{given}' is not a server ID",
            notes={"expected": "a number such as '5400', or a range such as '5400-5408'"},
        )
    if table.primary_key is None and options[INCREMENTAL] and options[CHUNK_KEY] is None:
        raise PlanError(
            f"`{table.name}` needs a primary key",
            at=span_of_option(table, "connector"),
            source=table.source,
            notes={"why": "its changes are those of rows with a key (same in Flink)"},
            hint="declare PRIMARY KEY (...) NOT ENFORCED; if the table has no key, set "
            f"'{CHUNK_KEY}'",
        )


def _check_settings(table: Table, options: Options) -> None:
    for key, value in options.items():
        setting = key.removeprefix(_DEBEZIUM)
        if setting == key:
            continue
        allowed = _HARMLESS.get(setting, frozenset())
        if allowed is not None and str(value).lower() not in allowed:
            raise DEBEZIUM_SETTING.error(
                span_of_option(table, key), key, source=table.source, hint=_INSTEAD.get(setting)
            )
    try:
        database_of(options)
    except NotUnderstood as problem:
        first = next(key for key in options if key.startswith(_JDBC))
        raise option_error(table, first, f"'{_JDBC}*' are not understood: {problem}") from None


def _check_start(table: Table, options: Options) -> None:
    mode = options[STARTUP]
    if options[START_GTIDS] is not None and mode == "specific-offset":
        raise GTID_SET.error(span_of_option(table, START_GTIDS), START_GTIDS, source=table.source)
    for key in SKIPS:
        if options[key]:
            raise option_error(
                table, key, f"'{key}' must be 0", notes={"why": "transactions are read whole"}
            )
    for needed, by in ((START_FILE, "specific-offset"), (START_TIME, "timestamp")):
        if mode == by and options[needed] is None:
            raise option_error(table, STARTUP, f"'{STARTUP}' = '{mode}' also needs '{needed}'")


def offset_of(zone: str) -> int | None:
    """The minutes of a zone that is an offset from UTC.

    >>> offset_of("GMT+8"), offset_of("-03:30"), offset_of("Asia/Shanghai")
    (480, -210, None)
    """
    found = re.fullmatch(r"(?:UTC|GMT)?([+-])(\d{1,2})(?::?(\d\d))?", zone)
    if found is None:
        return 0 if zone in ("UTC", "GMT", "Z") else None
    minutes = int(found[2]) * 60 + int(found[3] or 0)
    return -minutes if found[1] == "-" else minutes
