"""What is decided when a job starts for the first time, and holds when it resumes."""

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
    """A job's own randomness and the time at which it began.

    A micro-batch that is computed again, after a restart too, must have the same rows. What a
    source makes up, it makes up from these.
    """

    seed: str = field(default_factory=lambda: secrets.token_hex(8))
    at_ms: int = field(default_factory=_now_ms)

    def kept_in(self, folder: Location) -> FirstStart:
        """What the job in `folder` began with; this, and from now on, if it begins now."""
        note = folder / "first-start.json"
        written = note.read()
        if written is not None:
            return FirstStart(**json.loads(written))
        note.write(json.dumps(asdict(self)).encode())
        return self
