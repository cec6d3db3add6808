"""The strings of the events: random words, and what fills them up to their size."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tidemark.connectors.made_rows.columns import strings
from tidemark.connectors.made_rows.columns.draws import Bytes, Draws
from tidemark.connectors.made_rows.columns.rows import Longs
from tidemark.connectors.nexmark.made.java_random import java_bounded, java_ints

_SHORTEST: Final = 3
_ONE_IN: Final = 13  # characters is not a letter
_LETTERS: Final = 26
_A: Final = ord("a")

_CHANNELS: Final = 10_000
HOT_CHANNELS: Final = ("Google", "Facebook", "Baidu", "Apple")
_SEED_OF_URLS, _DRAWS_OF_URLS = 2, 250_000
_SEED_OF_FILLING, _FILLING, _LETTERS_OF_DRAW = 1, 1 << 20, 6


def below(draws: Draws, bound: int | Longs, use: str = "") -> Longs:
    """A random number from 0 up to, but not including, the bound of each row."""
    bounds = np.asarray(bound).astype(np.uint64)
    return (draws.words(use) % bounds).astype(np.int64)


def one_of(draws: Draws, names: tuple[str, ...]) -> pa.Array:
    return pa.array(names, pa.large_string()).take(pa.array(below(draws, len(names))))


def word(draws: Draws, bound: int) -> pa.Array:
    """Letters and some spaces, at least three and less than `bound` of them before they are
    trimmed.
    """
    units = draws.bytes(2 * (bound - 1)).view("<u2")
    letters = (units // _ONE_IN % _LETTERS + _A).astype(np.uint8)
    letters[units % _ONE_IN == 0] = ord(" ")
    lengths = _SHORTEST + below(draws, bound - _SHORTEST, "length")
    return pc.utf8_trim(strings.of_lines(letters, lengths), " ")


def filling(draws: Draws, size: int | Longs, average: int) -> pa.Array:
    """What makes events of these sizes so large on the average. None that are larger."""
    missing = np.broadcast_to(average - np.asarray(size), draws.numbers.shape)
    spread = np.floor(missing * 0.2 + 0.5).astype(np.int64)
    lengths = missing - spread + below(draws, np.maximum(2 * spread, 1), "length")
    lengths = np.where(missing < 0, 0, lengths)
    return strings.cut(_filling(), below(draws, _FILLING - lengths, "start"), lengths)


@lru_cache(1)
def _filling() -> Bytes:
    """What the fillings are cut from. Half of it are other characters than letters, since Java's
    remainder of a negative number is negative.
    """
    draws = java_ints(_SEED_OF_FILLING, -(-_FILLING // _LETTERS_OF_DRAW)).astype(np.int64)
    found = np.empty((len(draws), _LETTERS_OF_DRAW), np.uint8)
    for place in range(_LETTERS_OF_DRAW):
        rest = np.fmod(draws, _LETTERS)
        found[:, place] = _A + rest
        draws = (draws - rest) // _LETTERS
    return found.reshape(-1)[:_FILLING]


@lru_cache(1)
def channels() -> tuple[pa.Array, pa.Array]:
    """The names and URLs of all channels, the hot ones last. They are always the same."""
    reader = _Urls()
    of_hot = [reader.url() for _ in HOT_CHANNELS]
    urls = [reader.url_of(channel) for channel in range(_CHANNELS)]
    names = [*(f"channel-{channel}" for channel in range(_CHANNELS)), *HOT_CHANNELS]
    return pa.array(names, pa.large_string()), pa.array([*urls, *of_hot], pa.large_string())


class _Urls:
    """Reads URLs from the draws of a seed, none of which is rejected. What a draw means depends on
    those before it.
    """

    def __init__(self) -> None:
        draws = java_ints(_SEED_OF_URLS, _DRAWS_OF_URLS)
        self.place = 0
        self.lengths = (_SHORTEST + java_bounded(draws, 2)).tolist()
        self.is_letter = (java_bounded(draws, _ONE_IN) > 0).tolist()
        self.letters = "".join(map(chr, (_A + java_bounded(draws, _LETTERS)).tolist()))
        self.has_id = (java_bounded(draws, 10) > 0).tolist()

    def url(self) -> str:
        folders = "/".join(self.folder() for _ in range(3))
        return f"https://www.nexmark.com/{folders}/item.htm?query=1"

    def url_of(self, channel: int) -> str:
        url = self.url()
        self.place += 1
        if self.has_id[self.place - 1]:
            return f"{url}&channel_id={_reversed(channel)}"
        return url

    def folder(self) -> str:
        place, found = self.place + 1, ""
        for _ in range(self.lengths[self.place]):
            if self.is_letter[place]:
                found += self.letters[place + 1]
                place += 2
            else:
                found += "_"
                place += 1
        self.place = place
        return found


def _reversed(number: int) -> int:
    """The bits of an INT from last to first, without the sign."""
    bits = int(f"{number:032b}"[::-1], 2)
    return abs(bits - (1 << 32) if bits >= 1 << 31 else bits)
