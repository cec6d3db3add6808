"""What workers note of the watermark of a partition: see `spark/partition_watermarks.py`."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from tidemark.connectors.base import ColumnsRequest, Part
from tidemark.connectors.kafka.alignment import name_of
from tidemark.errors import NotSupported
from tidemark.kernels.columns import BEFORE_ALL
from tidemark.spark.partition_watermarks import note

if TYPE_CHECKING:
    import polars as pl


class Mark:
    """The watermark of the rows that are read of a part."""

    def __init__(self, request: ColumnsRequest, part: Part) -> None:
        from tidemark.columns import NotInColumns, Program

        assert request.marks is not None
        self._folder, self._part, self._say = request.marks.folder, part, request.mark
        self._latest = BEFORE_ALL
        try:
            self._program = Program.of(
                [request.marks.expression], request.columns, request.zone, dt.datetime.now(dt.UTC)
            )
        except NotInColumns as refusal:
            raise NotSupported(
                f"{refusal.what} in the watermark of a Kafka table is not supported",
                notes={"table": request.table.name},
                hint="compute the watermark from columns of the record with built-in functions",
            ) from None

    def follow(self, rows: pl.DataFrame) -> None:
        from tidemark.runtime.times import milliseconds

        latest = milliseconds(self._program.over(rows, ["own"])["own"]).max()
        # As in Flink, there is no watermark at or before the start of 1970.
        if isinstance(latest, int) and latest > 0:
            self._latest = max(self._latest, latest)

    def write(self) -> None:
        name = name_of((self._part.topic, self._part.partition))
        note(self._folder, name, self._latest, self._part.end)
        if self._say is not None:
            self._say(name, self._latest)
