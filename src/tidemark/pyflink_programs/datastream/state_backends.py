"""Where Flink keeps state. Programs choose it; here, Spark keeps it."""

from __future__ import annotations

from typing import Any


class _Chosen:
    """Something that can be made and passed on."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.arguments = args, kwargs


class HashMapStateBackend(_Chosen):
    """State in memory."""


class EmbeddedRocksDBStateBackend(_Chosen):
    """State on disk."""


class FileSystemCheckpointStorage(_Chosen):
    """Checkpoints in a folder."""
