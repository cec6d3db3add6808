"""Windows as in the design: small tables with the answer next to each row."""

from __future__ import annotations

import polars as pl
import pytest

from tidemark.errors import NotSupported
from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, BEFORE_ALL, HASH, STAMP, TIME
from tidemark.kernels.state import State
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import (
    AggregateSpec,
    Assigner,
    CountSliding,
    Cumulating,
    Emit,
    Firing,
    Session,
    Sliding,
)

from .drive import CALLS, Driver

COUNT, SUM = CALLS["count"][0], CALLS["sum"][0]
EACH_ROW = Firing(each_row=True)


def drive(assigner: Assigner, *calls: AggregateSpec, **options) -> Driver:
    return Driver(WindowAggregateKernel(("k",), assigner, calls or (COUNT,), **options))


# --- the seed's example: HOP(rowtime, INTERVAL '4' SECOND, INTERVAL '20' SECOND) --------------

SEED = "A 1000, A 2000, A 3000, B 4000, C 2100, A 10000, A 13000"


def seed_windows() -> list[str]:
    """Per key and window start the rows that lie in [start, start + 20000)."""
    return [
        "A -16000 4000 3",
        "C -16000 4000 1",
        "A -12000 8000 3",
        "B -12000 8000 1",
        "C -12000 8000 1",
        "A -8000 12000 4",
        "B -8000 12000 1",
        "C -8000 12000 1",
        "A -4000 16000 5",
        "B -4000 16000 1",
        "C -4000 16000 1",
        "A 0 20000 5",
        "B 0 20000 1",
        "C 0 20000 1",
        "A 4000 24000 2",
        "B 4000 24000 1",
        "A 8000 28000 2",
        "A 12000 32000 1",
    ]


def test_the_seeds_hopping_windows_count_rows_per_key():
    hop = drive(Sliding(size=20000, slide=4000))

    assert sorted(hop.feed(SEED, watermark=AFTER_ALL)) == sorted(seed_windows())


def test_the_seeds_windows_are_emitted_in_the_order_of_their_ends():
    told = drive(Sliding(20000, 4000)).feed(SEED, watermark=AFTER_ALL)

    ends = [int(line.split()[2]) for line in told]
    assert ends == sorted(ends)


def test_the_seeds_answer_does_not_depend_on_batches():
    hop = drive(Sliding(20000, 4000))
    told = []
    for row in SEED.split(","):
        told += hop.feed(row)
        hop.restart()

    assert sorted(told + hop.feed(watermark=AFTER_ALL)) == sorted(seed_windows())


def test_a_row_at_10000_is_in_five_windows():
    told = drive(Sliding(20000, 4000)).feed("A 10000", watermark=AFTER_ALL)

    assert [line.split()[1] for line in told] == ["-8000", "-4000", "0", "4000", "8000"]


# --- firing and lateness ------------------------------------------------------------------------


def test_a_window_fires_when_the_watermark_reaches_its_last_millisecond():
    tumble = drive(Sliding(10, 10))

    assert tumble.feed("a 1, a 9, b 10", watermark=8) == []
    assert tumble.last.next_event_time == 9
    assert tumble.feed(watermark=9) == ["a 0 10 2"]
    assert tumble.last.next_event_time == 19


def test_a_row_behind_the_watermark_counts_as_long_as_its_window_is_open():
    tumble = drive(Sliding(10, 10))
    tumble.feed("a 7", watermark=8)

    assert tumble.feed("a 1", watermark=9) == ["a 0 10 2"]


def test_a_late_row_is_dropped_counted_and_shown():
    tumble = drive(Sliding(10, 10))
    tumble.feed("a 1", watermark=9)

    assert tumble.feed("a 5 42, a 12", watermark=20) == ["a 10 20 1"]
    assert tumble.late == 1
    assert tumble.last.late[0].select("k", "v", TIME, STAMP).rows() == [("a", 42, 5, 9)]


def test_a_row_counts_in_those_of_its_windows_that_have_not_fired():
    hop = drive(Sliding(20, 10))

    assert hop.feed("a 5", watermark=9) == ["a -10 10 1"]
    assert hop.feed("a 6", watermark=19) == ["a 0 20 2"]
    assert hop.late == 0


def test_windows_before_1970_are_aligned_like_all_others():
    tumble = drive(Sliding(10, 10))

    assert tumble.feed("a -1, a -10, a -11", watermark=0) == ["a -20 -10 1", "a -10 0 2"]


def test_rows_between_windows_are_in_none_and_are_not_late():
    hop = drive(Sliding(size=4, slide=10))

    assert hop.feed("a 3, a 4, a 9, a 10", watermark=AFTER_ALL) == ["a 0 4 1", "a 10 14 1"]
    assert hop.late == 0


