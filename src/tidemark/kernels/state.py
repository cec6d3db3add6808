"""The state of an operator for one key group between two steps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tidemark.kernels.columns import BEFORE_ALL
from tidemark.kernels.segments import Load, Segment
from tidemark.kernels.tables import KeyedTable, StateTable, TimeQueue

_SHAPES: dict[str, type[StateTable]] = {"keyed": KeyedTable, "queue": TimeQueue}
_SHAPE_NAMES = {shape: name for name, shape in _SHAPES.items()}


@dataclass(frozen=True, slots=True)
class State:
    """Named tables, the watermark of the last step and the number of rows seen so far."""

    watermark: int = BEFORE_ALL
    sequence: int = 0
    tables: Mapping[str, StateTable] = field(default_factory=dict)

    def keyed(self, name: str) -> KeyedTable:
        table = self.tables.get(name, KeyedTable())
        assert isinstance(table, KeyedTable)
        return table

    def queue(self, name: str) -> TimeQueue:
        table = self.tables.get(name, TimeQueue())
        assert isinstance(table, TimeQueue)
        return table

    def with_tables(self, **tables: StateTable) -> State:
        return replace(self, tables={**self.tables, **tables})

    def segments(self) -> Iterator[Segment]:
        for table in self.tables.values():
            yield from table.segments

    def with_ids(self, ids: Mapping[str, str]) -> State:
        """The same state with other ids for some of its segments."""
        return replace(
            self,
            tables={
                name: replace(table, segments=tuple(s.called(ids) for s in table.segments))
                for name, table in self.tables.items()
            },
        )

    @property
    def height(self) -> int:
        return sum(table.height for table in self.tables.values())

    @property
    def size(self) -> int:
        return sum(table.size for table in self.tables.values())

    def manifest(self) -> dict[str, Any]:
        """The state without its rows, as plain values: what to load, and how to read it."""
        return {
            "watermark": self.watermark,
            "sequence": self.sequence,
            "tables": {
                name: {
                    "shape": _SHAPE_NAMES[type(table)],
                    "segments": [segment.describe() for segment in table.segments],
                }
                for name, table in self.tables.items()
            },
        }

    @classmethod
    def open(cls, manifest: Mapping[str, Any], load: Load) -> State:
        """The state that a manifest describes; `load` returns a segment's rows by its id."""
        return cls(
            watermark=manifest["watermark"],
            sequence=manifest["sequence"],
            tables={
                name: _SHAPES[table["shape"]](
                    tuple(Segment.found(segment, load) for segment in table["segments"])
                )
                for name, table in manifest["tables"].items()
            },
        )
