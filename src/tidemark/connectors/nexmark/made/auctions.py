"""New auctions."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from tidemark.connectors.made_rows.columns.rows import Longs
from tidemark.connectors.nexmark.made.event_ids import (
    FIRST_ID,
    IN_FLIGHT_AUCTIONS,
    since_base_ms,
)
from tidemark.connectors.nexmark.made.events import EventsOfKind, time, total_length
from tidemark.connectors.nexmark.made.strings import below, filling, word

_FIRST_CATEGORY, _CATEGORIES = 10, 5
# The ID, the seller, the category, both times and the first bid in a row.
_LONGS: Final = 6 * 8


def auctions(events: EventsOfKind, fields: int) -> list[pa.Array]:
    draws, options = events.draws.field, events.options
    name, description = word(draws("name"), 20), word(draws("description"), 100)
    first_bid = events.price("first bid")
    seller = FIRST_ID + events.person("seller", options["auction.hot-ratio.sellers"], 0)
    size = _LONGS + total_length(name, description)
    return [
        pa.array(FIRST_ID + events.proportions.last_auction(events.numbers)),
        *(name, description),
        *(pa.array(first_bid), pa.array(first_bid + events.price("reserve"))),
        *(time(events.times), time(events.times + _length_ms(events))),
        pa.array(seller),
        pa.array(_FIRST_CATEGORY + below(draws("category"), _CATEGORIES)),
        filling(draws("extra"), size, options["auction.avg-size"]),
    ]


def _length_ms(events: EventsOfKind) -> Longs:
    """How long auctions are open: on the average until as many others have begun as are open."""
    proportions, rate = events.proportions, events.options["first-event.rate"]
    until = IN_FLIGHT_AUCTIONS * proportions.total // proportions.auctions
    horizon = since_base_ms(events.numbers + until, rate) - since_base_ms(events.numbers, rate)
    return 1 + below(events.draws.field("length"), np.maximum(2 * horizon, 1))
