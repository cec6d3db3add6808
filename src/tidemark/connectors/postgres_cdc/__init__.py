"""The connector postgres-cdc: a table of PostgreSQL and its changes, straight from the database.

A snapshot of the table comes first, and then what logical decoding makes of the log. Both are read
by SQL, in workers: `pgoutput` is in every PostgreSQL, and nothing else must be installed there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.cdc.connector import CdcSystem, connector
from tidemark.connectors.postgres_cdc import options as o
from tidemark.connectors.postgres_cdc.captured import METADATA
from tidemark.connectors.postgres_cdc.planning import planning
from tidemark.connectors.postgres_cdc.probes import probes

if TYPE_CHECKING:
    import polars as pl


def opened(request: ColumnsRequest) -> Callable[[Part], Iterator[pl.DataFrame]]:
    from tidemark.connectors.postgres_cdc.columns.parts import CdcColumns

    return CdcColumns(request)


POSTGRES_CDC = connector(
    CdcSystem(
        name="postgres-cdc",
        summary="a table of PostgreSQL and its changes",
        options=o.OPTIONS,
        metadata=METADATA,
        changelog=o.changelog_of,
        planning=planning,
        opened=opened,
        check=o.check,
        probes=probes,
    )
)
