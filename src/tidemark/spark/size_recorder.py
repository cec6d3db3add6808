"""Records the size of operators' state in a job's checkpoint, for `tidemark checkpoint show`."""

from __future__ import annotations

import time
from collections.abc import Callable

from tidemark.checkpoints import state_sizes
from tidemark.spark.progress import Reports
from tidemark.storage import Location

_EVERY_SECONDS = 10.0


class SizeRecorder:
    """Writes what has been reported: periodically, and at the end."""

    def __init__(
        self, job: Location, reports: Reports, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._job = job
        self._reports = reports
        self._clock = clock
        self._sizes = state_sizes.read(job)
        self._last = clock()

    @property
    def is_due(self) -> bool:
        return self._clock() - self._last >= _EVERY_SECONDS

    def record(self) -> None:
        self._last = self._clock()
        batch, operators = self._reports.kept()
        if operators:
            self._sizes.add(batch, operators)
            state_sizes.write(self._job, self._sizes)
