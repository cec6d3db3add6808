"""What a file sink has written, as its readers see it while it is still at work."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any


def data_files(folder: Path) -> list[Path]:
    """The finished files: nothing that is hidden, nor anything in a hidden folder.

    Files are staged in hidden folders, which may be gone between being found and being looked
    into, so these are not entered at all.
    """
    found = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name[0] not in "._"]
        found += [Path(parent, name) for name in names if name[0] not in "._"]
    return sorted(found)


def written_lines(folder: Path) -> list[str]:
    """The lines of all finished files. A file that goes while it is looked for is one of a
    micro-batch that comes again and replaces it.
    """
    lines = []
    for file in data_files(folder):
        with suppress(FileNotFoundError):
            lines += file.read_text("utf-8").splitlines()
    return lines


def written_rows(folder: Path) -> list[dict[str, Any]]:
    """The rows of all finished JSON files."""
    return [json.loads(line) for line in written_lines(folder)]
