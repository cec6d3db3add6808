"""Feeding kernels by hand: frames from short strings, steps cut anywhere, restarts anywhere."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from tidemark.kernels.columns import ARRIVAL, HASH, KIND, STAMP, TIME
from tidemark.kernels.protocol import Kernel, Metrics, Step
from tidemark.kernels.state import State

from .reference import NONE_YET, Emitted, Row

LEFT, RIGHT = 0, 1


@dataclass(frozen=True)
class Arrived:
    """A row of one side, with the watermark just before it."""

    side: int
    row: Row
    stamp: int = NONE_YET


def frame(side: int, rows: Sequence[tuple[int, Arrived]], hash_values: int) -> pl.DataFrame:
    """Rows of one side as a kernel gets them; each comes with its place in the step."""
    name = "lr"[side]
    mine = [(place, arrived) for place, arrived in rows if arrived.side == side]
    columns: dict[str, list[Any]] = {
        f"{name}_key": [a.row.key for _, a in mine],
        f"{name}_payload": [a.row.payload for _, a in mine],
        (KIND if side == LEFT else "r_kind"): [a.row.kind for _, a in mine],
        HASH: [_hash(a.row.key) % hash_values for _, a in mine],
        TIME: [a.row.time for _, a in mine],
        ARRIVAL: [place for place, _ in mine],
        STAMP: [a.stamp for _, a in mine],
    }
    types: dict[str, Any] = {
        f"{name}_key": pl.String,
        f"{name}_payload": pl.Int32,
        (KIND if side == LEFT else "r_kind"): pl.String,
        HASH: pl.Int64,
        TIME: pl.Int64,
        ARRIVAL: pl.Int64,
        STAMP: pl.Int64,
    }
    made = pl.DataFrame(columns, schema=types)
    return made if side == LEFT else made.rename({"r_kind": KIND})


def _hash(key: str | None) -> int:
    return 0 if key is None else int.from_bytes(key.encode(), "big")


@dataclass
class Driver:
    """A kernel with its state, fed step by step."""

    kernel: Kernel
    # So few that different keys must be told apart by more than their hash.
    hash_values: int = 3
    state: State = field(default_factory=State)
    metrics: Metrics | None = None
    next_event_time: int | None = None

    def step(
        self, rows: Sequence[Arrived], watermark: int, processing_time: int = 0
    ) -> list[Emitted]:
        placed = list(enumerate(rows))
        inputs = [frame(side, placed, self.hash_values) for side in (LEFT, RIGHT)]
        step = self.take(inputs, watermark, processing_time)
        return list(step.output.select("l_payload", "r_payload", KIND).iter_rows())

    def take(self, inputs: Sequence[pl.DataFrame], watermark: int, processing_time: int) -> Step:
        """One step of the kernel, from whose state the next one starts."""
        step = self.kernel.step(self.state, inputs, watermark, processing_time)
        self.state, self.metrics = step.state, step.metrics
        self.next_event_time = step.next_event_time
        return step

    def feed(
        self, left: str = "", right: str = "", watermark: int = NONE_YET, at: int = 0
    ) -> list[str]:
        """A micro-batch: the watermark, then versions, then left rows. Rows are written as
        "key time payload [kind]", several separated by commas; `at` is the clock."""
        stamp = max(watermark, self.state.watermark)
        rows = [Arrived(RIGHT, row, stamp) for row in _rows(right)]
        rows += [Arrived(LEFT, row, stamp) for row in _rows(left)]
        emitted = self.step(rows, watermark, at)
        return [f"{a} {'-' if b is None else b} {kind}" for a, b, kind in emitted]

    def restart(self) -> None:
        self.state = restarted(self.state)


def restarted(state: State) -> State:
    """The state written down as a host does, and read back."""
    stored = {}
    for segment in state.segments():
        buffer = io.BytesIO()
        segment.rows().write_ipc(buffer)
        stored[segment.id] = buffer.getvalue()
    manifest = json.loads(json.dumps(state.manifest()))
    return State.open(manifest, lambda id_: pl.read_ipc(io.BytesIO(stored[id_])))


def _rows(text: str) -> list[Row]:
    rows = []
    for line in filter(None, map(str.strip, text.split(","))):
        key, time, payload, *kind = line.split()
        rows.append(Row(None if key == "null" else key, int(time), int(payload), *kind))
    return rows
