"""Large segments of an operator's state, as files in the folder of its job.

Spark copies what a worker puts into its store several times, and compresses it again; a file is
written once. A micro-batch that fails, or is computed again, goes on from an earlier state: so a
segment's file stays as long as Spark keeps the versions of its own state that refer to it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

from tidemark.checkpoints.retention import KEPT_BATCHES
from tidemark.storage import Location

# Less is not worth a file: a request, where it is in an object store.
LARGE = 1 << 20
# The state of a key group is saved when it gets rows, and when its timer is due: twice in a
# micro-batch at most.
_KEPT_SAVES = 2 * KEPT_BATCHES
# When an attempt at a micro-batch must be over.
_DAY_MS = 24 * 60 * 60 * 1000


def is_due(dropped_by: int, save: int) -> bool:
    """Whether no state that Spark keeps refers to what was dropped so many saves ago."""
    return dropped_by <= save - _KEPT_SAVES


@dataclass(frozen=True, slots=True)
class LargeSegments:
    """Files of segments, in a folder for each key group."""

    folder: Location

    def write(self, group: str, id_: str, content: bytes) -> None:
        (self.folder / group / id_).write(content)

    def read(self, group: str, id_: str) -> bytes | None:
        return (self.folder / group / id_).read()

    def remove(self, group: str, ids: Iterable[str], known: Iterable[str]) -> None:
        """Remove some segments, and on that occasion what attempts that failed long ago left."""
        for id_ in ids:
            (self.folder / group / id_).remove()
        newest = time.time() * 1000 - _DAY_MS
        for found in {*(self.folder / group).names()} - {*known}:
            file = self.folder / group / found
            if file.exists and file.modified_ms < newest:
                file.remove()
