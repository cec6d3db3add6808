"""The delta connector: tables of Delta Lake.

Delta's jars for Spark do not fit this Spark, so its log is read and written by delta-rs, where the
job is. Workers read and write the data files, which are Parquet, as columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.catalog.tables import LookupTraits, Table, TableTraits
from tidemark.connectors.base import Connector
from tidemark.connectors.delta import options as o
from tidemark.connectors.delta import sink
from tidemark.connectors.delta.probes import probes
from tidemark.connectors.delta.source import SOURCE
from tidemark.connectors.lake import as_of
from tidemark.connectors.lookup_options import full_cache, reloads


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    has_key = table.primary_key is not None
    bounded = options[o.MODE] == "batch"
    looked_up = bounded or reloads(options)
    return TableTraits(
        bounded=bounded,
        looks_every_ms=options[o.INTERVAL],
        readable=True,
        writable=True,
        accepts_updates=has_key,
        upserts=has_key,
        updates_alone=has_key,
        time_travel=as_of.NAME,
        lookup=LookupTraits("whole", full_cache(options)) if looked_up else None,
    )


DELTA = Connector(
    name="delta",
    options=o.OPTIONS,
    summary="a table of Delta Lake",
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
