"""The blackhole connector: computes every row and keeps none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.catalog.tables import Table, TableTraits
from tidemark.connectors.base import Connector, WriteRequest


def traits(table: Table, options: Mapping[str, Any]) -> TableTraits:
    return TableTraits(writable=True, accepts_updates=True)


def write(request: WriteRequest) -> None:
    request.frame.write.format("noop").mode("overwrite").save()


BLACKHOLE = Connector(
    name="blackhole",
    options=(),
    summary="takes all rows and keeps none",
    traits=traits,
    write=write,
)
