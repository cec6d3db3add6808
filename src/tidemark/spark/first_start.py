"""What is decided when a job starts for the first time, and stays the same when it resumes."""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import asdict, dataclass, field

from tidemark.storage import Location


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


@dataclass(frozen=True, slots=True)
class FirstStart:
    """A job's own seed and the time at which it started.

    A micro-batch that is computed again, even after a restart, must have the same rows. Sources
    derive generated values from these.
    """

    seed: str = field(default_factory=lambda: secrets.token_hex(8))
    at_ms: int = field(default_factory=_now_ms)

    def kept_in(self, folder: Location) -> FirstStart:
        """The values of the job in `folder`; if it starts now, these, from now on."""
        note = folder / "first-start.json"
        written = note.read()
        if written is not None:
            return FirstStart(**json.loads(written))
        note.write(json.dumps(asdict(self)).encode())
        return self
