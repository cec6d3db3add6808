"""The few things that are done to the files of checkpoints."""

from __future__ import annotations

import os
from pathlib import Path


def read_text(path: Path) -> str | None:
    """What is in a file; None if there is no such file."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def write_text(path: Path, content: str) -> None:
    """Write a file that others see whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    unfinished.write_text(content, encoding="utf-8")
    unfinished.replace(path)


def exists(path: Path) -> bool:
    return path.exists()


def names(folder: Path) -> list[str]:
    """What lies in a folder, sorted by name; nothing if there is no such folder."""
    try:
        return sorted(os.listdir(folder))
    except (FileNotFoundError, NotADirectoryError):
        return []
