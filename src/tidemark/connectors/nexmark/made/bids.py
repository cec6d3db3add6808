"""Bids."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from tidemark.connectors.nexmark.made.event_ids import FIRST_ID
from tidemark.connectors.nexmark.made.events import EventsOfKind, time
from tidemark.connectors.nexmark.made.strings import HOT_CHANNELS, below, channels, filling

# The auction, the bidder, the price and the time in a row.
_LONGS: Final = 4 * 8
_WITH_CHANNEL: Final = 7  # fields


def bids(events: EventsOfKind, fields: int) -> list[pa.Array]:
    options = events.options
    # Flink's generator adds the first ID twice where bids have a channel.
    first_bidder = FIRST_ID * (2 if fields == _WITH_CHANNEL else 1)
    bidder = first_bidder + events.person("bidder", options["bid.hot-ratio.bidders"], 1)
    return [
        pa.array(events.auction("auction", options["bid.hot-ratio.auctions"])),
        pa.array(bidder),
        pa.array(events.price("price")),
        *(_channel(events) if fields == _WITH_CHANNEL else ()),
        time(events.times),
        filling(events.draws.field("extra"), _LONGS, options["bid.avg-size"]),
    ]


def _channel(events: EventsOfKind) -> tuple[pa.Array, pa.Array]:
    """The channel and the URL; half of the bids are of the hot channels."""
    names, urls = channels()
    draws, others = events.draws.field("channel"), len(names) - len(HOT_CHANNELS)
    hot_one = others + below(draws, len(HOT_CHANNELS), "hot")
    chosen = pa.array(np.where(events.is_hot("channel", 2), hot_one, below(draws, others)))
    return names.take(chosen), urls.take(chosen)
