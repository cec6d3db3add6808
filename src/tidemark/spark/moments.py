"""Moments in the way in which Spark writes watermarks: ISO text in UTC, of which the later is also
the greater text."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

# 9999-12-31 23:59:59.999, the largest time that SQL timestamps support: the end of input.
END_MS: Final = 253_402_300_799_999
# The column of rows whose TIMESTAMPs the watermark follows.
WATERMARK: Final = "_tm_watermark"
# Spark's watermark while there is none yet.
NO_WATERMARK: Final = "1970-01-01T00:00:00.000Z"


def iso(milliseconds: int) -> str:
    """The last watermark is that of the end of input."""
    moment = datetime(1970, 1, 1) + timedelta(milliseconds=min(milliseconds, END_MS))
    return f"{moment.isoformat(timespec='milliseconds')}Z"


def is_end(moment: str | None) -> bool:
    """Whether a watermark is that of the end of input."""
    return moment is not None and moment.startswith("9999-")