def test_cumulating_windows_are_emitted_step_by_step_even_without_new_rows():
    cumulate = drive(Cumulating(size=12, step=4))

    assert cumulate.feed("a 5, a 11", watermark=30) == ["a 0 8 1", "a 0 12 2"]


def test_null_is_a_key_of_its_own():
    tumble = drive(Sliding(10, 10), SUM)

    assert tumble.feed("null 1 5, null 2, a 3", watermark=9) == ["- 0 10 5", "a 0 10 -"]


# --- sessions ---------------------------------------------------------------------------------


def test_rows_exactly_one_gap_apart_are_one_session():
    session = drive(Session(5))

    assert session.feed("a 0, a 5, b 0, b 6", watermark=AFTER_ALL) == [
        "b 0 5 1",
        "a 0 10 2",
        "b 6 11 1",
    ]


def test_a_bridging_row_makes_one_session_of_two_across_batches():
    session = drive(Session(5))
    session.feed("a 0 1, a 8 2", watermark=2)
    session.restart()
    session.feed("a 4 3", watermark=3)

    assert session.feed(watermark=11) == []
    assert session.feed(watermark=12) == ["a 0 13 3"]


def test_a_row_behind_the_watermark_joins_a_session_that_is_still_open():
    # Flink 2.3, group-window/session_late_extends, times in seconds behind 10:00.
    session = drive(Session(5000), COUNT, SUM)
    steps = [
        ("a 0 1", -5000),
        ("a 4000 2", -1000),
        ("z 13000 3", 8000),
        ("a 1000 4", 8000),
        ("a 7000 5", 8000),
        ("b 1000 6", 8000),
        ("b 3000 7", 8000),
        ("b 3001 8", 8000),
        ("d 3002 12", 8000),
        ("a 3000 9", 8000),
        ("z 40000 10", 35000),
        ("a 12000 11", 35000),
    ]
    told, late = [], 0
    for row, watermark in steps:
        told += session.feed(row, watermark=watermark)
        late += session.late

    assert sorted(told + session.feed(watermark=AFTER_ALL)) == [
        "a 0 12000 5 21",
        "d 3002 8002 1 12",
        "z 13000 18000 1 3",
        "z 40000 45000 1 10",
    ]
    assert late == 4


# --- early and late results -------------------------------------------------------------------


def test_every_row_emits_its_window_and_the_end_adds_nothing():
    # Flink 2.3, emit/early_tumble, times in seconds behind 10:00; all rows in one batch.
    tumble = drive(Sliding(10, 10), COUNT, SUM, emit=Emit(early=EACH_ROW))

    assert tumble.feed("a 1 1, b 2 2, a 5 3, a 11 4, a 9 5, b 13 6", watermark=AFTER_ALL) == [
        "a 0 10 1 1 +I",
        "b 0 10 1 2 +I",
        "a 0 10 1 1 -U",
        "a 0 10 2 4 +U",
        "a 10 20 1 4 +I",
        "a 0 10 2 4 -U",
        "a 0 10 3 9 +U",
        "b 10 20 1 6 +I",
    ]


def test_a_row_emits_its_latest_window_first():
    # Flink 2.3, emit/early_hop.
    hop = drive(Sliding(10, 5), emit=Emit(early=EACH_ROW))

    assert hop.feed("a 1, a 5") == [
        "a 0 10 1 +I",
        "a -5 5 1 +I",
        "a 5 15 1 +I",
        "a 0 10 1 -U",
        "a 0 10 2 +U",
    ]


def test_a_row_that_does_not_change_the_result_emits_nothing():
    tumble = drive(Sliding(10, 10), SUM, emit=Emit(early=EACH_ROW))

    assert tumble.feed("a 1 5, a 2 0, a 3") == ["a 0 10 5 +I"]


def test_late_rows_update_a_window_until_lateness_has_passed():
    tumble = drive(Sliding(10, 10), emit=Emit(late=EACH_ROW), lateness_ms=5)

    assert tumble.feed("a 1", watermark=9) == ["a 0 10 1 +I"]
    assert tumble.feed("a 2", watermark=13) == ["a 0 10 1 -U", "a 0 10 2 +U"]
    assert tumble.feed("b 3", watermark=14) == ["b 0 10 1 +I"]
    assert tumble.feed("a 4") == []
    assert tumble.late == 1


def test_lateness_without_late_results_changes_nothing():
    # Flink 2.3: `allow-lateness` has no effect unless late fire is enabled.
    tumble = drive(Sliding(10, 10), emit=Emit(early=EACH_ROW), lateness_ms=100)
    tumble.feed("a 1", watermark=9)

    assert tumble.feed("a 2") == []
    assert tumble.late == 1


