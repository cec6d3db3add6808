"""The events of a kind, of which columns are to be made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidemark.connectors.made_rows.columns.draws import Draws
from tidemark.connectors.made_rows.columns.rows import Longs
from tidemark.connectors.nexmark.made.event_ids import FIRST_ID, Choose, Proportions, hot
from tidemark.connectors.nexmark.made.strings import below


@dataclass(frozen=True, slots=True)
class EventsOfKind:
    numbers: Longs
    times: Longs  # milliseconds
    draws: Draws
    proportions: Proportions
    options: Mapping[str, Any]

    def chooser(self, field: str) -> Choose:
        return lambda bounds: below(self.draws.field(field), bounds)

    def person(self, field: str, ratio: int, hot_one: int) -> Longs:
        """A hot person, but for one of so many events any other active one. Its ID is counted from
        zero.
        """
        hot_person = hot(self.proportions.last_person(self.numbers)) + hot_one
        other = self.proportions.active_person(self.numbers, self.chooser(f"{field}.active"))
        return np.where(self.is_hot(field, ratio), hot_person, other)

    def auction(self, field: str, ratio: int) -> Longs:
        hot_auction = hot(self.proportions.last_auction(self.numbers))
        other = self.proportions.auction_in_flight(self.numbers, self.chooser(f"{field}.active"))
        return FIRST_ID + np.where(self.is_hot(field, ratio), hot_auction, other)

    def is_hot(self, field: str, ratio: int) -> Any:
        return below(self.draws.field(f"{field}.hot"), ratio) > 0

    def price(self, field: str) -> Longs:
        """From 1 to a million, in cents; each order of magnitude is as likely as the others."""
        exponents = self.draws.field(field).fractions() * 6
        return np.floor(10.0**exponents * 100 + 0.5).astype(np.int64)


def time(milliseconds: Longs) -> pa.Array:
    return pa.array(milliseconds.astype("M8[ms]"))


def total_length(*texts: pa.Array) -> Longs:
    """Of the strings of each row."""
    return sum(pc.utf8_length(text).to_numpy(zero_copy_only=False) for text in texts)  # type: ignore[no-any-return]
