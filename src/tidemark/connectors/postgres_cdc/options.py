"""The options of the connector postgres-cdc, and which of them fit together."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tidemark.catalog.tables import Changelog, Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.cdc.connector import is_bounded
from tidemark.connectors.cdc.options import NO_EFFECT, SNAPSHOT_OPTIONS, incremental
from tidemark.connectors.jdbc.options import check_types
from tidemark.connectors.jdbc.postgres.dialect import POSTGRES
from tidemark.connectors.jdbc.postgres.url import PostgresDatabase
from tidemark.connectors.options import option_error, span_of_option
from tidemark.connectors.unsupported import CDC_PATTERN, DEBEZIUM_SETTING
from tidemark.errors import PlanError

Options = Mapping[str, Any]

_WAL2JSON: Final = (
    "wal2json",
    "wal2json_rds",
    "wal2json_streaming",
    "wal2json_rds_streaming",
)

SLOT: Final = "slot.name"
SCHEMA: Final = "schema-name"
TABLE: Final = "table-name"
CHANGELOG: Final = "changelog-mode"
STARTUP: Final = "scan.startup.mode"
HEARTBEAT: Final = "heartbeat.interval.ms"
AS_APPENDED: Final = "scan.read-changelog-as-append-only.enabled"
PARTITIONED: Final = "scan.include-partitioned-tables.enabled"
PUBLICATION: Final = "debezium.publication.name"
AUTOCREATE: Final = "debezium.publication.autocreate.mode"
_DEBEZIUM: Final = "debezium."
WAIT: Final = "connect.timeout"
RETRIES: Final = "connect.max-retries"

OPTIONS: Final = (
    OptionSpec("hostname", required=True, summary="the server"),
    OptionSpec("port", "int", 5432, summary="the port of the server"),
    OptionSpec(
        "username", required=True, summary="the user who logs in; requires the right to replicate"
    ),
    OptionSpec("password", required=True, secret=True, summary="never shown"),
    OptionSpec("database-name", required=True, summary="the database"),
    OptionSpec(SCHEMA, required=True, summary="the schema; patterns are not supported"),
    OptionSpec(TABLE, required=True, summary="the table; patterns are not supported"),
    OptionSpec(SLOT, required=True, summary="the replication slot; each job needs its own"),
    OptionSpec(
        "decoding.plugin.name",
        "enum",
        "pgoutput",
        choices=("pgoutput", "decoderbufs", *_WAL2JSON),
        summary="accepted without effect; it is always `pgoutput`, which every PostgreSQL has",
    ),
    OptionSpec(
        CHANGELOG,
        "enum",
        "all",
        choices=("all", "upsert"),
        summary="`all` requires REPLICA IDENTITY FULL, `upsert` requires a primary key",
    ),
    OptionSpec(
        STARTUP,
        "enum",
        "initial",
        choices=("initial", "latest-offset", "committed-offset", "snapshot"),
        summary="`initial`: the table and then its changes; `latest-offset`: only changes from now "
        "on; `committed-offset`: only changes from the position of the slot; `snapshot`: only the "
        "table, which is then bounded",
    ),
    OptionSpec(
        HEARTBEAT, "duration", 30_000, summary="how often the slot advances without changes"
    ),
    OptionSpec(AS_APPENDED, "boolean", False, summary="read each change as an insert"),
    OptionSpec(PARTITIONED, "boolean", False, summary="read a partitioned table through its root"),
    OptionSpec(PUBLICATION, summary="the publication; by default, it has the name of the slot"),
    OptionSpec(
        AUTOCREATE,
        "enum",
        "filtered",
        choices=("filtered", "disabled"),
        summary="whether the publication is created if it does not exist",
    ),
    OptionSpec(WAIT, "duration", 30_000, summary="how long to wait for a connection"),
    OptionSpec(RETRIES, "int", 3, summary="how often a running job tries to connect again"),
    OptionSpec("connect.pool.size", "int", 30, summary=NO_EFFECT),
    OptionSpec("connection.pool.size", "int", 20, summary=NO_EFFECT),
    incremental(False),
    *SNAPSHOT_OPTIONS,
    OptionSpec(
        "scan.lsn-commit.checkpoints-num-delay",
        "int",
        3,
        summary="accepted without effect; the slot advances when the next micro-batch begins",
    ),
    OptionSpec("table-id.include-database", "boolean", False, summary=NO_EFFECT),
    OptionSpec(f"{_DEBEZIUM}#", summary="other settings of Debezium are rejected by name"),
)

# How values are written. What the database or the user has set does not change what is read.
_WRITTEN: Final = {
    "TimeZone": "UTC",
    "DateStyle": "ISO",
    "IntervalStyle": "postgres",
    "bytea_output": "hex",
    "extra_float_digits": "1",
}


def database_of(options: Options) -> PostgresDatabase:
    """The database that the table is in, with connections that write values in one way."""
    settings = {
        "user": options["username"],
        "password": options["password"],
        "connect_timeout": str(max(options[WAIT] // 1000, 1)),
        "client_encoding": "UTF8",
        "application_name": "tidemark",
        "options": " ".join(f"-c {name}={value}" for name, value in _WRITTEN.items()),
    }
    hosts = ((options["hostname"], str(options["port"])),)
    return PostgresDatabase(hosts, options["database-name"], settings)


def changelog_of(options: Options) -> Changelog:
    if is_bounded(options) or options[AS_APPENDED]:
        return Changelog.APPEND
    return Changelog.UPSERT if options[CHANGELOG] == "upsert" else Changelog.RETRACT


def _check_settings(table: Table, options: Options) -> None:
    for key, value in options.items():
        setting = key.removeprefix(_DEBEZIUM)
        if setting == key or key in (PUBLICATION, AUTOCREATE):
            continue
        allowed = _HARMLESS.get(setting, frozenset())
        if allowed is not None and str(value).lower() not in allowed:
            at = span_of_option(table, key)
            raise DEBEZIUM_SETTING.error(at, key, source=table.source, hint=_INSTEAD.get(setting))


def check(table: Table, options: Options) -> None:
    check_types(table, POSTGRES)
    _check_settings(table, options)
    if not re.fullmatch(r"[a-z0-9_]{1,63}", options[SLOT]):
        raise option_error(
            table,
            SLOT,
            f"'{options[SLOT]}' is not the name of a replication slot",
            notes={"expected": "1 to 63 lower-case letters, digits and underscores"},
        )
    for key in (SCHEMA, TABLE):
        if re.search(r"[*+?|()\[\]{}^\\,]", options[key]):
            raise CDC_PATTERN.error(span_of_option(table, key), key, source=table.source)
    if options[CHANGELOG] == "upsert" and table.primary_key is None:
        raise PlanError(
            f"'{CHANGELOG}' = 'upsert' needs a primary key",
            at=span_of_option(table, CHANGELOG),
            source=table.source,
            notes={"why": "an update replaces the row with the same key (same in Flink)"},
            hint="declare PRIMARY KEY (...) NOT ENFORCED",
        )


# Settings of Debezium that change nothing here, with the values that do not, or None for all.
_HARMLESS: Final[Mapping[str, frozenset[str] | None]] = {
    "plugin.name": frozenset({"pgoutput"}),
    "snapshot.mode": frozenset({"initial"}),
    "slot.drop.on.stop": frozenset({"false"}),
    "field.name.adjustment.mode": frozenset({"none"}),
    "snapshot.fetch.size": None,
    "max.batch.size": None,
    "max.queue.size": None,
    "poll.interval.ms": None,
    "tombstones.on.delete": None,
    "status.update.interval.ms": None,
    "database.tcpKeepAlive": None,
}
_INSTEAD: Final = {
    "snapshot.mode": f"set '{STARTUP}'",
    "plugin.name": "leave it out: it is always `pgoutput`",
    "slot.name": f"set '{SLOT}'",
    "slot.drop.on.stop": "drop the slot yourself: SELECT pg_drop_replication_slot('...')",
}
