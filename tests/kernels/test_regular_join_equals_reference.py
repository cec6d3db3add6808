"""The regular join against its row-at-a-time reference, over all that can happen to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from tests.searching import searched
from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, HASH, KIND, STAMP, TIME
from tidemark.kernels.protocol import Metrics
from tidemark.kernels.regular_join.kernel import RegularJoinKernel
from tidemark.kernels.regular_join.lifetimes import JoinInput
from tidemark.kernels.state import State

from .drive import restarted
from .histories import COMPACTIONS, CUTS, HOWS, in_any_order
from .reference import NONE_YET
from .regular_join_reference import LEFT, RIGHT, RegularReference, Row, Told

MANY = searched(25)

CONDITION = (pl.col("l_value") + pl.col("r_value")) % 3 != 0


def holds(left: Row, right: Row) -> bool:
    return (left.value + right.value) % 3 != 0


@dataclass
class RegularDriver:
    """A regular join with its state, fed step by step."""

    kernel: RegularJoinKernel
    state: State = field(default_factory=State)
    metrics: Metrics | None = None

    def feed(self, rows: Sequence[Row], clock: int = 0, watermark: int = NONE_YET) -> list[Told]:
        output = self._step(rows, clock, watermark)
        if "r_value" not in output.columns:
            output = output.with_columns(pl.lit(None, pl.Int32).alias("r_value"))
        return list(output.select("l_value", "r_value", KIND).iter_rows())

    def only(self, rows: Sequence[Row], name: str) -> list[int | None]:
        """The values of the only column that a batch of these rows emits."""
        return list(self._step(rows, 0, AFTER_ALL).drop(KIND)[name])

    def _step(self, rows: Sequence[Row], clock: int, watermark: int) -> pl.DataFrame:
        inputs = [self._frame(side, rows) for side in (LEFT, RIGHT)]
        step = self.kernel.step(self.state, inputs, watermark, clock)
        self.state, self.metrics = step.state, step.metrics
        return step.output

    def _frame(self, side: int, rows: Sequence[Row]) -> pl.DataFrame:
        mine = [(place, row) for place, row in enumerate(rows) if row.side == side]
        # So few hashes that different keys must be told apart by more than that.
        hashes = [0 if row.key is None else ord(row.key) % 3 for _, row in mine]
        name = "lr"[side]
        columns: dict[str, tuple[list[Any], Any]] = {
            f"{name}_key": ([row.key for _, row in mine], pl.String),
            f"{name}_name": ([row.name for _, row in mine], pl.Int32),
            f"{name}_value": ([row.value for _, row in mine], pl.Int32),
            KIND: ([row.kind for _, row in mine], pl.String),
            HASH: (hashes, pl.Int64),
            TIME: ([0] * len(mine), pl.Int64),
            ARRIVAL: ([place for place, _ in mine], pl.Int64),
            STAMP: ([NONE_YET] * len(mine), pl.Int64),
        }
        made = pl.DataFrame([pl.Series(n, v, t) for n, (v, t) in columns.items()])
        input_ = (self.kernel.left, self.kernel.right)[side]
        return made if input_.retracts else made.drop(KIND)

    def restart(self) -> None:
        self.state = restarted(self.state)


@st.composite
def inputs(draw: st.DrawFn, side: int) -> JoinInput:
    name = "lr"[side]
    unique = (f"{name}_name",) if draw(st.booleans()) else ()
    return JoinInput((f"{name}_key",), draw(st.booleans()), unique)


@st.composite
def joins(draw: st.DrawFn) -> tuple[RegularJoinKernel, RegularReference]:
    left, right = draw(inputs(LEFT)), draw(inputs(RIGHT))
    conditional = draw(st.booleans())
    kernel = RegularJoinKernel(
        left,
        right,
        how=draw(st.sampled_from(HOWS)),  # type: ignore[arg-type]
        condition=CONDITION if conditional else None,
        wanted=draw(st.sampled_from([(), ("l_value", "r_value")])),
        compaction=draw(COMPACTIONS),
    )
    reference = RegularReference(kernel.how, (bool(left.unique), bool(right.unique)))
    if conditional:
        reference.condition = holds
    return kernel, reference


@st.composite
def histories(draw: st.DrawFn, kernel: RegularJoinKernel) -> list[Row]:
    """Rows come, are updated and taken back; equal ones come again, and some are taken back that
    never came."""
    history: list[Row] = []
    for _ in range(draw(st.integers(0, 30))):
        side = draw(st.sampled_from([LEFT, RIGHT]))
        key = draw(st.sampled_from(["a", "a", "b", "d", None]))
        row = Row(side, key, draw(st.integers(0, 2)), draw(st.integers(0, 2)))
        mine = [r for r in history if r.side == side]
        if (kernel.left, kernel.right)[side].retracts:
            row = replace(row, kind=draw(st.sampled_from(["+I", "+U", "-U", "-D", "-D"])))
            if not row.adds and mine and draw(st.integers(0, 5)):
                row = replace(draw(st.sampled_from(mine)), kind=row.kind)
        history.append(row)
    return history


@given(st.data(), joins(), CUTS)
@MANY
def test_rows_join_as_they_do_one_by_one(
    data: st.DataObject, join: tuple[RegularJoinKernel, RegularReference], cuts: list[str]
) -> None:
    kernel, reference = join
    history = data.draw(histories(kernel))
    driver = RegularDriver(kernel)
    step: list[Row] = []
    for row, cut in zip(history, [*cuts[: len(history) - 1], "cut"], strict=False):
        step.append(row)
        if cut == "no cut":
            continue
        assert driver.feed(step) == [told for r in step for told in reference.arrive(r)]
        step = []
        if cut == "restart":
            driver.restart()


TTLS = st.none() | st.integers(1, 9)


@given(st.data(), joins(), st.tuples(TTLS, TTLS))
@MANY
def test_rows_expire_some_time_after_they_were_last_written(
    data: st.DataObject,
    join: tuple[RegularJoinKernel, RegularReference],
    ttls: tuple[int | None, int | None],
) -> None:
    kernel, reference = replace(join[0], ttls=ttls), replace(join[1], ttls=ttls)
    driver, clock = RegularDriver(kernel), 0
    for row in data.draw(histories(kernel)):
        clock += data.draw(st.integers(0, 3))
        assert driver.feed([row], clock) == reference.arrive(row, clock)
    driver.feed([], clock + 9)
    if None not in ttls:
        assert driver.state.height == 0


@given(st.data(), joins())
@MANY
def test_in_a_batch_only_what_is_left_in_the_end_is_joined(
    data: st.DataObject, join: tuple[RegularJoinKernel, RegularReference]
) -> None:
    kernel, reference = replace(join[0], at_end=True), join[1]
    history = data.draw(histories(kernel))
    for row in history:
        reference.arrive(row)

    told = RegularDriver(kernel).feed(history, watermark=AFTER_ALL)

    left_over = reference.left_in_the_end()
    assert in_any_order(told) == in_any_order(left_over)
    # All columns that are wanted may be of one side.
    if kernel.how not in ("semi", "anti"):
        only = RegularDriver(replace(kernel, wanted=("r_value",))).only(history, "r_value")
        assert in_any_order(only) == in_any_order([right for _, right, _ in left_over])


@given(st.data(), joins())
@MANY
def test_the_changes_add_up_to_the_result_if_only_existing_rows_are_retracted(
    data: st.DataObject, join: tuple[RegularJoinKernel, RegularReference]
) -> None:
    kernel, reference = join
    if kernel.left.unique or kernel.right.unique:
        return
    there: list[Row] = []
    history = []
    for row in data.draw(histories(kernel)):
        if not row.adds:
            came = replace(row, kind="+I")
            if came not in there:
                continue
            there.remove(came)
        else:
            there.append(replace(row, kind="+I"))
        history.append(row)
        reference.arrive(row)

    balance: list[tuple[int | None, int | None]] = []
    for left, right, kind in RegularDriver(kernel).feed(history):
        if kind in ("+I", "+U"):
            balance.append((left, right))
        else:
            balance.remove((left, right))

    left_over = [(left, right) for left, right, _ in reference.left_in_the_end()]
    assert in_any_order(balance) == in_any_order(left_over)


def test_cost_follows_the_keys_that_are_touched() -> None:
    kernel = RegularJoinKernel(JoinInput(("l_key",)), JoinInput(("r_key",), retracts=True), "left")
    driver = RegularDriver(kernel)
    driver.feed([Row(LEFT, chr(97 + number % 26), number, number) for number in range(2600)])
    before = {segment.id for segment in driver.state.segments()}

    told = driver.feed([Row(RIGHT, "a", 0, 0), Row(RIGHT, "a", 0, 0, "-D")])

    assert len(told) == 4 * 100
    # One of the hundred rows of the key, and those that had no partner before have none now.
    assert {segment.id for segment in driver.state.segments()} == before
