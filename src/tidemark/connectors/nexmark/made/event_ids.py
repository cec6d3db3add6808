"""Which events there are: their kinds, times, and the persons and auctions that exist by then.

All of it follows from the number of the event, counted from 0. The numbers and the constants are
those of the generator of nexmark-flink.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from tidemark.connectors.made_rows.columns.rows import Longs

FIRST_ID: Final = 1000
# The ID of the first event: both its number and the IDs are counted from one.
_FIRST_EVENT: Final = 2
# One of so many persons is hot: the first of them sells, the second one bids. So it is of auctions.
HOT_SHARE: Final = 100
# IDs that others may refer to before they exist.
_LEAD: Final = 10
_ACTIVE_PERSONS: Final = 1000
IN_FLIGHT_AUCTIONS: Final = 100

# Chooses a number from 0 up to, but not including, each of these.
Choose = Callable[[Longs], Longs]


class Kind(IntEnum):
    PERSON = 0
    AUCTION = 1
    BID = 2


@dataclass(frozen=True, slots=True)
class Proportions:
    """Of as many events as their sum, these are persons, auctions and bids, in that order."""

    persons: int
    auctions: int
    bids: int

    @property
    def total(self) -> int:
        return self.persons + self.auctions + self.bids

    def kinds(self, numbers: Longs) -> npt.NDArray[np.int32]:
        of_epoch = (numbers + _FIRST_EVENT) % self.total
        ends = [self.persons, self.persons + self.auctions]
        return np.searchsorted(ends, of_epoch, side="right").astype(np.int32)

    # --- IDs, counted from zero ----------------------------------------------------------------

    def last_person(self, numbers: Longs) -> Longs:
        """The last one that exists at an event; that of the event itself if it is a person."""
        epoch, of_epoch = np.divmod(numbers + _FIRST_EVENT, self.total)
        return epoch * self.persons + np.minimum(of_epoch, self.persons - 1)

    def last_auction(self, numbers: Longs) -> Longs:
        epoch, of_epoch = np.divmod(numbers + _FIRST_EVENT, self.total)
        of_auctions = of_epoch - self.persons
        complete = np.where(of_auctions < 0, epoch - 1, epoch)  # a person precedes its auctions
        within = (of_auctions >= 0) & (of_auctions < self.auctions)
        return complete * self.auctions + np.where(within, of_auctions, self.auctions - 1)

    def active_person(self, numbers: Longs, choose: Choose) -> Longs:
        """One of the latest, or one that does not exist yet."""
        count = self.last_person(numbers) + 1
        active = np.minimum(count, _ACTIVE_PERSONS)
        return count - active + choose(active + _LEAD)

    def auction_in_flight(self, numbers: Longs, choose: Choose) -> Longs:
        last = self.last_auction(numbers)
        first = np.maximum(last - IN_FLIGHT_AUCTIONS, 0)
        return first + choose(last - first + 1 + _LEAD)


def hot(last: Longs) -> Longs:
    """The first of the latest hundred."""
    return np.maximum(last, 0) // HOT_SHARE * HOT_SHARE


def since_base_ms(numbers: Longs, rate: int) -> Longs:
    """The event times, in milliseconds after the base time."""
    return ((numbers + 1) * (1_000_000 / rate)).astype(np.int64) // 1000
