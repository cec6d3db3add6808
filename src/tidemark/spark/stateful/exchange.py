"""The files in which the workers of a query exchange rows, micro-batch by micro-batch."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from tidemark.runtime.payloads import Payloads


@dataclass(frozen=True, slots=True)
class Exchange(Payloads):
    """How the workers of a query exchange rows.

    Spark may read the shuffle of a micro-batch again as long as that runs, and of a batch query as
    long as its frames exist. So each micro-batch removes the files of earlier ones, and the creator
    of the folder removes the rest.
    """

    def forget_earlier_batches(self) -> None:
        """Remove the files of earlier micro-batches, which Spark does not need any more."""
        if self.folder is None:
            return
        current = self.place(Path(self.folder))
        if current.parent.is_dir():
            for other in current.parent.iterdir():
                if int(other.name) < int(current.name):
                    # Other tasks of the micro-batch remove it too.
                    shutil.rmtree(other, ignore_errors=True)

    def place(self, folder: Path) -> Path:
        """A folder for each micro-batch: several queries may run the same frame."""
        from pyspark import TaskContext

        context = TaskContext.get()
        query = context and context.getLocalProperty("sql.streaming.queryId")
        batch = context and context.getLocalProperty("streaming.sql.batchId")
        return folder / (query or "batch") / (batch or "0")


IN_ROWS = Exchange()
