"""The regular join, step by step."""

from __future__ import annotations

import pytest

from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.regular_join.kernel import RegularJoinKernel
from tidemark.kernels.regular_join.lifetimes import JoinInput

from .regular_join_reference import LEFT, RIGHT, Row
from .test_regular_join_equals_reference import RegularDriver

APPENDS = JoinInput(("l_key",)), JoinInput(("r_key",))
CHANGES = JoinInput(("l_key",), retracts=True), JoinInput(("r_key",), retracts=True)


class Told(RegularDriver):
    """A join whose rows are written as "key value [kind]", several in a step with commas."""

    def left(self, text: str, clock: int = 0) -> list[str]:
        return self._told(LEFT, text, clock)

    def right(self, text: str, clock: int = 0) -> list[str]:
        return self._told(RIGHT, text, clock)

    def _told(self, side: int, text: str, clock: int) -> list[str]:
        told = self.feed([_row(side, line) for line in text.split(",")], clock)
        return [f"{kind} {_shown(left)} {_shown(right)}" for left, right, kind in told]


def _row(side: int, line: str) -> Row:
    key, value, *kind = line.split()
    return Row(side, None if key == "null" else key, int(value), int(value), *kind)


def _shown(value: int | None) -> str:
    return "-" if value is None else str(value)


def test_rows_match_however_old_they_are():
    join = Told(RegularJoinKernel(*APPENDS))

    assert join.left("a 1") == []
    assert join.right("b 11") == []
    assert join.right("a 12") == ["+I 1 12"]
    join.restart()
    assert join.left("a 2, b 3") == ["+I 2 12", "+I 3 11"]


def test_a_row_is_padded_until_its_first_match():
    join = Told(RegularJoinKernel(*APPENDS, how="left"))

    assert join.left("a 1") == ["+I 1 -"]
    assert join.right("a 11") == ["-D 1 -", "+I 1 11"]
    assert join.right("a 12") == ["+I 1 12"]
    assert join.left("a 2") == ["+I 2 11", "+I 2 12"]


def test_a_row_is_padded_again_when_its_last_match_is_retracted():
    join = Told(RegularJoinKernel(*CHANGES, how="full"))

    assert join.left("a 1") == ["+I 1 -"]
    assert join.right("a 11, a 12") == ["-D 1 -", "+I 1 11", "+I 1 12"]
    assert join.right("a 11 -D") == ["-D 1 11"]
    assert join.right("a 12 -U") == ["-D 1 12", "+I 1 -"]
    assert join.left("a 1 -D") == ["-D 1 -"]
    assert join.right("a 13 +U") == ["+I - 13"]
    assert join.state.height <= 3


def test_everything_within_one_step_is_emitted_too():
    join = Told(RegularJoinKernel(*CHANGES, how="left"))

    assert join.left("a 1, a 1 -D, a 2") == ["+I 1 -", "-D 1 -", "+I 2 -"]
    assert join.right("a 11, a 11 -D") == ["-D 2 -", "+I 2 11", "-D 2 11", "+I 2 -"]


@pytest.mark.parametrize(
    ("how", "kinds"), [("inner", ["-U", "+U"]), ("left", ["-U", "+I"]), ("right", ["-D", "+I"])]
)
def test_kinds_of_updates_pass_where_nothing_is_padded(how, kinds):
    """A left join's right side: its retractions keep their kind, its additions do not."""
    join = Told(RegularJoinKernel(*CHANGES, how=how))
    join.left("a 1")
    join.left("a 1")
    join.right("a 11, a 12")

    told = join.right("a 11 -U, a 13 +U")

    assert [line[:2] for line in told] == [kinds[0]] * 2 + [kinds[1]] * 2


def test_equal_rows_are_there_as_often_as_they_came():
    join = Told(RegularJoinKernel(*CHANGES, how="right"))

    assert join.right("a 11") == ["+I - 11"]
    assert join.left("a 1, a 1") == ["-D - 11", "+I 1 11", "+I 1 11"]
    assert join.left("a 1 -D") == ["-D 1 11"]
    assert join.left("a 1 -D") == ["-D 1 11", "+I - 11"]


