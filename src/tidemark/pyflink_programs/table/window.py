"""What is imported as `pyflink.table.window`: windows of the Table API."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tidemark.dialect import quoted_name
from tidemark.errors import TidemarkError
from tidemark.pyflink_programs.table.expression import Expression, Writing, column, listed
from tidemark.pyflink_programs.table.expressions import (
    CURRENT_RANGE,
    CURRENT_ROW,
    UNBOUNDED_RANGE,
)
from tidemark.pyflink_programs.table.function_names import OF_WINDOWS

__all__ = ["GroupWindow", "Over", "OverWindow", "Session", "Slide", "Tumble"]


@dataclass(frozen=True)
class GroupWindow:
    """A window by which rows are grouped, as SQL's functions TUMBLE, HOP and SESSION."""

    function: str
    sizes: tuple[Expression, ...]
    time: Expression | None = None
    name: str = ""

    def on(self, time_field: Expression) -> GroupWindow:
        return replace(self, time=time_field)

    def alias(self, name: str) -> GroupWindow:
        return replace(self, name=name)

    def every(self, slide: Expression) -> GroupWindow:
        """SQL has the slide before the size."""
        return replace(self, sizes=(slide, *self.sizes))

    def text(self, suffix: str) -> str:
        if self.time is None:
            raise TidemarkError("a window needs a time: Tumble.over(...).on(col('ts'))")
        arguments = listed((self.time, *self.sizes), Writing())
        return f"{self.function}{suffix}({arguments})"


class WindowColumns:
    """The columns that a window is known by above an aggregate: those that are asked for."""

    def __init__(self, window: GroupWindow | None) -> None:
        self._window = window
        self._asked: list[str] = []

    def text(self, suffix: str) -> str:
        if suffix not in self._asked:
            self._asked.append(suffix)
        return quoted_name(f"$window{suffix}")

    def columns(self) -> list[Expression]:
        window = self._window
        if window is None:
            return []
        return [
            column(window.name)._of_window(name).alias(f"$window{suffix}")
            for name, suffix in OF_WINDOWS.items()
            if suffix in self._asked
        ]


class Tumble:
    """Windows one after the other."""

    @staticmethod
    def over(size: Expression) -> GroupWindow:
        return GroupWindow("TUMBLE", (size,))


class Slide:
    """Windows that overlap."""

    @staticmethod
    def over(size: Expression) -> GroupWindow:
        return GroupWindow("HOP", (size,))


class Session:
    """Windows that end after a gap."""

    @staticmethod
    def with_gap(gap: Expression) -> GroupWindow:
        return GroupWindow("SESSION", (gap,))


@dataclass(frozen=True)
class OverWindow:
    """The rows before each row."""

    partition: tuple[Expression, ...] = ()
    order: Expression | None = None
    bounds: tuple[Any, Any] = (UNBOUNDED_RANGE, None)
    name: str = ""

    def order_by(self, order_by: Expression) -> OverWindow:
        return replace(self, order=order_by)

    def preceding(self, preceding: Any) -> OverWindow:
        return replace(self, bounds=(preceding, self.bounds[1]))

    def following(self, following: Any) -> OverWindow:
        return replace(self, bounds=(self.bounds[0], following))

    def alias(self, name: str) -> OverWindow:
        return replace(self, name=name)

    def text(self, writing: Writing) -> str:
        if self.order is None:
            raise TidemarkError("an OVER window needs order_by(...)")
        by = f"PARTITION BY {listed(self.partition, writing)} " if self.partition else ""
        return f"{by}ORDER BY {self.order._write(writing)} {self._frame(writing)}"

    def _frame(self, writing: Writing) -> str:
        preceding, following = self.bounds
        if following is not None and str(following) not in (CURRENT_ROW, CURRENT_RANGE):
            raise TidemarkError("an OVER window ends with the current row")
        if isinstance(preceding, str):
            unit, start = preceding.split()
        elif isinstance(preceding, Expression) and isinstance(preceding._value, int):
            unit, start = "ROWS", str(preceding._value)
        else:
            unit, start = "RANGE", preceding._write(writing)
        return f"{unit} BETWEEN {start} PRECEDING AND CURRENT ROW"


class Over:
    """`Over.partition_by(col("a")).order_by(col("ts")).preceding(UNBOUNDED_RANGE).alias("w")`."""

    @staticmethod
    def partition_by(*partition_by: Expression) -> OverWindow:
        return OverWindow(partition_by)

    @staticmethod
    def order_by(order_by: Expression) -> OverWindow:
        return OverWindow(order=order_by)
