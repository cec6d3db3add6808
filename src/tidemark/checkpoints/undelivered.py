"""Jobs that can start again from the beginning, since none of their rows have been delivered."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.checkpoints.contract import SEGMENTS, SPARK
from tidemark.checkpoints.spark_log import COMMITS, OFFSETS, last
from tidemark.storage import Location


@dataclass(frozen=True, slots=True)
class Undelivered:
    """A note in the folder of a job until its first rows are delivered.

    After a failure Spark runs a micro-batch again with the files that it had, and the end of the
    input after them. Files that came in the meantime would be behind the end, so all of their rows
    would be late. As long as there is the note, the job may forget that micro-batch instead.
    """

    folder: Location

    def from_the_beginning(self) -> bool:
        """Whether the job starts from the beginning, now that it starts: for the first time, or
        again, without what an attempt that delivered nothing has left."""
        spark = self.folder / SPARK
        # A sink that already had the first micro-batch is not asked for its rows, so nothing is
        # delivered then; but it would not take others for it either.
        if last(spark / COMMITS) is None and self._note.exists:
            spark.remove_all()
            (self.folder / SEGMENTS).remove_all()
        elif last(spark / OFFSETS) is not None:
            return False
        else:
            self._note.write(b"{}\n")
        return True

    def delivered(self) -> None:
        """Called before anybody sees a row."""
        self._note.remove()

    @property
    def _note(self) -> Location:
        return self.folder / "undelivered.json"
