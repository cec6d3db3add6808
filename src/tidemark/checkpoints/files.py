"""The few operations on the files of checkpoints."""

from __future__ import annotations

from tidemark.storage import Location


def read_text(place: Location) -> str | None:
    """The content of a file; None if it does not exist."""
    content = place.read()
    return None if content is None else content.decode()


def write_text(place: Location, content: str) -> None:
    """Write a file that others see complete or not at all."""
    place.write(content.encode())
