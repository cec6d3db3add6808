"""Where a job started to read topics, and where it ends: noted once, for all of its starts."""

from __future__ import annotations

import json
from typing import Any

from tidemark.connectors.kafka.positions import Positions, from_json
from tidemark.storage import Location

_NOTE = "start.json"


def noted(folder: Location) -> dict[str, Any] | None:
    """The `start` of each partition, and its `end` if the table is bounded; None if the job has not
    started before."""
    written = (folder / _NOTE).read()
    return None if written is None else dict(json.loads(written))


def note(folder: Location, found: dict[str, Any]) -> None:
    (folder / _NOTE).write(json.dumps(found).encode())


def ends(folder: Location) -> Positions:
    """The ends of the partitions, also if they are not there yet: none of an unbounded table."""
    found = noted(folder)
    end = None if found is None else found["end"]
    return {} if end is None else from_json(end)
