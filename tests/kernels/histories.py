"""What can happen to the rows of two inputs, and joins that are fed with it step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from hypothesis import strategies as st

from tidemark.kernels.columns import AFTER_ALL, KIND
from tidemark.kernels.segments import Compaction

from .drive import LEFT, RIGHT, Arrived, Driver, frame
from .reference import NONE_YET, Row

# A row, or what the watermark moves to.
Event = Arrived | int
Pair = tuple[int | None, int | None]
Window = tuple[int, int]

HOWS = ["inner", "left", "right", "full", "semi", "anti"]
CUTS = st.lists(st.sampled_from(["no cut", "no cut", "cut", "restart"]), min_size=30, max_size=30)
COMPACTIONS = st.builds(Compaction, fanout=st.integers(2, 4), smallest=st.integers(1, 4))


def left(key: str, time: int, payload: int, stamp: int = NONE_YET) -> Arrived:
    return Arrived(LEFT, Row(key, time, payload), stamp)


def right(key: str, time: int, payload: int, stamp: int = NONE_YET) -> Arrived:
    return Arrived(RIGHT, Row(key, time, payload), stamp)


@st.composite
def histories(draw: st.DrawFn, near: int, far: int, longest: int = 28) -> list[Event]:
    """Rows of both sides in their order of arrival, `near` the watermark, early and late, some of
    them before 1970; and watermarks between them, which advance as `far` at most."""
    history: list[Event] = []
    watermark = NONE_YET
    for payload in range(draw(st.integers(0, longest))):
        now = max(watermark, 0)
        if draw(st.integers(0, 3)) == 0:
            watermark = max(watermark, now + draw(st.integers(-2, far)))
            history.append(watermark)
            continue
        key = draw(st.sampled_from(["a", "a", "b", "c", None]))
        row = Row(key, now + draw(st.integers(-near, near)), payload)
        history.append(Arrived(draw(st.sampled_from([LEFT, RIGHT])), row, watermark))
    return history


# A condition between two rows, for the kernel and for the reference.
CONDITION = (pl.col("l_payload") + pl.col("r_payload")) % 3 != 0


def holds(left: Row, right: Row) -> bool:
    return (left.payload + right.payload) % 3 != 0


def in_any_order(rows: Sequence[Any]) -> list[Any]:
    return sorted(rows, key=str)


def window_of(row: Row) -> Window:
    """Of two lengths, so that windows that end together need not start together."""
    size = 20 if row.payload % 4 == 0 else 10
    start = row.time // size * size
    return start, start + size


@dataclass
class JoinDriver(Driver):
    """A join fed step by step, which remembers the payloads of the rows that it has dropped, and
    how often it did: a row may be late for several windows. Rows say which window they are in where
    the join is by given ones."""

    windowed: bool = False
    late: tuple[list[int], list[int]] = field(default_factory=lambda: ([], []))
    dropped: list[int] = field(default_factory=lambda: [0, 0])

    def inputs(self, rows: Sequence[Arrived]) -> list[pl.DataFrame]:
        placed = list(enumerate(rows))
        frames = [frame(side, placed, self.hash_values).drop(KIND) for side in (LEFT, RIGHT)]
        if not self.windowed:
            return frames
        windows = [
            [window_of(arrived.row) for arrived in rows if arrived.side == side]
            for side in (LEFT, RIGHT)
        ]
        return [
            made.with_columns(
                pl.Series(f"{'lr'[side]}_start", [start for start, _ in windows[side]], pl.Int64),
                pl.Series(f"{'lr'[side]}_end", [end for _, end in windows[side]], pl.Int64),
            )
            for side, made in enumerate(frames)
        ]

    def output(self, rows: Sequence[Arrived], watermark: int, clock: int = 0) -> pl.DataFrame:
        step = self.take(self.inputs(rows), watermark, clock)
        for side, dropped in enumerate(step.late or ()):
            assert dropped.height <= step.metrics.late[side]
            self.dropped[side] += step.metrics.late[side]
            self.late[side].extend(dropped[f"{'lr'[side]}_payload"])
        return step.output

    def pairs(self, rows: Sequence[Arrived], watermark: int, clock: int = 0) -> list[Pair]:
        """What comes out, as pairs of payloads."""
        output = self.output(rows, watermark, clock)
        if "r_payload" not in output.columns:
            return [(payload, None) for payload in output["l_payload"]]
        return list(output.select("l_payload", "r_payload").iter_rows())

    def check(
        self,
        history: Sequence[Event],
        cuts: Sequence[str],
        fed: Callable[[Sequence[Arrived], int], Sequence[Any]],
        expected: Callable[[Sequence[Event]], Sequence[Any]],
    ) -> None:
        """All that happens comes in steps, as they are cut, to the join and to a reference."""
        for events, rows, watermark in self.steps(history, cuts):
            assert in_any_order(fed(rows, watermark)) == in_any_order(expected(events))
        assert self.next_event_time is None

    def steps(
        self, history: Sequence[Event], cuts: Sequence[str]
    ) -> Iterator[tuple[list[Event], list[Arrived], int]]:
        """The events of each step, their rows, and the watermark after them; at last all has come.
        Between two steps there may be a restart."""
        since: list[Event] = []
        for event, cut in zip([*history, AFTER_ALL], [*cuts[: len(history)], "cut"], strict=True):
            since.append(event)
            if cut == "no cut":
                continue
            watermark = max((e for e in since if isinstance(e, int)), default=NONE_YET)
            yield since, [e for e in since if isinstance(e, Arrived)], watermark
            since = []
            if cut == "restart":
                self.restart()
