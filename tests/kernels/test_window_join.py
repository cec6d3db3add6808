"""The window join: a story, and the kernel against its row-at-a-time reference."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.kernels.co_group import CoGroup
from tidemark.kernels.columns import AFTER_ALL, KIND, TIME
from tidemark.kernels.segments import Compaction
from tidemark.kernels.window_join import window_join
from tidemark.kernels.windows.spec import Given

from .drive import LEFT, RIGHT, Arrived, Driver, frame
from .reference import NONE_YET, Row
from .window_join_reference import Pair, Window, WindowJoinReference

SIZE = 10
HOWS = ["inner", "left", "right", "full", "semi", "anti"]
CUTS = st.lists(st.sampled_from(["no cut", "no cut", "cut", "restart"]), min_size=30, max_size=30)
Event = Arrived | int


def joining(
    how: str,
    condition: pl.Expr | None = None,
    nulls_equal: bool = False,
    compaction: Compaction | None = None,
) -> CoGroup:
    return window_join(
        ("l_key",),
        ("r_key",),
        Given("l_start", "l_end"),
        Given("r_start", "r_end"),
        how=how,  # type: ignore[arg-type]
        condition=condition,
        nulls_equal=(nulls_equal,),
        compaction=compaction,
    )


def window_of(row: Row) -> Window:
    """Of two lengths, so that windows that end together need not start together."""
    size = 2 * SIZE if row.payload % 4 == 0 else SIZE
    start = row.time // size * size
    return start, start + size


class WindowDriver(Driver):
    """A kernel fed step by step, whose output are pairs of payloads."""

    def pairs(self, rows: Sequence[Arrived], watermark: int) -> list[Pair]:
        placed = list(enumerate(rows))
        inputs = []
        for side in (LEFT, RIGHT):
            windows = [window_of(arrived.row) for arrived in rows if arrived.side == side]
            bounds = {
                f"{'lr'[side]}_{name}": pl.Series([w[at] for w in windows], dtype=pl.Int64)
                for at, name in enumerate(("start", "end"))
            }
            made = frame(side, placed, self.hash_values).drop(KIND)
            inputs.append(made.with_columns(**bounds))
        step = self.kernel.step(self.state, inputs, watermark, 0)
        self.state, self.metrics = step.state, step.metrics
        self.next_event_time = step.next_event_time
        if "r_payload" not in step.output.columns:
            return [(payload, None) for payload in step.output["l_payload"]]
        return list(step.output.select("l_payload", "r_payload").iter_rows())


# --- a story -----------------------------------------------------------------------------------


def left(key: str, time: int, payload: int, stamp: int = NONE_YET) -> Arrived:
    return Arrived(LEFT, Row(key, time, payload), stamp)


def right(key: str, time: int, payload: int, stamp: int = NONE_YET) -> Arrived:
    return Arrived(RIGHT, Row(key, time, payload), stamp)


def test_a_window_joins_at_its_last_millisecond_and_takes_no_rows_after_it() -> None:
    #  window [0, 10): left a1, b2   right a5    | at 9:  a1-a5, b2 alone
    #  window [10, 20): left a13     right z11   | at 19: a13 alone, z11 alone
    driver = WindowDriver(joining("full"))

    assert driver.pairs([left("a", 1, 1), left("b", 2, 2), right("a", 5, 5)], 8) == []
    assert driver.next_event_time == 9
    # Behind the watermark, but its window is still open.
    assert driver.pairs([left("a", 3, 3, 8), right("z", 11, 11, 8)], 9) == [
        (1, 5),
        (3, 5),
        (2, None),
    ]
    assert driver.pairs([right("a", 6, 6, 9), left("a", 13, 13, 9)], 18) == []
    assert driver.metrics is not None
    assert driver.metrics.late == (0, 1)
    assert driver.metrics.waiting == 2
    assert driver.pairs([], 19) == [(13, None), (None, 11)]
    assert driver.state.height == 0
    assert driver.next_event_time is None


def test_a_pair_that_fails_the_condition_leaves_both_rows_without_a_partner() -> None:
    driver = WindowDriver(joining("full", pl.col("l_payload") < pl.col("r_payload")))
    rows = [left("a", 1, 3), right("a", 2, 5), left("a", 4, 7), right("a", 3, 1)]

    assert driver.pairs(rows, AFTER_ALL) == [(3, 5), (7, None), (None, 1)]


def test_what_waits_holds_no_more_than_the_rows_and_their_windows() -> None:
    driver = WindowDriver(joining("inner"))
    driver.pairs([left("a", 1, 1)], 0)
    [segment] = driver.state.segments()

    assert TIME not in segment.rows().columns
    assert segment.rows().width == 4


# --- the reference -----------------------------------------------------------------------------


@st.composite
def histories(draw: st.DrawFn, longest: int = 28) -> list[Event]:
    """Rows of both sides in their order of arrival, and watermarks (numbers) between them."""
    history: list[Event] = []
    watermark = NONE_YET
    for payload in range(draw(st.integers(0, longest))):
        now = max(watermark, 0)
        if draw(st.integers(0, 3)) == 0:
            watermark = max(watermark, now + draw(st.integers(-2, 12)))
            history.append(watermark)
            continue
        # Around the watermark: early and late rows, some of them before 1970.
        key = draw(st.sampled_from(["a", "a", "b", "c", None]))
        row = Row(key, now + draw(st.integers(-25, 25)), payload)
        history.append(Arrived(draw(st.sampled_from([LEFT, RIGHT])), row, watermark))
    return history


def expected(reference: WindowJoinReference, events: Sequence[Event]) -> list[Pair]:
    out: list[Pair] = []
    for event in events:
        if isinstance(event, int):
            out += reference.advance(event)
        else:
            reference.arrive(event.side, event.row, window_of(event.row))
    return out


def in_any_order(pairs: Sequence[Pair]) -> list[Pair]:
    return sorted(pairs, key=str)


@given(
    st.sampled_from(HOWS),
    st.booleans(),
    st.booleans(),
    histories(),
    CUTS,
    st.builds(Compaction, fanout=st.integers(2, 4), smallest=st.integers(1, 4)),
)
@settings(max_examples=150, deadline=None)
def test_rows_join_as_if_each_came_alone_however_they_are_cut(
    how: str,
    conditional: bool,
    nulls_equal: bool,
    history: list[Event],
    cuts: list[str],
    compaction: Compaction,
) -> None:
    reference = WindowJoinReference(how, nulls_equal=nulls_equal)
    condition = None
    if conditional:
        condition = (pl.col("l_payload") + pl.col("r_payload")) % 3 != 0
        reference.condition = lambda left, right: (left.payload + right.payload) % 3 != 0
    driver = WindowDriver(joining(how, condition, nulls_equal, compaction))
    since: list[Event] = []
    late = [0, 0]
    for event, cut in zip([*history, AFTER_ALL], [*cuts[: len(history)], "cut"], strict=True):
        since.append(event)
        if cut == "no cut":
            continue
        watermark = max((e for e in since if isinstance(e, int)), default=NONE_YET)
        rows = [e for e in since if isinstance(e, Arrived)]

        found = driver.pairs(rows, watermark)
        assert in_any_order(found) == in_any_order(expected(reference, since))

        assert driver.metrics is not None
        late = [a + b for a, b in zip(late, driver.metrics.late, strict=True)]
        since = []
        if cut == "restart":
            driver.restart()

    assert late == reference.late
    assert driver.state.height == 0
    assert driver.next_event_time is None
