"""What flows between nodes: columns, and properties of the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tidemark.catalog.tables import Changelog
from tidemark.kernels.windows.spec import Assigner
from tidemark.plan.expressions import Ref
from tidemark.types import DataType

TimeAttribute = Literal["event", "processing"]


@dataclass(frozen=True, slots=True)
class WindowColumn:
    """What a column says about its row's window. Columns of the same window have the same
    `assigner` and the same `time`, the type of the windows' time.
    """

    says: Literal["start", "end", "time"]
    assigner: Assigner
    time: DataType


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an edge; `time` marks event and processing time, and `window` the columns by
    which rows of one window are grouped, joined and ranked.
    """

    name: str
    type: DataType
    time: TimeAttribute | None = None
    window: WindowColumn | None = None

    def padded(self, padded: bool) -> Column:
        """The column of one side of a join, nullable if the side is padded."""
        return replace(self, type=self.type.with_nullable(True)) if padded else self


@dataclass(frozen=True, slots=True)
class Edge:
    """What flows out of a node."""

    columns: tuple[Column, ...]
    changelog: Changelog = Changelog.APPEND
    keys: tuple[tuple[str, ...], ...] = ()
    bounded: bool = True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def types(self) -> tuple[DataType, ...]:
        return tuple(column.type for column in self.columns)

    @property
    def changes(self) -> bool:
        """Whether rows can be retracted."""
        return self.changelog is not Changelog.APPEND

    @property
    def traits(self) -> tuple[str, ...]:
        """Properties of the rows besides their columns, for EXPLAIN."""
        known = [self.changelog.value]
        known += [f"{column.time} time {column.name}" for column in self.columns if column.time]
        known += [f"unique key ({', '.join(key)})" for key in self.keys]
        return tuple(known)

    def ref(self, place: int) -> Ref:
        column = self.columns[place]
        return Ref(place, column.name, column.type)

    @property
    def refs(self) -> tuple[Ref, ...]:
        """All columns, as expressions."""
        return tuple(self.ref(place) for place in range(len(self.columns)))

    def only(self, places: Sequence[int]) -> Edge:
        """Some of the columns; a key stays if all of its columns do."""
        columns = tuple(self.columns[place] for place in places)
        names = {column.name for column in columns}
        keys = tuple(key for key in self.keys if names.issuperset(key))
        return replace(self, columns=columns, keys=keys)

    def with_columns(self, added: Sequence[Column]) -> Edge:
        """Additional columns after these, where rows may be repeated: no key holds any more."""
        return replace(self, columns=(*self.columns, *added), keys=())
