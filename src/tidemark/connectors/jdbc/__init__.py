"""The jdbc connector: tables of PostgreSQL, MySQL and SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.catalog.tables import Table, TableTraits
from tidemark.connectors.base import Connector
from tidemark.connectors.jdbc import scan, sink
from tidemark.connectors.jdbc.lookup import lookup
from tidemark.connectors.jdbc.options import OPTIONS, check, modern
from tidemark.connectors.jdbc.probes import probes
from tidemark.connectors.lookup_options import lookup_traits


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    has_key = table.primary_key is not None
    return TableTraits(
        readable=True,
        writable=True,
        accepts_updates=has_key,
        upserts=has_key,
        updates_alone=has_key,
        lookup=lookup_traits(options),
    )


JDBC = Connector(
    name="jdbc",
    options=OPTIONS,
    summary="a table of PostgreSQL, MySQL or SQLite",
    traits=traits,
    read=scan.read,
    read_columns=scan.read_columns,
    parts=scan.parts,
    can_stream_columns=lambda request: True,
    arriving=scan.arriving,
    write=sink.write,
    worker_sink=sink.sink_of,
    lookup=lookup,
    modern=modern,
    check=check,
    probes=probes,
)
