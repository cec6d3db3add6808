"""User-defined accumulators, as bytes: what a Python aggregate function keeps of a group."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Protocol

from tidemark.errors import TidemarkError
from tidemark.kernels.aggregates.accumulators import AT, SIGN


class Accumulating(Protocol):
    """A function that takes one row after the other, with Flink's method names.

    It may have two more methods, to retract rows and to merge accumulators: `retract(accumulator,
    *arguments)` and `merge(accumulator, accumulators)`.
    """

    def create_accumulator(self) -> Any: ...

    def accumulate(self, accumulator: Any, *arguments: Any) -> None: ...

    def get_value(self, accumulator: Any) -> Any: ...


# An added (1) or retracted (-1) row with its arguments, or an accumulator (0); before that, its
# position in the sequence of rows, or that of its first row.
Entry = tuple[int, int, Any]


@dataclass(frozen=True, slots=True)
class Folded:
    """Keeps what the function has accumulated of a group.

    Rows are accumulated and retracted in order, and accumulators of panes and of merging sessions
    are merged. A function that cannot merge only gets rows: where groups merge, the rows are kept,
    and accumulated whenever a result is needed.
    """

    function: Accumulating
    name: str
    by_arrival: bool
    merges: bool

    def lifted(self, row: Mapping[str, Any] | None) -> bytes | None:
        """A row as a part of its group; nothing if the row is filtered out."""
        if row is None:
            return None
        arguments = [value for name, value in row.items() if name not in (AT, SIGN)]
        return self._written([(row[AT], 1 if row[SIGN] else -1, arguments)])

    def together(self, parts: Iterable[bytes]) -> bytes | None:
        entries = [entry for part in parts for entry in _read(part)]
        if self.by_arrival:
            entries.sort(key=itemgetter(0))
        # A single row waits for the accumulator that it will be added to.
        if self._keeps_rows or len(entries) <= 1:
            return self._written(entries) if entries else None
        return self._written([(entries[0][0], 0, self._accumulated(entries))])

    def running(self, parts: Iterable[bytes | None]) -> Iterator[bytes | None]:
        so_far: list[Entry] = []
        written = None
        for part in parts:
            if part is not None:
                entries = [*so_far, *_read(part)]
                so_far = [(entries[0][0], 0, self._accumulated(entries))]
                written = self._written(so_far)
            yield written

    def value(self, part: bytes | None) -> Any:
        """The result of a group."""
        return self.function.get_value(self._accumulated(_read(part) if part else []))

    @property
    def _keeps_rows(self) -> bool:
        return self.merges and not hasattr(self.function, "merge")

    def _accumulated(self, entries: Sequence[Entry]) -> Any:
        """One accumulator; if the first entry is one, it is reused."""
        function: Any = self.function
        if entries and entries[0][1] == 0:
            accumulator, entries = entries[0][2], entries[1:]
        else:
            accumulator = function.create_accumulator()
        for _, sign, value in entries:
            if sign > 0:
                function.accumulate(accumulator, *value)
            elif sign < 0:
                function.retract(accumulator, *value)
            else:
                function.merge(accumulator, [value])
        return accumulator

    def _written(self, entries: list[Entry]) -> bytes:
        try:
            return pickle.dumps(entries, protocol=pickle.HIGHEST_PROTOCOL)
        except Exception as problem:
            raise TidemarkError(
                f"the accumulator of aggregate function `{self.name}` cannot be stored",
                notes={"why": problem},
                hint="use lists, dicts, numbers and strings, or a class in a module that  "
                "the workers can import",
            ) from problem


def _read(part: bytes) -> list[Entry]:
    entries: list[Entry] = pickle.loads(part)
    return entries
