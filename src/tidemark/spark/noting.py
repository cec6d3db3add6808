"""Records the size of operators' state in a job's checkpoint, for `tidemark checkpoint show`."""

from __future__ import annotations

import time
from collections.abc import Callable

from tidemark.checkpoints import noted
from tidemark.spark.progress import Reports
from tidemark.storage import Location

_EVERY_SECONDS = 10.0


class Noting:
    """Writes what has been reported: periodically, and at the end."""

    def __init__(
        self, job: Location, reports: Reports, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._job = job
        self._reports = reports
        self._clock = clock
        self._noted = noted.read(job)
        self._last = clock()

    @property
    def is_due(self) -> bool:
        return self._clock() - self._last >= _EVERY_SECONDS

    def note(self) -> None:
        self._last = self._clock()
        batch, operators = self._reports.kept()
        if operators:
            self._noted.add(batch, operators)
            noted.write(self._job, self._noted)
