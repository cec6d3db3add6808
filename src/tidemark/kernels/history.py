"""The state of versions: the versions themselves, and when their key last fired.

A firing of a key at watermark W removes its versions at or before W except the newest of them.
Nothing is rewritten for that: the firing writes a small record, (sequence, floor), and a version is
dead if it arrived before the firing and is below the floor. Compaction drops dead rows when it
rewrites them anyway.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from tidemark.kernels.columns import BEFORE_ALL, HASH, SEQUENCE, TIME
from tidemark.kernels.keys import Keys, last_of_each
from tidemark.kernels.sorting import stable_order_by
from tidemark.kernels.state import State
from tidemark.kernels.tables import KeyedTable, Longs, longs

FLOOR = "_tm_floor"  # the time of the oldest version that survived the key's last firing
PURGED = "_tm_purged"  # all rows before this position in the sequence were removed


def record_schema(rows: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """An empty frame of firing records, for keys like those of `rows`."""
    empty = rows.clear().select(HASH, *names)
    return empty.with_columns(pl.lit(0, pl.Int64).alias(name) for name in (SEQUENCE, FLOOR, PURGED))


@dataclass(frozen=True, slots=True)
class Past:
    """All live versions of some keys.

    `versions` is sorted by key number, time and arrival; `key` is that number per version. Per key
    number: the position in the sequence at which it last `fired`, its `floor`, and where it was
    `purged`.
    """

    versions: pl.DataFrame
    key: Longs
    fired: Longs
    floor: Longs
    purged: Longs


def recall(state: State, keys: Keys, arrived: pl.DataFrame) -> Past:
    """The versions of the keys in the state, and those that have just `arrived`."""
    hashes = keys.hashes
    records = state.keyed("firings").probe(hashes, record_schema(arrived, keys.names))
    fired, floor, purged = _per_key(records, keys)

    stored = state.keyed("versions").probe(hashes, arrived.clear())
    versions = pl.concat([stored, arrived])
    key = keys.number(versions, keys.names)
    time, sequence = longs(versions, TIME), longs(versions, SEQUENCE)
    alive = (key >= 0) & (sequence >= purged[key])
    alive &= (time >= floor[key]) | (sequence >= fired[key])
    kept = np.flatnonzero(alive)
    # Those of a key are already in order of arrival.
    order = kept[stable_order_by(key[kept], time[kept])]
    return Past(versions[order], key[order], fired, floor, purged)


def _per_key(records: pl.DataFrame, keys: Keys) -> tuple[Longs, Longs, Longs]:
    number = keys.number(records, keys.names)
    known = number >= 0
    columns = []
    # One more entry than keys, for the number -1 of unknown keys.
    for name, otherwise in ((SEQUENCE, 0), (FLOOR, BEFORE_ALL), (PURGED, 0)):
        values = np.full(len(keys) + 1, otherwise, dtype=np.int64)
        # Records are oldest first: the last one written to a position is the newest.
        values[number[known]] = longs(records, name)[known]
        columns.append(values)
    return columns[0], columns[1], columns[2]


def living_versions(
    firings: KeyedTable, names: tuple[str, ...], rows: pl.DataFrame
) -> pl.DataFrame:
    """The version rows that no firing or purge has removed."""
    keys = Keys.of(names, rows)
    records = firings.probe(keys.hashes, record_schema(rows, names))
    fired, floor, purged = _per_key(records, keys)
    key = keys.number(rows, names)
    time, sequence = longs(rows, TIME), longs(rows, SEQUENCE)
    alive = (sequence >= purged[key]) & ((time >= floor[key]) | (sequence >= fired[key]))
    return rows.filter(alive)


def newest_records(rows: pl.DataFrame, names: tuple[str, ...]) -> pl.DataFrame:
    """The last record of each key; rows are oldest first."""
    return last_of_each(rows, names)
