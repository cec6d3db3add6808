"""The columns of a table of events."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tidemark.connectors.made_rows.columns.draws import Draws
from tidemark.connectors.made_rows.columns.rows import Longs
from tidemark.connectors.nexmark.made.auctions import auctions
from tidemark.connectors.nexmark.made.bids import bids
from tidemark.connectors.nexmark.made.event_ids import Kind, Proportions, since_base_ms
from tidemark.connectors.nexmark.made.events import EventsOfKind
from tidemark.connectors.nexmark.made.persons import persons
from tidemark.functions.spark_text import safe_names
from tidemark.types import DataType, Row

_MAKE: Final[Mapping[Kind, Callable[[EventsOfKind, int], list[pa.Array]]]] = {
    Kind.PERSON: persons,
    Kind.AUCTION: auctions,
    Kind.BID: bids,
}
Mask: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class EventColumns:
    """Makes the column of the kinds of events, and one for the events of each kind."""

    names: tuple[str, ...]
    proportions: Proportions
    options: Mapping[str, Any]
    seed: str
    base_ms: int | None
    # Whether there is no end to them: then they are made at their event times.
    unbounded: bool

    def column(self, name: str, type_: DataType, numbers: Longs, now: Longs) -> pa.Array:
        kinds = self.proportions.kinds(numbers)
        place = self.names.index(name)
        if place == 0:
            return pa.array(kinds)
        kind = Kind(place - 1)
        chosen = kinds == kind
        assert isinstance(type_, Row)
        made = self._events(kind, numbers[chosen], now[chosen], type_)
        return _spread(made, chosen)

    def _events(self, kind: Kind, numbers: Longs, now: Longs, type_: Row) -> pa.Array:
        draws = Draws(kind.name.lower(), self.seed, numbers.astype(np.uint64))
        times = self._times(numbers, now)
        events = EventsOfKind(numbers, times, draws, self.proportions, self.options)
        columns = _MAKE[kind](events, len(type_.fields))
        return pa.StructArray.from_arrays(columns, safe_names([f.name for f in type_.fields]))

    def _times(self, numbers: Longs, now: Longs) -> Longs:
        if self.unbounded and self.base_ms is None:
            return now
        base = now if self.base_ms is None else self.base_ms
        return base + since_base_ms(numbers, self.options["first-event.rate"])


def _spread(made: pa.Array, chosen: Mask) -> pa.Array:
    """The values in the rows that are chosen, NULL in the others."""
    return made.take(pa.array(np.cumsum(chosen) - 1, mask=~chosen))
