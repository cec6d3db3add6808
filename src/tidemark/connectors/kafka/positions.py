"""Where reading starts and ends in partitions, and how much of them a micro-batch reads.

A topic's partition is named by both: `("orders", 3)`. Positions are offsets by partition; an end is
the offset of the first record that is not read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

TopicPartition: TypeAlias = tuple[str, int]
Positions: TypeAlias = Mapping[TopicPartition, int]

_SPECIFIC = re.compile(r"\s*partition\s*:\s*(\d+)\s*,\s*offset\s*:\s*(\d+)\s*")


def specific_offsets(text: str) -> dict[int, int]:
    """`partition:0,offset:42;partition:1,offset:300` by partition. Raises ValueError."""
    found: dict[int, int] = {}
    for part in filter(str.strip, text.split(";")):
        match = _SPECIFIC.fullmatch(part)
        if match is None:
            raise ValueError(
                f"invalid offsets '{part.strip()}': expected 'partition:0,offset:42;...'"
            )
        found[int(match[1])] = int(match[2])
    return found


def limited(starts: Positions, ends: Positions, most: int) -> dict[TopicPartition, int]:
    """The ends of a micro-batch that reads about so many records at most.

    Each partition gets a share in proportion to what it has, and at least one record, so that none
    waits for the others.
    """
    there = {key: max(0, end - starts[key]) for key, end in ends.items()}
    total = sum(there.values())
    if total <= most:
        return {key: starts[key] + count for key, count in there.items()}
    return {
        key: starts[key] + (min(count, max(1, count * most // total)) if count else 0)
        for key, count in there.items()
    }


def lost(starts: Positions, earliest: Positions, latest: Positions) -> dict[TopicPartition, str]:
    """The partitions of which records are gone that were not read yet, and what is known."""
    found = {}
    for key, start in starts.items():
        if key not in latest:
            found[key] = "the partition does not exist any more"
        elif start < earliest[key]:
            found[key] = f"offsets {start} to {earliest[key] - 1} were deleted"
        elif start > latest[key]:
            found[key] = f"offset {start} is after the end, {latest[key]}: the topic was made anew"
    return found


# --- as they are in checkpoints ----------------------------------------------------------------


def to_json(positions: Positions) -> dict[str, dict[str, int]]:
    """By topic and partition, sorted."""
    found: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in sorted(positions.items()):
        found.setdefault(topic, {})[str(partition)] = offset
    return found


def from_json(value: Mapping[str, Mapping[str, int]]) -> dict[TopicPartition, int]:
    return {
        (topic, int(partition)): offset
        for topic, partitions in value.items()
        for partition, offset in partitions.items()
    }
