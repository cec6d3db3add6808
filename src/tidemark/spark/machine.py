"""What this machine has."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def cores() -> int:
    return os.cpu_count() or 2


def memory() -> int:
    """Bytes; None if the system does not report it."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 0


def java() -> Path | None:
    """The Java that Spark starts: that in JAVA_HOME, or the first one in PATH."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which(os.path.join(home, "bin", "java") if home else "java")
    return Path(found) if found else None
