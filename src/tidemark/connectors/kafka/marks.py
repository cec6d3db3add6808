"""What workers note of the watermark of a partition: see `spark/partition_watermarks.py`."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

from tidemark.connectors.base import ColumnsRequest, Part, WatermarkNotes
from tidemark.connectors.kafka import noted_ends
from tidemark.connectors.kafka.alignment import name_of
from tidemark.errors import NotSupported
from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL
from tidemark.spark.partition_watermarks import Mark, note
from tidemark.spark.tasks import task_number

if TYPE_CHECKING:
    import polars as pl


class Marks:
    """The watermarks of the rows that a task reads, partition by partition."""

    def __init__(self, request: ColumnsRequest, notes: WatermarkNotes) -> None:
        from tidemark.columns import NotInColumns, Program

        self._folder, self._say = notes.folder, request.mark
        self._found: dict[str, Mark] = {}
        # A partition that has ended counts no more, and an idle one does not count either: if there
        # are no others, nothing says how far the source is.
        says_ends = notes.bounded and not notes.idle_ms and self._say is not None
        self._ends = noted_ends.ends(notes.folder) if says_ends else {}
        try:
            self._program = Program.of(
                [notes.expression], request.columns, request.zone, dt.datetime.now(dt.UTC)
            )
        except NotInColumns as refusal:
            raise NotSupported(
                f"{refusal.what} in the watermark of a Kafka table is not supported",
                notes={"table": request.table.name},
                hint="compute the watermark from columns of the record with built-in functions",
            ) from None

    def of(self, rows: pl.DataFrame) -> int:
        """The watermark of rows."""
        from tidemark.runtime.times import milliseconds

        latest = milliseconds(self._program.over(rows, ["own"])["own"]).max()
        # As in Flink, there is no watermark at or before the start of 1970.
        return latest if isinstance(latest, int) and latest > 0 else BEFORE_ALL

    def reached(self, part: Part, watermark: int) -> None:
        """A part has been read to its end."""
        key = (part.topic, part.partition)
        name = name_of(key)
        ended = key in self._ends and (part.end or 0) >= self._ends[key]
        self._found[name] = Mark(watermark, part.end, ended)
        if self._say is not None:
            self._say(name, AFTER_ALL if ended else watermark)

    def write(self) -> None:
        if self._found:
            note(self._folder, task_number(), self._found)
