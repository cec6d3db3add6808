"""The few things that are done to the files of checkpoints."""

from __future__ import annotations

from tidemark.storage import Location


def read_text(place: Location) -> str | None:
    """What is in a file; None if there is no such file."""
    content = place.read()
    return None if content is None else content.decode()


def write_text(place: Location, content: str) -> None:
    """Write a file that others see whole or not at all."""
    place.write(content.encode())
