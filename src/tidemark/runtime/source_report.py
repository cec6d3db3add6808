"""What there is to say about a source that was read."""

from __future__ import annotations

from dataclasses import dataclass

from tidemark.kernels.columns import BEFORE_ALL


@dataclass(slots=True)
class SourceReport:
    """How many rows were read, and bad records left out; the watermark after them, if somebody
    follows it."""

    rows: int = 0
    skipped: int = 0
    watermark: int = BEFORE_ALL

    def add(self, rows: int, skipped: int) -> None:
        self.rows += rows
        self.skipped += skipped

    def advance(self, watermark: int) -> None:
        self.watermark = max(self.watermark, watermark)
