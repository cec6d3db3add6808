"""Records of Kafka as rows of Spark, for what it computes itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Final

from tidemark.catalog.tables import Changelog
from tidemark.connectors import rows_by_workers
from tidemark.connectors.base import ColumnsRequest, Part, ReadRequest
from tidemark.connectors.kafka.rows import KafkaColumns

if TYPE_CHECKING:
    import polars as pl
    from pyspark.sql import DataFrame

_FIELDS: Final = {"topic": "STRING", "partition": "INT", "start": "BIGINT", "end": "BIGINT"}


def read(
    request: ReadRequest,
    changelog: Changelog,
    arriving: Callable[[ReadRequest], DataFrame],
    parts: Callable[[ColumnsRequest], Sequence[tuple[Part, ...]]],
) -> DataFrame:
    """The rows with the columns of the request."""
    if request.streaming:
        ranges = arriving(request)
    else:
        tasks = parts(rows_by_workers.columns_request(request))
        every = [part for task in tasks for part in task]
        ranges = rows_by_workers.named(request, every, _FIELDS)
    return rows_by_workers.read(request, ranges, _opened, changelog)


def _opened(request: ColumnsRequest) -> Callable[[Sequence[Part]], Iterator[pl.DataFrame]]:
    return KafkaColumns(request).read