def test_with_delay_the_clock_asks_from_the_first_row_on():
    tumble = drive(Sliding(10, 10), emit=Emit(early=Firing(every_ms=60)))

    assert tumble.feed("a 1", at=1000) == []
    assert tumble.feed("a 2", at=1059) == []
    assert tumble.feed("a 3", at=1060) == ["a 0 10 2 +I"]
    assert tumble.feed(at=1120) == ["a 0 10 2 -U", "a 0 10 3 +U"]
    assert tumble.feed("a 4", at=1130, watermark=9) == ["a 0 10 3 -U", "a 0 10 4 +U"]


def test_a_call_for_an_early_result_says_nothing_of_late_rows():
    both = Emit(early=Firing(every_ms=60), late=Firing(every_ms=100))
    tumble = drive(Sliding(10, 10), emit=both, lateness_ms=50)
    tumble.feed("a 1", at=1000)
    tumble.feed(watermark=9, at=1010)
    tumble.feed("a 2", at=1020)

    assert tumble.feed(at=1060) == []
    assert tumble.feed(at=1120) == ["a 0 10 1 -U", "a 0 10 2 +U"]


def test_a_window_whose_rows_are_all_retracted_is_deleted():
    tumble = drive(Sliding(10, 10), SUM, emit=Emit(early=EACH_ROW), retracts=True)

    assert tumble.feed("a 1 5, a 1 5 -D, a 2 7") == [
        "a 0 10 5 +I",
        "a 0 10 5 -D",
        "a 0 10 7 +I",
    ]


def test_a_window_without_remaining_rows_is_not_emitted():
    tumble = drive(Sliding(10, 10), retracts=True)

    assert tumble.feed("a 1, a 1 null -D, b 2", watermark=9) == ["b 0 10 1 +I"]


# --- by the clock, by count ----------------------------------------------------------------------


def test_windows_of_processing_time_follow_the_clock_and_no_row_is_late():
    tumble = drive(Sliding(10, 10), processing_time=True)

    assert tumble.feed("a 999", at=1003) == []
    assert tumble.feed("a 1, b 2", at=1009) == []
    assert tumble.feed("a 5", at=1010) == ["a 1000 1010 2", "b 1000 1010 1"]
    assert tumble.late == 0
    assert tumble.feed(at=1025) == ["a 1010 1020 1"]


def test_sessions_of_processing_time_end_when_no_row_arrives_for_a_gap():
    session = drive(Session(10), processing_time=True)

    session.feed("a 0", at=1000)
    assert session.feed("a 0", at=1009) == []
    assert session.feed(at=1018) == []
    assert session.feed(at=1019) == ["a 1000 1019 2"]


def test_windows_of_processing_time_end_with_their_input():
    tumble = drive(Sliding(10, 10), processing_time=True)

    assert tumble.feed("a 0", at=3, watermark=AFTER_ALL) == ["a 0 10 1"]


def test_a_count_window_is_emitted_when_it_is_full():
    rows = drive(CountSliding(size=3, slide=2), SUM)

    assert rows.feed("a 9 1, a 3 2, b 1 9") == []
    rows.restart()
    assert rows.feed("a 5 3, a 7 4, a 2 5") == ["a - - 6", "a - - 12"]


# --- refusals, state ------------------------------------------------------------------------------


@pytest.mark.parametrize("assigner", [Session(5), CountSliding(2, 2)])
def test_windows_whose_end_is_not_known_have_no_early_results(assigner):
    with pytest.raises(NotSupported, match="early and late results"):
        drive(assigner, emit=Emit(early=EACH_ROW))


def test_nothing_is_kept_of_closed_windows():
    for assigner in (Sliding(10, 10), Sliding(20, 5), Cumulating(20, 5), Session(5)):
        for emit in (Emit(), Emit(early=EACH_ROW, late=EACH_ROW)):
            if isinstance(assigner, Session) and emit.early:
                continue
            windows = drive(assigner, emit=emit, lateness_ms=10)
            windows.feed("a 1, b 2, c 3", watermark=5)
            assert windows.state.height > 0
            windows.feed(watermark=1000)
            assert windows.state.height == 0


@pytest.mark.parametrize(
    ("assigner", "told"),
    [
        (Sliding(10, 10), [(2, 0, 10)]),
        (Sliding(10, 5), [(2, -5, 5), (2, 0, 10)]),
        (Session(8), [(2, 1, 10)]),
        (CountSliding(2, 1), [(2, None, None)]),
    ],
)
def test_windows_without_keys_are_one_group(assigner, told):
    kernel = WindowAggregateKernel((), assigner, (COUNT,))
    rows = pl.DataFrame({HASH: [0, 0], TIME: [1, 2], ARRIVAL: [0, 1], STAMP: [BEFORE_ALL] * 2})

    step = kernel.step(State(), [rows], 9, 0)

    assert step.output.rows() == told