def test_a_delete_without_its_row_still_retracts_the_pairs():
    """As in Flink: this only happens if the input is wrong already, or if state has expired."""
    join = Told(RegularJoinKernel(*CHANGES))

    assert join.right("a 11") == []
    assert join.left("a 1 -D, b 7 -D") == ["-D 1 11"]


def test_a_repeated_key_silently_replaces_its_row():
    unique = JoinInput(("l_key",), unique=("l_name",))
    join = Told(RegularJoinKernel(unique, APPENDS[1], how="left"))

    assert join.left("a 1") == ["+I 1 -"]
    assert join.right("a 11") == ["-D 1 -", "+I 1 11"]
    assert join.left("a 1") == ["+I 1 11"]
    assert join.right("a 12") == ["+I 1 12"]


def test_null_keys_match_nothing_and_are_not_kept():
    join = Told(RegularJoinKernel(*CHANGES, how="full"))

    assert join.left("null 1") == ["+I 1 -"]
    assert join.right("null 11") == ["+I - 11"]
    assert join.left("null 1 -D") == ["-D 1 -"]
    assert join.state.height == 0


def test_null_keys_match_where_null_equals_null():
    join = Told(RegularJoinKernel(*APPENDS, nulls_equal=(True,)))

    join.left("null 1")

    assert join.right("null 11") == ["+I 1 11"]


def test_semi_and_anti_joins_give_each_left_row_once():
    semi, anti = (
        Told(RegularJoinKernel(*CHANGES, how="semi")),
        Told(RegularJoinKernel(*CHANGES, how="anti")),
    )

    assert (semi.left("a 1"), anti.left("a 1")) == ([], ["+I 1 -"])
    assert (semi.right("a 11 +U"), anti.right("a 11 +U")) == (["+U 1 -"], ["-D 1 -"])
    assert (semi.right("a 12"), anti.right("a 12")) == ([], [])
    assert (semi.left("a 2 +U"), anti.left("a 2 +U")) == (["+U 2 -"], [])
    assert (semi.right("a 11 -D, a 12 -U"), anti.right("a 11 -D, a 12 -U")) == (
        ["-U 1 -", "-U 2 -"],
        ["+I 1 -", "+I 2 -"],
    )


def test_a_row_expires_some_time_after_it_was_written():
    join = Told(RegularJoinKernel(*APPENDS, how="left", ttls=(100, 100)))

    assert join.left("a 1", clock=0) == ["+I 1 -"]
    assert join.right("a 11", clock=60) == ["-D 1 -", "+I 1 11"]  # both until 160
    assert join.left("a 2", clock=150) == ["+I 2 11"]  # until 250
    assert join.right("a 12", clock=170) == ["+I 2 12"]
    assert join.state.height > 0
    join.feed([], 300)
    assert join.state.height == 0


def test_each_side_may_expire_in_its_own_time():
    join = Told(RegularJoinKernel(*APPENDS, how="left", ttls=(None, 100)))

    assert join.right("a 11", clock=0) == []
    assert join.left("a 1", clock=99) == ["+I 1 11"]
    assert join.left("a 2", clock=100) == ["+I 2 -"]
    assert join.right("a 12", clock=9999) == ["+I 1 12", "-D 2 -", "+I 2 12"]


def test_at_the_end_of_a_batch_only_the_final_result_is_emitted():
    join = Told(RegularJoinKernel(*CHANGES, how="left", at_end=True))
    rows = ["a 1", "b 2", "b 2 -D", "c 3"]

    told = join.feed(
        [*(_row(LEFT, r) for r in rows), _row(RIGHT, "a 11"), _row(RIGHT, "a 11 -D"),
         _row(RIGHT, "a 12"), _row(RIGHT, "d 13")], watermark=AFTER_ALL,
    )  # fmt: skip

    assert sorted(told, key=str) == [(1, 12, "+I"), (3, None, "+I")]


def test_state_holds_what_is_there_however_often_it_changes():
    join = RegularDriver(RegularJoinKernel(*CHANGES, how="full"))
    for number in range(60):
        rows = [Row(LEFT, chr(97 + n % 26), n, n) for n in range(400)]
        join.feed(
            rows if number % 2 == 0 else [Row(r.side, r.key, r.name, r.value, "-D") for r in rows]
        )

    assert join.state.height <= 5 * 400
