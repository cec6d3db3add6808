"""The options of the iceberg connector, and which of them fit together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.lake.as_of import AS_OF
from tidemark.connectors.lake.types import check_columns
from tidemark.connectors.lookup_options import FULL_CACHE_OPTIONS, check_reloads
from tidemark.connectors.options import option_error, span_of_option
from tidemark.connectors.unsupported import ICEBERG_CATALOG
from tidemark.errors import did_you_mean

NAME: Final = "catalog-name"
TYPE: Final = "catalog-type"
IMPL: Final = "catalog-impl"
URI: Final = "uri"
WAREHOUSE: Final = "warehouse"
DATABASE: Final = "catalog-database"
TABLE: Final = "catalog-table"
STREAMING: Final = "streaming"
INTERVAL: Final = "monitor-interval"
STRATEGY: Final = "starting-strategy"
START_SNAPSHOT: Final = "start-snapshot-id"
START_TIMESTAMP: Final = "start-snapshot-timestamp"
START_TAG: Final = "start-tag"
SNAPSHOT: Final = "snapshot-id"
TIMESTAMP: Final = "as-of-timestamp"
TAG: Final = "tag"
BRANCH: Final = "branch"
SKIP_CHANGES: Final = "tidemark.iceberg.skip-changes"
UPSERT: Final = ("upsert-enabled", "write.upsert.enabled")

# What pyiceberg calls them.
TYPES: Final = {
    "hadoop": "hadoop",
    "jdbc": "sql",
    "sql": "sql",
    "rest": "rest",
    "hive": "hive",
    "glue": "glue",
}
# The types that 'catalog-impl' names by their classes in Java.
_IMPLS: Final = {
    "org.apache.iceberg.hadoop.HadoopCatalog": "hadoop",
    "org.apache.iceberg.jdbc.JdbcCatalog": "jdbc",
    "org.apache.iceberg.rest.RESTCatalog": "rest",
    "org.apache.iceberg.hive.HiveCatalog": "hive",
    "org.apache.iceberg.aws.glue.GlueCatalog": "glue",
}
_NESSIE: Final = "org.apache.iceberg.nessie.NessieCatalog"
SCAN_FIRST: Final = "TABLE_SCAN_THEN_INCREMENTAL"
LATEST: Final = "INCREMENTAL_FROM_LATEST_SNAPSHOT"
LATEST_EXCLUSIVE: Final = "INCREMENTAL_FROM_LATEST_SNAPSHOT_EXCLUSIVE"
EARLIEST: Final = "INCREMENTAL_FROM_EARLIEST_SNAPSHOT"

_OF_BATCHES: Final = (SNAPSHOT, TIMESTAMP, TAG, AS_OF.name)
_STARTS: Final = (START_SNAPSHOT, START_TIMESTAMP, START_TAG)
_OF_STREAMS: Final = (*_STARTS, STRATEGY, SKIP_CHANGES)
_NO_EFFECT: Final = "accepted without effect"
_S3_SECRET: Final = "never shown; by default, Spark's setting is used"
PROPERTIES: Final = ("write.", "read.", "commit.", "history.", "format-version")
# Properties of catalogs that are passed as they are.
_PASSED: Final = (
    "credential",
    "token",
    "scope",
    "oauth2-server-uri",
    "s3.",
    "client.",
    "glue.",
    "header.",
)

OPTIONS: Final = (
    OptionSpec(NAME, required=True, summary="the name of the catalog, as in a JDBC catalog"),
    OptionSpec(TYPE, summary=f"one of {', '.join(TYPES)}; `hive` by default, as in Flink"),
    OptionSpec(
        IMPL,
        summary="Iceberg's class of a type, such as `org.apache.iceberg.rest.RESTCatalog`",
    ),
    OptionSpec(URI, summary="where the catalog is, such as `jdbc:sqlite:/data/catalog.db`"),
    OptionSpec(WAREHOUSE, summary="the folder of new tables; local or a [URI](#paths)"),
    OptionSpec(DATABASE, summary="the database in the catalog; by default that of the table"),
    OptionSpec(TABLE, summary="the table in the catalog; by default the name of the table"),
    OptionSpec("jdbc.user", summary="the user who logs in to a JDBC catalog"),
    OptionSpec("jdbc.password", secret=True, summary="never shown"),
    OptionSpec("credential", secret=True, summary="for a REST catalog; never shown"),
    OptionSpec("token", secret=True, summary="for a REST catalog; never shown"),
    OptionSpec("scope", summary="for a REST catalog"),
    OptionSpec("oauth2-server-uri", summary="for a REST catalog"),
    OptionSpec(
        "header.#", secret=True, summary="a header of requests to a REST catalog; never shown"
    ),
    OptionSpec("s3.access-key-id", secret=True, summary=_S3_SECRET),
    OptionSpec("s3.secret-access-key", secret=True, summary=_S3_SECRET),
    OptionSpec("s3.session-token", secret=True, summary=_S3_SECRET),
    OptionSpec(
        "s3.#", summary="an S3 setting, such as `s3.endpoint`; by default, Spark's setting is used"
    ),
    OptionSpec("client.#", summary="an AWS setting, such as `client.region`"),
    OptionSpec("glue.#", summary="a setting for AWS Glue, such as `glue.endpoint`"),
    OptionSpec("property-version", "int", summary=_NO_EFFECT),
    OptionSpec("cache-enabled", "boolean", summary=_NO_EFFECT),
    OptionSpec("cache.expiration-interval-ms", "int", summary=_NO_EFFECT),
    OptionSpec("hive-conf-dir", summary=_NO_EFFECT),
    OptionSpec("hadoop-conf-dir", summary=_NO_EFFECT),
    OptionSpec("clients", "int", summary=_NO_EFFECT),
    OptionSpec("io-impl", summary=_NO_EFFECT),
    OptionSpec(STREAMING, "boolean", False, summary="whether a query continues with new snapshots"),
    OptionSpec(
        INTERVAL, "duration", 60_000, summary="streaming: how often to look for new snapshots"
    ),
    OptionSpec(
        STRATEGY,
        "enum",
        choices=(SCAN_FIRST, LATEST, LATEST_EXCLUSIVE, EARLIEST),
        summary=f"streaming: what is read first; by default `{SCAN_FIRST}`",
    ),
    OptionSpec(START_SNAPSHOT, "long", summary="streaming: read what follows this snapshot"),
    OptionSpec(
        START_TIMESTAMP,
        "long",
        summary="streaming: start with the first snapshot at or after this time",
    ),
    OptionSpec(START_TAG, summary="streaming: read what follows the snapshot of this tag"),
    OptionSpec(
        SKIP_CHANGES,
        "boolean",
        False,
        summary="streaming: skip snapshots that change or delete rows, as Flink does; by default, "
        "they are an error",
    ),
    OptionSpec(SNAPSHOT, "long", summary="batch: the snapshot to read; by default, the newest"),
    OptionSpec(TIMESTAMP, "long", summary="batch: read the snapshot of this time, in milliseconds"),
    OptionSpec(TAG, summary="batch: read the snapshot of this tag"),
    AS_OF,
    OptionSpec(BRANCH, default="main", summary="the branch that is read and written"),
    *(
        OptionSpec(name, "boolean", False, summary="rows are inserted or updated by primary key")
        for name in UPSERT
    ),
    OptionSpec(
        "format-version", "int", 2, summary="the format version of a table that the sink creates"
    ),
    *(
        OptionSpec(f"{prefix}#", summary="a property of the table, if the sink creates it")
        for prefix in PROPERTIES
        if prefix.endswith(".")
    ),
    OptionSpec(
        "lookup.cache",
        "enum",
        "FULL",
        choices=("FULL",),
        summary="in a lookup join, workers load the whole table",
    ),
    *FULL_CACHE_OPTIONS,
    OptionSpec("sink.parallelism", "int", summary="the maximum number of tasks that write"),
)


def catalog_type(options: Mapping[str, Any]) -> str:
    return _IMPLS.get(options[IMPL]) or (options[TYPE] or "hive").lower()


def upserts(options: Mapping[str, Any]) -> bool:
    return any(options[name] for name in UPSERT)


def table_properties(options: Mapping[str, Any]) -> dict[str, str]:
    """Those of a table that the sink creates."""
    return {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in options.items()
        if key.startswith(PROPERTIES) and value not in (None, False)
    }


def catalog_properties(options: Mapping[str, Any]) -> dict[str, str]:
    """What is passed to the catalog as it is."""
    return {k: str(v) for k, v in options.items() if k.startswith(_PASSED) and v is not None}


def check(table: Table, options: Mapping[str, Any]) -> None:
    check_columns(table, "iceberg")
    check_reloads(table, options)
    _check_catalog(table, options)
    for names in (_OF_BATCHES, _STARTS):
        given = [name for name in names if options[name] is not None]
        if len(given) > 1:
            raise option_error(table, given[1], f"'{given[0]}' and '{given[1]}' exclude each other")
    for name in _OF_BATCHES if options[STREAMING] else _OF_STREAMS:
        if options[name]:
            needed = str(not options[STREAMING]).lower()
            raise option_error(table, name, f"'{name}' requires '{STREAMING}' = '{needed}'")
    if upserts(options) and table.primary_key is None:
        given = [name for name in UPSERT if options[name]]
        raise option_error(
            table,
            given[0],
            f"'{given[0]}' requires a primary key",
            hint="declare PRIMARY KEY (...) NOT ENFORCED",
        )


def _check_catalog(table: Table, options: Mapping[str, Any]) -> None:
    impl, kind = options[IMPL], catalog_type(options)
    if impl is not None and impl not in _IMPLS:
        hint = ICEBERG_CATALOG.each["nessie"] if impl == _NESSIE else None
        at = span_of_option(table, IMPL)
        raise ICEBERG_CATALOG.error(at, impl, source=table.source, hint=hint)
    if kind in ICEBERG_CATALOG.each:
        raise ICEBERG_CATALOG.error(span_of_option(table, TYPE), kind, source=table.source)
    if kind not in TYPES:
        raise option_error(
            table,
            TYPE,
            f"unknown catalog type '{kind}'",
            hint=did_you_mean(kind, TYPES) or f"types are {', '.join(TYPES)}",
        )
    needed = {"hadoop": WAREHOUSE, "glue": NAME}.get(kind, URI)
    if options[needed] is None:
        raise option_error(table, TYPE, f"a catalog of type '{kind}' requires '{needed}'")
