"""The names of time zones."""

from __future__ import annotations

from functools import cache
from zoneinfo import available_timezones


@cache
def zone_names() -> frozenset[str]:
    """All names that this machine knows, read once: it takes a walk through some 600 files."""
    return frozenset(available_timezones())
