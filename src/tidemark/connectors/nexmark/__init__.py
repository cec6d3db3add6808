"""The nexmark connector: the persons, auctions and bids of the benchmark Nexmark.

Which events there are, their IDs and times follow from the options as in the generator of
nexmark-flink with a parallelism of one. Other values are random there and differ from run to run;
here they have the same distributions and are the same in each run.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tidemark.catalog.tables import Table
from tidemark.connectors import made_rows
from tidemark.connectors.made_rows import Generator, physical
from tidemark.connectors.nexmark.options import OPTIONS, base_time_ms, check
from tidemark.types import DataType

if TYPE_CHECKING:
    from tidemark.connectors.made_rows.columns.rows import ColumnMaker


def _count(table: Table, options: Mapping[str, Any]) -> int | None:
    events: int = options["events.num"]
    last: int = options["stop-at"]
    if last < 0:
        return events or None
    return min(events, last) if events else last


def _rate(options: Mapping[str, Any]) -> int:
    rate: int = options["first-event.rate"]
    return rate


def _row_bytes(types: Mapping[str, DataType], options: Mapping[str, Any]) -> int:
    """On the average."""
    kinds = ("person", "auction", "bid")
    shares = [options[f"{kind}.proportion"] for kind in kinds]
    sizes = [options[f"{kind}.avg-size"] for kind in kinds]
    total = sum(share * size for share, size in zip(shares, sizes, strict=True))
    return max(1, int(total) // int(sum(shares)))


def _values(table: Table, options: Mapping[str, Any], seed: str, zone: str) -> ColumnMaker:
    from tidemark.connectors.nexmark.made.columns import EventColumns
    from tidemark.connectors.nexmark.made.event_ids import Proportions

    proportions = (options[f"{kind}.proportion"] for kind in ("person", "auction", "bid"))
    return EventColumns(
        tuple(column.name for column in physical(table)),
        Proportions(*proportions),
        options,
        seed,
        base_time_ms(options),
        _count(table, options) is None,
    )


NEXMARK = made_rows.connector(
    "nexmark",
    "generates the events of the Nexmark benchmark",
    OPTIONS,
    check,
    Generator(
        _count,
        _rate,
        _row_bytes,
        _values,
        bounded_by="events.num",
        stays=lambda options: bool(options["keep-alive"]),
        seed=lambda of_job: "nexmark",
    ),
)
