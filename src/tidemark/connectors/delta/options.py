"""The options of the delta connector, and which of them fit together."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from tidemark.catalog.tables import Table
from tidemark.connectors.base import OptionSpec
from tidemark.connectors.lake.as_of import AS_OF
from tidemark.connectors.lake.types import check_columns
from tidemark.connectors.lookup_options import FULL_CACHE_OPTIONS, check_reloads
from tidemark.connectors.options import option_error

PATH: Final = "table-path"
MODE: Final = "mode"
VERSION: Final = "versionAsOf"
TIMESTAMP: Final = "timestampAsOf"
START_VERSION: Final = "startingVersion"
START_TIMESTAMP: Final = "startingTimestamp"
INTERVAL: Final = "updateCheckIntervalMillis"
IGNORE_DELETES: Final = "ignoreDeletes"
IGNORE_CHANGES: Final = "ignoreChanges"
PROPERTIES: Final = "delta."

_BATCH: Final = (VERSION, TIMESTAMP, AS_OF.name)
_STREAM: Final = (START_VERSION, START_TIMESTAMP, IGNORE_DELETES, IGNORE_CHANGES)

OPTIONS: Final = (
    OptionSpec(PATH, required=True, summary="the table's folder; local or a [URI](#paths)"),
    OptionSpec(
        MODE,
        "enum",
        "batch",
        choices=("batch", "streaming"),
        summary="whether a query ends with one version, or continues with new versions",
    ),
    OptionSpec(VERSION, "long", summary="batch: the version to read; by default, the newest"),
    OptionSpec(
        TIMESTAMP, summary="batch: read the version of this time, `2024-05-01 12:00:00`, in UTC"
    ),
    OptionSpec(
        START_VERSION,
        summary="streaming: the first version to read, without earlier ones; or `latest`",
    ),
    OptionSpec(
        START_TIMESTAMP, summary="streaming: start with the first version at or after this time"
    ),
    OptionSpec(INTERVAL, "long", 5000, summary="streaming: how often to look for new versions"),
    OptionSpec(
        "updateCheckDelayMillis",
        "long",
        summary="accepted without effect; the first check is immediate",
    ),
    OptionSpec(
        IGNORE_DELETES, "boolean", False, summary="streaming: skip versions that delete rows"
    ),
    OptionSpec(
        IGNORE_CHANGES,
        "boolean",
        False,
        summary="streaming: read the new files of versions that change rows; all rows of these "
        "files are emitted, including those that have not changed",
    ),
    OptionSpec("parquetBatchSize", "int", summary="accepted without effect"),
    AS_OF,
    OptionSpec("delta.#", summary="a property of the table, if the sink creates it"),
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


def check(table: Table, options: Mapping[str, Any]) -> None:
    check_columns(table, "delta")
    check_reloads(table, options)
    for one, other in (*itertools.combinations(_BATCH, 2), (START_VERSION, START_TIMESTAMP)):
        if options[one] is not None and options[other] is not None:
            raise option_error(table, other, f"'{one}' and '{other}' exclude each other")
    streaming = options[MODE] == "streaming"
    for name in _BATCH if streaming else _STREAM:
        if options[name]:
            needed = "batch" if streaming else "streaming"
            raise option_error(table, name, f"'{name}' requires '{MODE}' = '{needed}'")
    for name in (TIMESTAMP, START_TIMESTAMP):
        _check(table, options, name, milliseconds)
    _check(table, options, START_VERSION, lambda text: text == "latest" or _version(text))


def _check(table: Table, options: Mapping[str, Any], name: str, parse: Any) -> None:
    if options[name] is None:
        return
    try:
        parse(options[name])
    except ValueError:
        expected = (
            "a version or 'latest'"
            if name == START_VERSION
            else "a time, such as 2024-05-01 12:00:00"
        )
        raise option_error(
            table, name, f"invalid value '{options[name]}' for option '{name}': expected {expected}"
        ) from None


def _version(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(text)
    return int(text)


def milliseconds(text: str) -> int:
    """The milliseconds of a time. Without a zone it is in UTC, as in Flink's connector."""
    time = datetime.fromisoformat(text.strip())
    return int((time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000)
