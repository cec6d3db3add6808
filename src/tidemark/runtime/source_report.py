"""What there is to say about a source that was read."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidemark.kernels.columns import BEFORE_ALL


@dataclass(slots=True)
class SourceReport:
    """How many rows were read, and bad records left out; the watermark after them, if someone
    follows it, or those of partitions that have their own."""

    rows: int = 0
    skipped: int = 0
    watermark: int = BEFORE_ALL
    marks: dict[str, int] = field(default_factory=dict)

    def add(self, rows: int, skipped: int) -> None:
        self.rows += rows
        self.skipped += skipped

    def mark(self, partition: str, watermark: int) -> None:
        self.marks[partition] = max(self.marks.get(partition, BEFORE_ALL), watermark)

    def advance(self, watermark: int) -> None:
        self.watermark = max(self.watermark, watermark)
