"""The processing-time join against its row-at-a-time reference."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.segments import Compaction
from tidemark.kernels.temporal_join.clean_up import Retention
from tidemark.kernels.temporal_join.processing_time import ProcessingTimeTemporalJoinKernel

from .drive import LEFT, RIGHT, Arrived, Driver
from .reference import NONE_YET, Emitted, ProcessingTimeReference, Row

ROWS = st.tuples(
    st.sampled_from([LEFT, RIGHT]),
    st.sampled_from(["a", "b", "c", "d", None]),
    st.sampled_from(["+I", "+I", "+U", "-U", "-D"]),
)
# Rows that arrive together, how far the clock has moved before them, and a restart after.
BATCHES = st.lists(
    st.tuples(st.lists(ROWS, max_size=6), st.integers(0, 4), st.booleans()), max_size=8
)


@given(
    BATCHES,
    st.sampled_from(["inner", "left"]),
    st.sampled_from([None, (2, 3), (4, 6), (0, 5)]),
    st.integers(2, 4),
)
@searched(60)
def test_every_left_row_sees_what_arrived_before_it(
    batches: list[tuple[list[tuple[int, str | None, str]], int, bool]],
    how: str,
    retention: tuple[int, int] | None,
    fanout: int,
) -> None:
    kernel = ProcessingTimeTemporalJoinKernel(
        left_keys=("l_key",),
        right_keys=("r_key",),
        how=how,  # type: ignore[arg-type]
        retention=Retention(*retention) if retention else None,
        compaction=Compaction(fanout=fanout, smallest=1),
    )
    reference = ProcessingTimeReference(how=how)
    reference.clean_up.retention = retention
    driver = Driver(kernel)
    clock = payload = 0
    for rows, pause, restart in batches:
        clock += pause
        arrived = []
        for side, key, kind in rows:
            payload += 1
            arrived.append(Arrived(side, Row(key, 0, payload, kind)))
        reference.tick(clock)
        expected: list[Emitted] = []
        for one in arrived:
            expected += reference.left(one.row) if one.side == LEFT else reference.right(one.row)

        assert driver.step(arrived, NONE_YET, clock) == expected
        if restart:
            driver.restart()
    assert driver.step([], AFTER_ALL, clock) == []
