"""The join of LATERAL SNAPSHOT against its row-at-a-time reference, over cuts and restarts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, KIND
from tidemark.kernels.regular_join.lifetimes import JoinInput
from tidemark.kernels.snapshot_join.kernel import SnapshotJoinKernel
from tidemark.kernels.temporal_join.clean_up import Retention

from .drive import LEFT, RIGHT, Arrived, Driver, frame
from .histories import COMPACTIONS, CONDITION, CUTS, Event, holds, in_any_order
from .reference import NONE_YET, Row
from .snapshot_join_reference import Pair, SnapshotReference


@dataclass
class SnapshotDriver(Driver):
    """A snapshot join, fed step by step."""

    def pairs(self, rows: Sequence[Arrived], watermark: int, clock: int) -> list[Pair]:
        placed = list(enumerate(rows))
        left, right = (frame(side, placed, self.hash_values) for side in (LEFT, RIGHT))
        output = self.take([left.drop(KIND), right], watermark, clock).output
        return list(output.select("l_payload", "r_payload").iter_rows())


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    """Rows of both sides and watermarks, in order of arrival. Changes of the right side are on
    time, early or late; some retract a row that came, in time or not, others one that never did.
    """
    history: list[Event] = []
    watermark = NONE_YET
    for payload in range(draw(st.integers(0, 28))):
        now = max(watermark, 0)
        if draw(st.integers(0, 3)) == 0:
            watermark = max(watermark, now + draw(st.integers(-2, 6)))
            history.append(watermark)
            continue
        side = draw(st.sampled_from([LEFT, RIGHT]))
        row = Row(draw(st.sampled_from(["a", "a", "b", "c", None])), now, payload)
        if side == RIGHT:
            row = draw(changes(row, [e.row for e in history if isinstance(e, Arrived) and e.side]))
        history.append(Arrived(side, row, watermark))
    return history


@st.composite
def changes(draw: st.DrawFn, row: Row, before: list[Row]) -> Row:
    row = replace(row, time=row.time + draw(st.integers(-4, 6)))
    row = replace(row, kind=draw(st.sampled_from(["+I", "+I", "+U", "-U", "-D"])))
    if before and row.kind in ("-U", "-D", "+U"):
        row = replace(draw(st.sampled_from(before)), time=row.time, kind=row.kind)
    return row


RETENTIONS = st.sampled_from([None, (2, 3), (4, 6), (0, 5)])


@given(
    histories(),
    CUTS,
    st.lists(st.integers(0, 4), min_size=30, max_size=30),
    st.sampled_from(["inner", "left"]),
    st.sampled_from([None, 1, 5, 9]),
    RETENTIONS,
    st.booleans(),
    st.integers(-1, 15),
    COMPACTIONS,
)
@searched(80)
def test_every_left_row_sees_what_is_visible(
    history: list[Event],
    cuts: list[str],
    pauses: list[int],
    how: str,
    idle: int | None,
    retention: tuple[int, int] | None,
    conditional: bool,
    until: int,
    compaction: object,
) -> None:
    kernel = SnapshotJoinKernel(
        ("l_key",),
        JoinInput(("r_key",), retracts=True),
        until,
        how=how,  # type: ignore[arg-type]
        idle_ms=idle,
        condition=CONDITION if conditional else None,
        retention=Retention(*retention) if retention else None,
        compaction=compaction,  # type: ignore[arg-type]
    )
    reference = SnapshotReference(until, how, idle, retention=retention)
    if conditional:
        reference.condition = holds
    driver, clock, since = SnapshotDriver(kernel), 0, list[Event]()
    cuts = [*cuts[: len(history)], "cut"]
    for event, cut, pause in zip([*history, AFTER_ALL], cuts, pauses, strict=False):
        since.append(event)
        if cut == "no cut":
            continue
        clock += pause
        expected = reference.tick(clock, quiet=_is_quiet(since, reference.watermark))
        for one in _as_seen(since):
            if isinstance(one, int):
                expected += reference.advance(one)
            else:
                taken = reference.left if one.side == LEFT else reference.right
                expected += taken(one.row)
        watermark = max((e for e in since if isinstance(e, int)), default=NONE_YET)
        rows = [e for e in since if isinstance(e, Arrived)]

        pairs = driver.pairs(rows, watermark, clock)

        assert in_any_order(pairs) == in_any_order(expected)
        # Left rows keep their order.
        assert _without_repeats(pairs) == _without_repeats(expected)
        since = []
        if cut == "restart":
            driver.restart()
    assert driver.next_event_time is None
    assert driver.state.queue("held").height == driver.state.queue("changes").height == 0


def _as_seen(events: list[Event]) -> list[Event]:
    """A step does not see a watermark that no row comes after: only the next one."""
    later = [*events[1:], None]
    pairs = zip(events, later, strict=True)
    return [one for one, next_ in pairs if not (isinstance(one, int) and isinstance(next_, int))]


def _is_quiet(events: list[Event], watermark: int) -> bool:
    return all(
        event <= watermark if isinstance(event, int) else event.side == LEFT for event in events
    )


def _without_repeats(pairs: Sequence[Pair]) -> list[int]:
    return list(dict.fromkeys(payload for payload, _ in pairs))


@given(histories(), st.sampled_from(["inner", "left"]), st.integers(1, 5))
@searched(30)
def test_a_batch_joins_with_the_final_table_in_pieces_too(
    history: list[Event], how: str, pairs_at_once: int
) -> None:
    rows = [replace(event, stamp=NONE_YET) for event in history if isinstance(event, Arrived)]
    reference = SnapshotReference(0, how)
    for one in rows:
        (reference.left if one.side == LEFT else reference.right)(one.row)
    expected = reference.advance(AFTER_ALL)
    right = JoinInput(("r_key",), retracts=True)
    kernel = SnapshotJoinKernel(("l_key",), right, 0, how=how)  # type: ignore[arg-type]
    driver = SnapshotDriver(kernel.limited(pairs_at_once))
    placed = list(enumerate(rows))
    left, changes = (frame(side, placed, 3) for side in (LEFT, RIGHT))

    step = driver.take([left.drop(KIND), changes], AFTER_ALL, 0)

    made = pl.concat([step.output, *(step.more or ())])
    assert in_any_order(list(made.select("l_payload", "r_payload").iter_rows())) == in_any_order(
        expected
    )
