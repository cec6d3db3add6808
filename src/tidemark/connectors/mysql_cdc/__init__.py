"""The connector mysql-cdc: a table of MySQL or MariaDB and its changes, straight from the database.

A snapshot of the table comes first, and then what the binary log says. Workers read it as replicas
do, and decode it in columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.cdc.connector import CdcSystem, connector
from tidemark.connectors.cdc.metadata import METADATA
from tidemark.connectors.mysql_cdc import options as o
from tidemark.connectors.mysql_cdc.planning import planning
from tidemark.connectors.mysql_cdc.probes import probes

if TYPE_CHECKING:
    import polars as pl


def opened(request: ColumnsRequest) -> Callable[[Part], Iterator[pl.DataFrame]]:
    from tidemark.connectors.mysql_cdc.columns.parts import BinlogColumns

    return BinlogColumns(request)


MYSQL_CDC = connector(
    CdcSystem(
        name="mysql-cdc",
        summary="a table of MySQL or MariaDB and its changes",
        options=o.OPTIONS,
        metadata=METADATA,
        changelog=o.changelog_of,
        planning=planning,
        opened=opened,
        check=o.check,
        probes=probes,
    )
)
