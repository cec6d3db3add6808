"""The options of the jdbc connector, and which of them fit together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tidemark import types as t
from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.jdbc.contract import Dialect, NotUnderstood
from tidemark.connectors.jdbc.dialects import DIALECTS, dialect_of, system_of
from tidemark.connectors.lookup_options import LOOKUP_OPTIONS, check_lookup, check_reloads
from tidemark.connectors.options import option_error, span_of_option
from tidemark.connectors.unsupported import JDBC_SYSTEM, JDBC_TYPE
from tidemark.dialect.statements import PhysicalColumn
from tidemark.errors import PlanError, did_you_mean

_NO_EFFECT: Final = "accepted without effect"
_STREAMED: Final = "accepted without effect; rows are streamed"
_AS_A_WHOLE: Final = "accepted without effect; the rows of a micro-batch are written together"
_OLD_ROWS: Final = "lookup.cache.max-rows"
_OLD_TTL: Final = "lookup.cache.ttl"
_OLD_MISSING: Final = "lookup.cache.caching-missing-key"

PARTITION: Final = "scan.partition.column"
NUMBER: Final = "scan.partition.num"
LOWER: Final = "scan.partition.lower-bound"
UPPER: Final = "scan.partition.upper-bound"
_PARTITIONS: Final = (PARTITION, NUMBER, LOWER, UPPER)
WAIT: Final = "connection.max-retry-timeout"
MAX_RETRIES: Final = "sink.max-retries"

OPTIONS: Final = (
    OptionSpec("url", required=True, summary=f"`{'`, `'.join(d.form for d in DIALECTS.values())}`"),
    OptionSpec(
        "table-name",
        required=True,
        summary="`table` or `schema.table`",
        aliases=("connector.table",),
    ),
    OptionSpec("driver", summary="accepted without effect; the URL specifies the database system"),
    OptionSpec("compatible-mode", summary=_NO_EFFECT),
    OptionSpec("username", summary="the user who logs in; requires a password"),
    OptionSpec("password", secret=True, summary="never shown"),
    OptionSpec(WAIT, "duration", 60_000, summary="how long to wait for a connection"),
    OptionSpec(PARTITION, summary="a numeric column; several workers read ranges of its values"),
    OptionSpec(NUMBER, "int", summary="the number of ranges"),
    OptionSpec(
        LOWER, "long", summary="the first value of the first range; smaller values are not read"
    ),
    OptionSpec(
        UPPER, "long", summary="the last value of the last range; larger values are not read"
    ),
    OptionSpec("scan.fetch-size", "int", 0, summary=_STREAMED),
    OptionSpec("scan.auto-commit", "boolean", True, summary=_STREAMED),
    OptionSpec("scan.parallelism", "int", summary=_NO_EFFECT),
    *LOOKUP_OPTIONS,
    OptionSpec(
        _OLD_ROWS,
        "long",
        summary=f"old option: the maximum number of keys in a partial cache; requires `{_OLD_TTL}`",
    ),
    OptionSpec(
        _OLD_TTL,
        "duration",
        summary=f"old option: how long a key stays in this cache; requires `{_OLD_ROWS}`",
    ),
    OptionSpec(
        _OLD_MISSING,
        "boolean",
        True,
        summary="old option: whether this cache also stores that a key has no rows",
    ),
    OptionSpec(
        "sink.buffer-flush.max-rows",
        "int",
        100,
        summary=_AS_A_WHOLE,
        aliases=("connector.write.flush.max-rows",),
    ),
    OptionSpec(
        "sink.buffer-flush.interval",
        "duration",
        1000,
        summary=_AS_A_WHOLE,
        aliases=("connector.write.flush.interval",),
    ),
    OptionSpec(MAX_RETRIES, "int", 3, summary="how often a failed write is retried"),
    OptionSpec("sink.parallelism", "int", summary="the maximum number of tasks that write"),
)


def database_of(options: Mapping[str, Any]) -> Any:
    """The database that a table is in, for its dialect. Its URL has been checked."""
    login = {"user": options["username"], "password": options["password"]}
    return dialect_of(options["url"]).database(options["url"], login, options[WAIT] // 1000)


def modern(options: Mapping[str, Any]) -> dict[str, Any]:
    """The cache that Flink's older options ask for."""
    rows, ttl = options[_OLD_ROWS], options[_OLD_TTL]
    if not rows or not ttl or options["lookup.cache"] != "NONE":
        return dict(options)
    partial = "lookup.partial-cache."
    return {
        **options,
        "lookup.cache": "PARTIAL",
        f"{partial}max-rows": rows,
        f"{partial}expire-after-write": ttl,
        f"{partial}cache-missing-key": options[_OLD_MISSING],
    }


def check(table: Table, options: Mapping[str, Any]) -> None:
    _check_url(table, options)
    check_types(table, dialect_of(options["url"]))
    _check_partitions(table, options)
    check_reloads(table, options)
    _check_old_cache(table, options)
    check_lookup(table, options)


def _check_old_cache(table: Table, options: Mapping[str, Any]) -> None:
    for one, other in ((_OLD_ROWS, _OLD_TTL), (_OLD_TTL, _OLD_ROWS)):
        if options[one] is not None and options[other] is None:
            raise option_error(table, one, f"'{one}' requires '{other}'")


def _check_url(table: Table, options: Mapping[str, Any]) -> None:
    system = system_of(options["url"])
    if system is None:
        raise option_error(
            table,
            "url",
            "'url' is not a JDBC URL",
            hint="write " + " or ".join(dialect.form for dialect in DIALECTS.values()),
        )
    if system in JDBC_SYSTEM.each:
        raise JDBC_SYSTEM.error(span_of_option(table, "url"), system, source=table.source)
    if system not in DIALECTS:
        raise option_error(table, "url", f"unknown database system '{system}'")
    try:
        database_of(options)
    except NotUnderstood as problem:
        raise option_error(table, "url", f"invalid value for option 'url': {problem}") from None
    if (options["username"] is None) != (options["password"] is None):
        given = "password" if options["username"] is None else "username"
        raise option_error(table, given, "'username' and 'password' must be given together")


def check_types(table: Table, dialect: Dialect) -> None:
    for column in table.columns:
        if isinstance(column, PhysicalColumn) and not dialect.is_known(column.type):
            where = f" (column `{column.name}`)"
            raise JDBC_TYPE.error(column.span, column.type.text(), where=where, source=table.source)


def _check_partitions(table: Table, options: Mapping[str, Any]) -> None:
    given = [name for name in _PARTITIONS if options[name] is not None]
    if not given:
        return
    if len(given) < len(_PARTITIONS):
        missing = ", ".join(name for name in _PARTITIONS if name not in given)
        raise option_error(table, given[0], f"'{given[0]}' also needs {missing}")
    if options[NUMBER] < 1:
        raise option_error(table, NUMBER, f"option '{NUMBER}' must be 1 or more")
    if options[LOWER] > options[UPPER]:
        raise option_error(table, LOWER, f"'{LOWER}' must not be larger than '{UPPER}'")
    types = {c.name: c.type for c in table.columns if isinstance(c, PhysicalColumn)}
    column = options[PARTITION]
    if column not in types:
        raise option_error(
            table, PARTITION, f"column `{column}` does not exist", hint=did_you_mean(column, types)
        )
    if not isinstance(types[column], t.NUMERICS):
        raise PlanError(
            f"'{PARTITION}' must be a column of numbers; `{column}` is {types[column].text()}",
            at=span_of_option(table, PARTITION),
            source=table.source,
        )
