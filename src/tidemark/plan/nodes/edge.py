"""What flows between nodes: columns, and what is known of the rows."""

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
    """What a column says of the window that its row is in. Columns of one window have one
    `assigner` and one `time`, which is the type of the time that the window is by."""

    says: Literal["start", "end", "time"]
    assigner: Assigner
    time: DataType


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an edge; `time` marks the ones that watermarks or the clock speak about, and
    `window` those by which rows of one window are grouped, joined and ranked."""

    name: str
    type: DataType
    time: TimeAttribute | None = None
    window: WindowColumn | None = None

    def padded(self, padded: bool) -> Column:
        """The column of a side of a join that may come out as nulls, if it is padded."""
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
        """Whether rows may be taken back."""
        return self.changelog is not Changelog.APPEND

    @property
    def traits(self) -> tuple[str, ...]:
        """What is known of the rows, beyond their columns, for EXPLAIN."""
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
        """Some of the columns; a key stays if all of it does."""
        columns = tuple(self.columns[place] for place in places)
        names = {column.name for column in columns}
        keys = tuple(key for key in self.keys if names.issuperset(key))
        return replace(self, columns=columns, keys=keys)

    def with_columns(self, added: Sequence[Column]) -> Edge:
        """More columns after these, where rows may come several times: no key holds any more."""
        return replace(self, columns=(*self.columns, *added), keys=())
