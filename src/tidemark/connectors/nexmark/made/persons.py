"""New persons."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa

from tidemark.connectors.made_rows.columns import strings
from tidemark.connectors.made_rows.columns.draws import Draws
from tidemark.connectors.made_rows.columns.strings import joined
from tidemark.connectors.nexmark.made.event_ids import FIRST_ID
from tidemark.connectors.nexmark.made.events import EventsOfKind, time, total_length
from tidemark.connectors.nexmark.made.strings import below, filling, one_of, word

FIRST_NAMES: Final = (
    *("Peter", "Paul", "Luke", "John", "Saul", "Vicky"),
    *("Kate", "Julie", "Sarah", "Deiter", "Walter"),
)
LAST_NAMES: Final = (
    *("Shultz", "Abrams", "Spencer", "White", "Bartels"),
    *("Walton", "Smith", "Jones", "Noris"),
)
CITIES: Final = (
    *("Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland"),
    *("Bend", "Redmond", "Seattle", "Kent", "Cheyenne"),
)
STATES: Final = ("AZ", "CA", "ID", "OR", "WA", "WY")
# Of an ID in a row.
_LONG: Final = 8


def persons(events: EventsOfKind, fields: int) -> list[pa.Array]:
    draws = events.draws.field
    first, last = one_of(draws("first"), FIRST_NAMES), one_of(draws("last"), LAST_NAMES)
    name = joined(first, " ", last)
    mailbox, host = word(draws("mailbox"), 7), word(draws("host"), 5)
    email = joined(mailbox, "@", host, ".com")
    card = _credit_card(draws("card"))
    city, state = one_of(draws("city"), CITIES), one_of(draws("state"), STATES)
    size = _LONG + total_length(name, email, card, city, state)
    return [
        pa.array(FIRST_ID + events.proportions.last_person(events.numbers)),
        *(name, email, card, city, state),
        time(events.times),
        filling(draws("extra"), size, events.options["person.avg-size"]),
    ]


def _credit_card(draws: Draws) -> pa.Array:
    """Four groups of four digits."""
    digits = below(draws, 10**16)[:, None] // 10 ** np.arange(15, -1, -1) % 10
    groups = np.full((len(digits), 4, 5), ord(" "), np.uint8)
    groups[:, :, :4] = digits.reshape(-1, 4, 4) + ord("0")
    return strings.of_lines(groups.reshape(-1, 20)[:, :19])
