"""The iceberg connector: tables of Apache Iceberg.

Iceberg's jars for Spark do not fit this Spark, so pyiceberg asks catalogs and makes snapshots,
where the job is. Workers read and write the data files with it, as columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.catalog.tables import LookupTraits, Table, TableTraits
from tidemark.connectors.base import Connector
from tidemark.connectors.iceberg import options as o
from tidemark.connectors.iceberg import sink
from tidemark.connectors.iceberg.probes import probes
from tidemark.connectors.iceberg.source import SOURCE
from tidemark.connectors.lake import as_of
from tidemark.connectors.lookup_options import full_cache, reloads


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    has_key = table.primary_key is not None
    bounded = not options[o.STREAMING]
    return TableTraits(
        bounded=bounded,
        looks_every_ms=options[o.INTERVAL],
        readable=True,
        writable=True,
        accepts_updates=has_key,
        time_travel=as_of.NAME,
        upserts=has_key and o.upserts(options),
        updates_alone=has_key and o.upserts(options),
        lookup=LookupTraits("whole", full_cache(options)) if bounded or reloads(options) else None,
    )


ICEBERG = Connector(
    name="iceberg",
    options=o.OPTIONS,
    summary="a table of Apache Iceberg",
    traits=traits,
    read=SOURCE.read,
    read_columns=SOURCE.read_columns,
    parts=SOURCE.parts,
    can_stream_columns=lambda request: True,
    arriving=SOURCE.arriving,
    always_in_columns=True,
    reads_files=True,
    write=sink.write,
    worker_sink=sink.sink_of,
    lookup=SOURCE.lookup,
    check=o.check,
    probes=probes,
)
