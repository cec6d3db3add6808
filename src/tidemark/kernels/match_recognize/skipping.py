"""Which of the found matches are emitted, and which are skipped.

Matches are emitted in the order of their first rows. One waits as long as an attempt from an
earlier row is open: that may still match and skip it. What is skipped after a match are all first
rows up to some row of it, its `reach`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tidemark.errors import DataError
from tidemark.kernels.match_recognize.attempts import Attempts, Flags
from tidemark.kernels.match_recognize.spec import Skip
from tidemark.kernels.tables import Longs, run_starts

_NOWHERE: Final = -2  # no row of the variable to skip to


@dataclass(frozen=True, slots=True)
class Decided:
    """The matches to emit, those that wait, the attempts that go on, and the positions of first
    rows that are skipped.
    """

    emitted: Attempts
    waiting: Attempts
    open: Attempts
    skipped: Flags


def decide(
    skip: Skip, names: tuple[str, ...], end: Longs, matches: Attempts, still_open: Attempts
) -> Decided:
    """`names` are those of variables; `end` is, for each position, that after the last row of its
    key.
    """
    matches = matches[np.argsort(matches.start)]
    # After an empty match, the search always goes on with the next row.
    is_empty = matches.next == matches.start
    reach = np.where(is_empty, matches.start, _reach(skip, matches))
    onward = np.maximum(reach, matches.start)
    chosen = _reachable(*_links(end, matches.start, onward, np.unique(still_open.start)))
    emitted = matches[chosen]
    _check(skip, names, emitted, reach[chosen])
    # The first rows from that of a match to its reach are not there any more.
    change = np.zeros(end.size + 1, dtype=np.int64)
    np.add.at(change, emitted.start, 1)
    np.add.at(change, reach[chosen] + 1, -1)
    gone = np.cumsum(change)[:-1] > 0
    gone[emitted.start] = True
    waiting = matches[~chosen & ~gone[matches.start]]
    skipped = gone.copy()
    skipped[emitted.start] = False
    return Decided(emitted, waiting, still_open[~gone[still_open.start]], skipped)


def _reach(skip: Skip, matches: Attempts) -> Longs:
    """The last first row that each match would skip."""
    match skip.to:
        case "next row":
            return matches.start
        case "past last row":
            return matches.next - 1
    assert skip.variable is not None
    place, there = matches.place(skip.variable, skip.to == "first", 0)
    return np.where(there, place - 1, _NOWHERE)


def _links(end: Longs, start: Longs, reach: Longs, still_open: Longs) -> tuple[Flags, Longs]:
    """Which matches are the first to be emitted of their key, and for each match the one that is
    emitted after it (their number, if there is none).
    """
    here = end[start]  # the end of its key identifies it
    is_first = np.append(True, here[1:] != here[:-1])[: start.size]
    key_start = np.maximum.accumulate(np.where(is_first, run_starts(end)[start], 0))
    roots = is_first & ~_any_between(still_open, key_start - 1, start)
    following = np.searchsorted(start, reach, side="right")
    there = following < start.size
    after = np.minimum(following, start.size - 1)
    there &= (here[after] == here) & ~_any_between(still_open, reach, start[after])
    return roots, np.where(there, following, start.size)


def _any_between(values: Longs, low: Longs, high: Longs) -> Flags:
    """Whether any of the sorted values is above `low` and below `high`."""
    first = np.searchsorted(values, low, side="right")
    return np.asarray(np.searchsorted(values, high, side="left") > first)


def _reachable(roots: Flags, links: Longs) -> Flags:
    """What can be reached by links from the roots: in each round twice as far as before."""
    reached = np.append(roots, False)
    jump = np.append(links, links.size)
    while True:
        reached[jump[reached]] = True
        reached[-1] = False
        if (jump == links.size).all():
            return reached[:-1]
        jump = jump[jump]


def _check(skip: Skip, names: tuple[str, ...], emitted: Attempts, reach: Longs) -> None:
    if skip.variable is None or not len(emitted):
        return
    name = names[skip.variable]
    if (reach == _NOWHERE).any():
        raise DataError(
            f"AFTER MATCH SKIP TO {skip.to.upper()} {name}: a match has no row of {name}",
            hint=f"skip to a variable that each match has, or make {name} required",
        )
    if (reach < emitted.start).any():
        raise DataError(
            f"AFTER MATCH SKIP TO {skip.to.upper()} {name}: that is the first row of a match, so "
            "the same match would be found forever",
            hint="use AFTER MATCH SKIP TO NEXT ROW",
        )
