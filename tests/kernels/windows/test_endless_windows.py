"""Groups without an end, as GROUP BY without a window has them, and forgetting the idle ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import Emit, Firing, Given

from .drive import CALLS, Driver, frame, parse

EACH_ROW = Emit(early=Firing(each_row=True))
TOTAL = CALLS["sum"][0]


class Groups:
    """Rows of groups at processing times, and the results that are emitted."""

    def __init__(
        self,
        idle_ms: int | None = 10,
        *,
        retracts: bool = False,
        repeats: bool = False,
        upserts: bool = False,
    ) -> None:
        kernel = WindowAggregateKernel(
            ("k",),
            Given("s", "e", endless=True),
            (TOTAL,),
            EACH_ROW,
            retracts=retracts,
            idle_ms=idle_ms,
            repeats=repeats,
            upserts=upserts,
        )
        self.driver = Driver(kernel)

    def feed(self, rows: str = "", *, at: int, watermark: int = 0) -> list[str]:
        stamp = self.driver.state.watermark
        given = frame([(row, stamp) for row in parse(rows)], 3, self.driver.kernel.retracts)
        given = given.with_columns(s=0, e=2**62)
        step = self.driver.kernel.step(self.driver.state, [given], watermark, at)
        self.driver.state, self.driver.last = step.state, step
        told = step.output.select("k", TOTAL.output, "_tm_kind")
        return [" ".join(map(str, row)) for row in told.iter_rows()]

    @property
    def kept(self) -> int:
        return self.driver.state.keyed("windows").height


def test_group_is_kept_while_rows_keep_arriving():
    groups = Groups()

    assert groups.feed("a 0 1", at=0) == ["a 1 +I"]
    assert groups.feed("a 0 2", at=9) == ["a 1 -U", "a 3 +U"]
    assert groups.feed("a 0 3", at=18) == ["a 3 -U", "a 6 +U"]


def test_idle_group_begins_anew():
    groups = Groups()
    groups.feed("a 0 1, b 0 5", at=0)
    groups.feed("b 0 1", at=5)

    assert groups.feed("a 0 2, b 0 1", at=10) == ["a 2 +I", "b 6 -U", "b 7 +U"]


def test_idle_groups_expire_across_restarts():
    groups = Groups()
    groups.feed("a 0 1", at=0)
    groups.driver.restart()
    assert groups.feed("a 0 2", at=9) == ["a 1 -U", "a 3 +U"]
    groups.driver.restart()
    assert groups.feed("a 0 2", at=19) == ["a 2 +I"]


def test_state_of_idle_groups_expires():
    groups = Groups()
    groups.feed("a 0 1", at=0)
    assert groups.feed(at=9) == []
    assert groups.kept == 1

    assert groups.feed(at=10) == []
    assert groups.kept == 0


def test_same_result_is_emitted_again_so_that_it_does_not_expire_downstream():
    twice = "a 0 1, a 0 0"
    assert Groups(repeats=True).feed(twice, at=0) == ["a 1 +I", "a 1 -U", "a 1 +U"]
    assert Groups().feed(twice, at=0) == ["a 1 +I"]


def test_row_of_an_expired_group_cannot_be_retracted():
    groups = Groups(retracts=True)
    groups.feed("a 0 1, b 0 1", at=0)

    assert groups.feed("a 0 1 -D, a 0 7", at=10) == ["a 7 +I"]
    assert groups.feed("b 0 1 -D", at=20) == []
    assert groups.feed("b 0 4", at=21) == ["b 4 +I"]


def test_group_that_lost_all_its_rows_begins_anew():
    groups = Groups(retracts=True)

    assert groups.feed("a 0 1, a 0 1 -D", at=0) == ["a 1 +I", "a 1 -D"]
    assert groups.feed("a 0 1 -D", at=1) == []
    assert groups.feed("a 0 2", at=2) == ["a 2 +I"]


def test_the_end_of_the_input_emits_nothing_more():
    groups = Groups(idle_ms=None)

    assert groups.feed("a 0 1", at=0) == ["a 1 +I"]
    assert groups.driver.last.metrics.waiting == 0
    assert groups.feed("a 0 2", at=0, watermark=AFTER_ALL) == ["a 1 -U", "a 3 +U"]


def test_row_that_a_group_does_not_have_cannot_be_retracted():
    groups = Groups(idle_ms=None, retracts=True)

    assert groups.feed("a 0 5 -D, a 0 7", at=0) == ["a 7 +I"]
    # The row with 3 was there before the job began: with its end the group ends, and its sum.
    assert groups.feed("a 0 3 -D, a 0 2", at=0) == ["a 7 -D", "a 2 +I"]


CHANGES = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.sampled_from("+-")))


@given(CHANGES, st.integers(1, 9))
@searched(60)
def test_groups_end_with_their_last_row_however_rows_are_cut(changes, size):
    emitted = _emitted(Groups(idle_ms=None, retracts=True), changes, size)

    assert [*_last(emitted).items()] == [*_one_by_one(changes).items()]
    upserts = _emitted(Groups(idle_ms=None, retracts=True, upserts=True), changes, size)
    assert upserts == [one for one in emitted if not one.endswith("-U")]


def _emitted(groups: Groups, changes: list[tuple[str, int, str]], size: int) -> list[str]:
    """What comes out of the changes, so many of them in a step, with a restart after each."""
    emitted = []
    for start in range(0, len(changes), size):
        rows = ", ".join(
            f"{key} 0 {value}{' -D' if sign == '-' else ''}"
            for key, value, sign in changes[start : start + size]
        )
        emitted += groups.feed(rows, at=0)
        groups.driver.restart()
    return emitted


def _last(emitted: list[str]) -> dict[str, int]:
    """The results that a changelog leaves, by key."""
    results: dict[str, int] = {}
    for key, total, kind in map(str.split, emitted):
        results.pop(key, None)
        if kind in ("+I", "+U"):
            results[key] = int(total)
    return dict(sorted(results.items()))


def _one_by_one(changes: list[tuple[str, int, str]]) -> dict[str, int]:
    """The sums of groups that are removed with their last row."""
    groups: dict[str, tuple[int, int]] = {}
    for key, value, sign in changes:
        if sign == "-" and key not in groups:
            continue
        rows, total = groups.pop(key, (0, 0))
        step = 1 if sign == "+" else -1
        if rows + step:
            groups[key] = (rows + step, total + step * value)
    return {key: total for key, (_, total) in sorted(groups.items())}
