"""A stream of Spark whose micro-batches are planned here: Spark keeps offsets in its checkpoint,
and its rows only name what is to be read. Whoever needs the records reads them.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Offset = Mapping[str, Any]
Part = tuple[Any, ...]


class Planning(Protocol):
    """Plans micro-batches, each from the end of the last one to what there is. Offsets are what
    JSON can hold."""

    def initial(self) -> dict[str, Any]:
        """Where the job started; it stays the same when it resumes."""
        ...

    def latest(self, start: Offset) -> dict[str, Any]:
        """Where the next micro-batch ends."""
        ...

    def stop_here(self) -> None:
        """Read what there is now, and no more."""
        ...

    def parts(self, start: Offset, end: Offset) -> list[Part]:
        """What is read between two offsets, the same each time it is asked."""
        ...

    def commit(self, end: Offset) -> None:
        """What comes before the offset is not asked for again."""
        ...


def _apart(parts: Sequence[Part]) -> list[Sequence[Part]]:
    return [[part] for part in parts]


def arriving(
    spark: SparkSession,
    plan: Callable[[], Planning],
    schema: str,
    tasks_of: Callable[[Sequence[Part]], Sequence[Sequence[Part]]] = _apart,
) -> DataFrame:
    """What comes, as the parts that micro-batches read; `tasks_of` says what each task reads."""
    from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
    from pyspark.sql.streaming.datasource import ReadAllAvailable, SupportsTriggerAvailableNow

    # Defined here, so that settings travel with the class: options would be shown in Spark's UI.
    class PlannedReader(DataSourceStreamReader, SupportsTriggerAvailableNow):  # type: ignore[misc]
        def __init__(self) -> None:
            self._planning = plan()

        def initialOffset(self) -> dict[str, Any]:  # noqa: N802
            return self._planning.initial()

        def getDefaultReadLimit(self) -> Any:  # noqa: N802
            return ReadAllAvailable()

        def latestOffset(self, start: dict[str, Any], limit: Any) -> dict[str, Any]:  # noqa: N802
            return self._planning.latest(start)

        def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
            self._planning.stop_here()

        def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[Any]:
            return [*map(InputPartition, tasks_of(self._planning.parts(start, end)))]

        def read(self, partition: Any) -> Iterator[Part]:
            yield from partition.value

        def commit(self, end: dict[str, Any]) -> None:
            self._planning.commit(end)

    named = f"tidemark-{uuid.uuid4().hex[:8]}"

    class PlannedSource(DataSource):  # type: ignore[misc]
        @classmethod
        def name(cls) -> str:
            return named

        def schema(self) -> str:
            return schema

        def streamReader(self, schema: Any) -> Any:  # noqa: N802
            return PlannedReader()

    spark.dataSource.register(PlannedSource)
    return spark.readStream.format(named).load()
