"""How far a stream has read sources that have more: the lag of their partitions.

Spark's reports have the offsets where the last micro-batch ended; only the source's own system
knows what comes after them. It is asked only when its answer is needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# The offsets of a source, as it has them in Spark's checkpoint.
Offset = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Lagging:
    """A source that knows how many records it has after an offset, by the names of partitions."""

    table: str
    owns: Callable[[Offset], bool]
    records_after: Callable[[Offset], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class SourcePosition:
    """Where the last micro-batch has ended in a source."""

    source: Lagging
    offset: Offset

    @property
    def table(self) -> str:
        return self.source.table

    def lag(self) -> Mapping[str, int]:
        """The records of each partition that were not read yet, as its system says it now."""
        return self.source.records_after(self.offset)


def positions(
    sources: Sequence[Lagging], reports: Sequence[Mapping[str, Any]]
) -> Iterator[SourcePosition]:
    """The positions in a report about the sources of a query."""
    offsets = [offset for report in reports if isinstance(offset := report.get("endOffset"), dict)]
    for source in sources:
        found = next((offset for offset in offsets if source.owns(offset)), None)
        if found is not None:
            # A topic that is read twice has two offsets.
            offsets.remove(found)
            yield SourcePosition(source, found)
