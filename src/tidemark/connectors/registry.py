"""Connectors: which ones there are, and what a table's connector reports about it."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import replace
from typing import Any

from tidemark.catalog.catalogs import CatalogKind
from tidemark.catalog.tables import Table, TableTraits, Use
from tidemark.connectors.arrow import ARROW
from tidemark.connectors.base import Connector, OptionSpec, ReadRequest, WriteRequest
from tidemark.connectors.dataframe import DATAFRAME
from tidemark.connectors.formats import FORMATS
from tidemark.connectors.loaded import LoadedByName
from tidemark.connectors.options import (
    CONNECTOR_KEYS,
    option_error,
    pointing_at,
    read_options,
    span_of_option,
    without_secrets,
)
from tidemark.connectors.unsupported import CONNECTOR, OTHER_SYSTEM
from tidemark.dialect.statements import Option
from tidemark.errors import MissingConnector, SqlError, did_you_mean

__all__ = [
    "CATALOGS",
    "REGISTRY",
    "Connector",
    "OptionSpec",
    "ReadRequest",
    "WriteRequest",
    "lookup",
    "options_of",
    "shown_options",
    "traits",
]

# All together take as long to load as a small query.
REGISTRY: MutableMapping[str, Connector] = LoadedByName(
    "tidemark.connectors",
    {
        "filesystem": "filesystem.connector.FILESYSTEM",
        "kafka": "kafka.connector.KAFKA",
        "upsert-kafka": "kafka.connector.UPSERT_KAFKA",
        "jdbc": "jdbc.JDBC",
        "postgres-cdc": "postgres_cdc.POSTGRES_CDC",
        "mysql-cdc": "mysql_cdc.MYSQL_CDC",
        "delta": "delta.DELTA",
        "iceberg": "iceberg.ICEBERG",
        "datagen": "datagen.DATAGEN",
        "faker": "faker.FAKER",
        "nexmark": "nexmark.NEXMARK",
        "python": "python_lookup.PYTHON",
        "print": "print.PRINT",
        "blackhole": "blackhole.BLACKHOLE",
        "spark": "spark.SPARK",
        ARROW.name: "arrow.ARROW",
        DATAFRAME.name: "dataframe.DATAFRAME",
    },
)

# Catalogs of other types than those in memory.
CATALOGS: Mapping[str, CatalogKind] = LoadedByName(
    "tidemark.connectors",
    {"jdbc": "jdbc.catalog.catalog_of", "iceberg": "iceberg.catalog.catalog_of"},
)


def lookup(table: Table) -> Connector:
    """The connector named in the table's options."""
    with pointing_at(table):
        return _lookup(table)


def _lookup(table: Table) -> Connector:
    if table.dataframe is not None:
        return ARROW if table.option("connector") == ARROW.name else DATAFRAME
    key = next((k for k in CONNECTOR_KEYS if table.option(k) is not None), None)
    name = table.option(key) if key else None
    if key is None or name is None:
        raise MissingConnector(
            f"table `{table.name}` has no 'connector' option",
            source=table.source,
            hint=f"add 'connector' = '...', one of {', '.join(_offered())}",
        )
    folded = name.lower()
    for refused in (CONNECTOR, OTHER_SYSTEM):
        if folded in refused.each:
            raise refused.error(span_of_option(table, key), folded, source=table.source)
    if folded not in _offered():
        raise option_error(
            table,
            key,
            f"unknown connector '{name}'",
            hint=did_you_mean(name, (*_offered(), *CONNECTOR.each))
            or f"connectors are {', '.join(_offered())}",
        )
    return REGISTRY[folded]


def _offered() -> list[str]:
    """The options that are allowed in a WITH clause."""
    return [name for name in REGISTRY if name not in (ARROW.name, DATAFRAME.name)]


def options_of(table: Table) -> Mapping[str, Any]:
    """The table's options, checked, by canonical name."""
    connector = lookup(table)
    with pointing_at(table):
        _check_formats(connector, table)
        options = read_options(table, connector.name, _specs(connector, table))
        if connector.modern is not None:
            options = connector.modern(options)
        if connector.check is not None:
            connector.check(table, options)
    return options


def _check_formats(connector: Connector, table: Table) -> None:
    """An unknown format is named itself, rather than its first option."""
    for key in ("format", "key.format", "value.format") if connector.formats else ():
        name = table.option(key)
        family = key.removesuffix("format") + f"{name}."
        has_options = any(option.key.startswith(family) for option in table.options)
        if name and has_options and name.lower() not in FORMATS:
            hint = did_you_mean(name, connector.formats)
            offered = f"formats are {', '.join(connector.formats)}"
            raise option_error(table, key, f"unknown format '{name}'", hint=hint or offered)


def shown_options(table: Table) -> tuple[Option, ...]:
    """The options of a table as they may be shown: without secrets."""
    try:
        specs = _specs(lookup(table), table)
    except SqlError:  # for an unknown connector names decide
        specs = ()
    return without_secrets(table.options, specs)


def _specs(connector: Connector, table: Table) -> tuple[OptionSpec, ...]:
    if not connector.formats:
        return connector.options
    of_records = [
        replace(spec, name=prefix + spec.name)
        for prefix in ("key.", "value.")
        for spec in _options_of_format(table.option(f"{prefix}format"))
        if any(option.name == f"{prefix}format" for option in connector.options)
    ]
    of_format = _options_of_format(table.option("format") or table.option("format.type"))
    return (*connector.options, *of_format, *of_records)


def _options_of_format(name: str | None) -> tuple[OptionSpec, ...]:
    format_ = FORMATS.get((name or "").lower())
    return format_.options if format_ else ()


def traits(table: Table, use: Use | None = None) -> TableTraits:
    """What the planner must know about the table: boundedness, changelog, metadata. Also checks
    the options that matter to this use of it."""
    connector, options = lookup(table), options_of(table)
    with pointing_at(table):
        check = None if use is None else connector.checks_of_use.get(use)
        if check is not None:
            check(table, options)
        return connector.traits(table, options)
