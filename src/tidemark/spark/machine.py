"""What this machine has."""

from __future__ import annotations

import os


def cores() -> int:
    return os.cpu_count() or 2


def memory() -> int:
    """Bytes; None if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0
