"""The interval join against its row-at-a-time reference, over all that can happen to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.kernels.columns import AFTER_ALL, KIND
from tidemark.kernels.interval_join import IntervalJoin
from tidemark.kernels.interval_join_stream import StreamIntervalJoin
from tidemark.kernels.segments import Compaction

from .drive import LEFT, RIGHT, Arrived, Driver, frame
from .interval_reference import IntervalReference, Pair, StreamReference
from .reference import NONE_YET, Row

MANY = settings(max_examples=60, deadline=None)

KEYS = st.sampled_from(["a", "a", "b", "c", None])
HOWS = ["inner", "left", "right", "full", "semi", "anti"]
CUTS = st.lists(st.sampled_from(["no cut", "no cut", "cut", "restart"]), min_size=30, max_size=30)
# Negative, zero, wide on one side, and such that nothing can lie between.
BOUNDS = st.one_of(
    st.tuples(st.integers(-6, 3), st.integers(-3, 6)),
    st.sampled_from([(0, 0), (-3, 3), (-1000, 2), (-2, 1000)]),
)

Event = Arrived | int


@st.composite
def histories(draw: st.DrawFn, longest: int = 28) -> list[Event]:
    """Rows of both sides in their order of arrival, and watermarks (numbers) between them."""
    history: list[Event] = []
    watermark = NONE_YET
    for payload in range(draw(st.integers(0, longest))):
        now = max(watermark, 0)
        if draw(st.integers(0, 3)) == 0:
            watermark = max(watermark, now + draw(st.integers(-2, 6)))
            history.append(watermark)
            continue
        # Around the watermark: early and late rows, some of them before 1970.
        row = Row(draw(KEYS), now + draw(st.integers(-9, 9)), payload)
        history.append(Arrived(draw(st.sampled_from([LEFT, RIGHT])), row, watermark))
    return history


def joins() -> st.SearchStrategy[tuple[IntervalJoin, IntervalReference]]:
    return st.builds(
        _pair,
        bounds=BOUNDS,
        how=st.sampled_from(HOWS),
        slack=st.sampled_from([0, 0, 0, 1, 2, 5]),
        conditional=st.booleans(),
        compaction=st.builds(Compaction, fanout=st.integers(2, 4), smallest=st.integers(1, 4)),
    )


def _pair(
    bounds: tuple[int, int], how: str, slack: int, conditional: bool, compaction: Compaction
) -> tuple[IntervalJoin, IntervalReference]:
    kernel = IntervalJoin(
        ("l_key",),
        ("r_key",),
        *bounds,
        how=how,  # type: ignore[arg-type]
        condition=(pl.col("l_payload") + pl.col("r_payload")) % 3 != 0 if conditional else None,
        slack=slack,
        compaction=compaction,
    )
    reference = IntervalReference(*bounds, how=how, slack=slack)
    if conditional:
        reference.condition = lambda left, right: (left.payload + right.payload) % 3 != 0
    return kernel, reference


class IntervalDriver(Driver):
    """A kernel fed step by step, whose output are pairs of payloads."""

    def pairs(self, rows: Sequence[Arrived], watermark: int, clock: int = 0) -> list[Pair]:
        placed = list(enumerate(rows))
        inputs = [frame(side, placed, self.hash_values).drop(KIND) for side in (LEFT, RIGHT)]
        step = self.kernel.step(self.state, inputs, watermark, clock)
        self.state, self.metrics = step.state, step.metrics
        self.next_event_time = step.next_event_time
        self.next_processing_time = step.next_processing_time
        if "r_payload" not in step.output.columns:
            return [(payload, None) for payload in step.output["l_payload"]]
        return list(step.output.select("l_payload", "r_payload").iter_rows())


def in_any_order(pairs: Sequence[Pair]) -> list[Pair]:
    return sorted(pairs, key=str)


def feed(reference: IntervalReference | StreamReference, events: Sequence[Event]) -> list[Pair]:
    out: list[Pair] = []
    for event in events:
        if isinstance(event, int):
            out += reference.advance(event)
        else:
            out += reference.arrive(event.side, event.row)
    return out


@given(joins(), histories(), CUTS)
@MANY
def test_stamped_rows_join_as_if_each_came_alone(
    join: tuple[IntervalJoin, IntervalReference], history: list[Event], cuts: list[str]
) -> None:
    kernel, reference = join
    driver = IntervalDriver(kernel)
    since: list[Event] = []
    for event, cut in zip([*history, AFTER_ALL], [*cuts[: len(history)], "cut"], strict=True):
        since.append(event)
        if cut == "no cut":
            continue
        watermark = max((e for e in since if isinstance(e, int)), default=NONE_YET)
        rows = [e for e in since if isinstance(e, Arrived)]

        assert in_any_order(driver.pairs(rows, watermark)) == in_any_order(feed(reference, since))

        since = []
        if cut == "restart":
            driver.restart()

    assert driver.next_event_time is None


@given(joins(), histories())
@MANY
def test_a_kernel_called_only_when_it_asks_to_misses_nothing(
    join: tuple[IntervalJoin, IntervalReference], history: list[Event]
) -> None:
    kernel, reference = join
    driver = IntervalDriver(kernel)
    for event in [*history, AFTER_ALL]:
        expected = in_any_order(feed(reference, [event]))
        if isinstance(event, Arrived):
            assert in_any_order(driver.pairs([event], event.stamp)) == expected
        elif driver.next_event_time is not None and driver.next_event_time <= event:
            assert in_any_order(driver.pairs([], event)) == expected
        else:
            assert expected == []


@given(joins(), histories())
@MANY
def test_by_the_time_of_day_rows_are_as_old_as_their_arrival(
    join: tuple[IntervalJoin, IntervalReference], history: list[Event]
) -> None:
    kernel, reference = replace(join[0], time="processing"), join[1]
    driver = IntervalDriver(kernel)
    clock = 1000
    for event in history:
        clock += event % 3 if isinstance(event, int) else 0
        expected = reference.advance(clock)
        rows = [] if isinstance(event, int) else [event]
        for arrived in rows:
            expected += reference.arrive(arrived.side, replace(arrived.row, time=clock))

        assert in_any_order(driver.pairs(rows, NONE_YET, clock)) == in_any_order(expected)


@given(BOUNDS, histories(), CUTS, st.builds(Compaction, st.integers(2, 4), st.integers(1, 4)))
@MANY
def test_the_form_of_the_stream_api_drops_late_rows_and_keeps_each_row_by_its_own_time(
    bounds: tuple[int, int], history: list[Event], cuts: list[str], compaction: Compaction
) -> None:
    driver = IntervalDriver(StreamIntervalJoin(("l_key",), ("r_key",), *bounds, compaction))
    reference = StreamReference(*bounds)
    since: list[Event] = []
    late = [0, 0]
    for event, cut in zip([*history, AFTER_ALL], [*cuts[: len(history)], "cut"], strict=True):
        since.append(event)
        if cut == "no cut":
            continue
        watermark = max((e for e in since if isinstance(e, int)), default=NONE_YET)
        rows = [e for e in since if isinstance(e, Arrived)]

        assert in_any_order(driver.pairs(rows, watermark)) == in_any_order(feed(reference, since))

        assert driver.metrics is not None
        late = [a + b for a, b in zip(late, driver.metrics.late, strict=True)]
        since = []
        if cut == "restart":
            driver.restart()

    assert late == reference.late
