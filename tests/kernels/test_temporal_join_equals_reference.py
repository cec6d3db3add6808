"""The kernel against the row-at-a-time reference, over everything that can happen to rows."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.segments import Compaction
from tidemark.kernels.temporal_join.clean_up import Retention
from tidemark.kernels.temporal_join.event_time import TemporalJoinKernel

from .drive import LEFT, RIGHT, Arrived, Driver
from .reference import NONE_YET, Emitted, EventTimeReference, Row

MANY = searched(40)

KEYS = st.sampled_from(["a", "b", "c", "d", None])
TIMES = st.integers(-3, 12)  # few, so that times meet, and some lie before 1970
# What happens after each event; as long as the longest history, and a little more.
CUTS = st.lists(st.sampled_from(["no cut", "cut", "restart"]), min_size=28, max_size=28)
KINDS = st.sampled_from(["+I", "+I", "+U", "-U", "-D"])


@st.composite
def histories(draw: st.DrawFn) -> list[Arrived | int]:
    """Rows of both sides in their order of arrival, and watermarks (numbers) between them."""
    history: list[Arrived | int] = []
    watermark, payload = NONE_YET, 0
    for _ in range(draw(st.integers(0, 25))):
        what = draw(st.integers(0, 4))
        if what == 0 and not (history and isinstance(history[-1], int)):
            base = max(watermark, -4)
            watermark = draw(st.integers(base, base + 5))
            history.append(watermark)
            continue
        payload += 1
        row = Row(draw(KEYS), draw(TIMES), payload, draw(KINDS))
        history.append(Arrived(LEFT if what <= 2 else RIGHT, row, watermark))
    return history


def joins() -> st.SearchStrategy[tuple[TemporalJoinKernel, EventTimeReference]]:
    return st.builds(
        _pair,
        how=st.sampled_from(["inner", "left"]),
        update_before=st.sampled_from(["ignored", "ends version"]),
        drops_late=st.booleans(),
        compaction=st.builds(Compaction, fanout=st.integers(2, 4), smallest=st.integers(1, 4)),
    )


def _pair(
    how: str, update_before: str, drops_late: bool, compaction: Compaction
) -> tuple[TemporalJoinKernel, EventTimeReference]:
    kernel = TemporalJoinKernel(
        left_keys=("l_key",),
        right_keys=("r_key",),
        how=how,  # type: ignore[arg-type]
        update_before=update_before,  # type: ignore[arg-type]
        drops_late=drops_late,
        compaction=compaction,
    )
    return kernel, EventTimeReference(how, update_before, drops_late)


def row_by_row(reference: EventTimeReference, history: Sequence[Arrived | int]) -> list[Emitted]:
    return feed(reference, [*history, AFTER_ALL])


def feed(reference: EventTimeReference, events: Sequence[Arrived | int]) -> list[Emitted]:
    out = []
    for event in events:
        if isinstance(event, int):
            out += reference.advance(event)
        elif event.side == LEFT:
            out += reference.left(event.row)
        else:
            out += reference.right(event.row)
    return out


def by_key(
    history: Sequence[Arrived | int], emitted: Sequence[Emitted]
) -> dict[object, list[Emitted]]:
    """What came out per key and in order; between keys there is none."""
    key_of = {e.row.payload: e.row.key for e in history if isinstance(e, Arrived)}
    result = defaultdict(list)
    for row in emitted:
        result[key_of[row[0]]].append(row)
    return dict(result)


@given(joins(), histories(), CUTS)
@MANY
def test_stamped_rows_join_as_they_do_one_by_one(
    join: tuple[TemporalJoinKernel, EventTimeReference],
    history: list[Arrived | int],
    cuts: list[str],
) -> None:
    kernel, reference = join
    driver = Driver(kernel)
    emitted: list[Emitted] = []
    rows: list[Arrived] = []
    watermark = NONE_YET
    for event, cut in zip(history, cuts, strict=False):
        if isinstance(event, int):
            watermark = event
        else:
            rows.append(event)
        if cut == "no cut":
            continue
        emitted += driver.step(rows, watermark)
        rows = []
        if cut == "restart":
            driver.restart()
    emitted += driver.step(rows, watermark)
    emitted += driver.step([], AFTER_ALL)

    assert by_key(history, emitted) == by_key(history, row_by_row(reference, history))
    assert driver.next_event_time is None
    assert driver.state.queue("waiting").height == 0


@given(joins(), histories())
@MANY
def test_a_kernel_called_only_when_it_asks_to_misses_nothing(
    join: tuple[TemporalJoinKernel, EventTimeReference], history: list[Arrived | int]
) -> None:
    kernel, reference = join
    driver = Driver(kernel)
    emitted: list[Emitted] = []
    for event in history:
        if isinstance(event, Arrived):
            emitted += driver.step([event], event.stamp)
        elif driver.next_event_time is not None and driver.next_event_time <= event:
            emitted += driver.step([], event)
    if driver.next_event_time is not None:
        emitted += driver.step([], AFTER_ALL)

    assert by_key(history, emitted) == by_key(history, row_by_row(reference, history))


@st.composite
def clocks(draw: st.DrawFn) -> list[int]:
    """The time of day after each event of a history."""
    return list(accumulate(draw(st.lists(st.integers(0, 4), min_size=28, max_size=28))))


@given(joins(), histories(), CUTS, clocks(), st.sampled_from([(2, 3), (4, 6), (0, 5)]))
@MANY
def test_idle_keys_expire_at_the_same_moment(
    join: tuple[TemporalJoinKernel, EventTimeReference],
    history: list[Arrived | int],
    cuts: list[str],
    clock: list[int],
    retention: tuple[int, int],
) -> None:
    kernel = replace(join[0], retention=Retention(*retention))
    reference = join[1]
    reference.clean_up.retention = retention
    driver = Driver(kernel)
    emitted: list[Emitted] = []
    expected: list[Emitted] = []
    rows: list[Arrived | int] = []
    # All rows of a step come at one time of the day.
    for event, cut, now in zip([*history, AFTER_ALL], [*cuts, "cut"], clock, strict=False):
        rows.append(event)
        if cut == "no cut" and event != AFTER_ALL:
            continue
        watermark = max([e for e in rows if isinstance(e, int)], default=NONE_YET)
        emitted += driver.step([e for e in rows if isinstance(e, Arrived)], watermark, now)
        reference.tick(now)
        expected += feed(reference, rows)
        rows = []
        if cut == "restart":
            driver.restart()

    assert by_key(history, emitted) == by_key(history, expected)
    if reference.clean_up.timers:
        assert driver.state.queue("clean_ups").next is not None
