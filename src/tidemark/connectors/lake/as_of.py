"""The option in which a table gets the time of FOR SYSTEM_TIME AS OF."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from tidemark.connectors.base import OptionSpec

NAME: Final = "tidemark.as-of-time"
AS_OF: Final = OptionSpec(
    NAME, summary="the time of `FOR SYSTEM_TIME AS OF`, in the session time zone"
)


def milliseconds(text: str, zone: str) -> int:
    """The moment of a time of clocks."""
    return int(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)).timestamp() * 1000)
