"""Windows compared with Flink 2.3: recorded cases, each row with its own watermark."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from tidemark.kernels.columns import AFTER_ALL, BEFORE_ALL, KIND
from tidemark.kernels.state import State
from tidemark.kernels.windows.aggregate import WindowAggregateKernel
from tidemark.kernels.windows.spec import WINDOW_END, WINDOW_START

from .recorded import RECORDED, Recorded, milliseconds

OURS = {"op": KIND, "ws": WINDOW_START, "window_start": WINDOW_START}
OURS |= {"we": WINDOW_END, "window_end": WINDOW_END}


@pytest.mark.parametrize("batch", [2, 1000])
@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.case)
def test_flinks_answer_however_rows_are_cut_into_batches(recorded: Recorded, batch: int):
    case = recorded.recorded()
    told = answer(recorded, batch)
    expected = [
        {"op": line["op"], **line["row"]} if "op" in line else line for line in case["expected"]
    ]
    if case["compare"] == "materialized":
        told = told.filter(pl.col(KIND).is_in(["+I", "+U"]))
        told = told.unique([*recorded.keys, WINDOW_START], keep="last")
    columns = [(name, OURS.get(name, name)) for name in expected[0]]
    columns = [(name, ours) for name, ours in columns if ours in told.columns]
    assert {call.output for call in recorded.calls} <= {ours for _, ours in columns}

    ours = [[row[name] for _, name in columns] for row in told.iter_rows(named=True)]
    theirs = [[converted(row[name], mine) for name, mine in columns] for row in expected]
    if case["compare"] == "changelog":
        key = [index for index, (name, _) in enumerate(columns) if name in case["key"]]
    else:
        key = list(range(len(columns)))
    assert len(ours) == len(theirs)
    for our, their in zip(by(key, ours), by(key, theirs), strict=True):
        assert all(same(a, b) for a, b in zip(our, their, strict=True)), (our, their)


def answer(recorded: Recorded, batch: int) -> pl.DataFrame:
    kernel = WindowAggregateKernel(
        recorded.keys, recorded.assigner, recorded.calls, recorded.emit, recorded.lateness_ms
    )
    rows, told, state = recorded.rows(), [], State()
    for start in range(0, rows.height, batch):
        step = kernel.step(state, [rows[start : start + batch]], BEFORE_ALL, 0)
        told, state = [*told, step.output], step.state
    return pl.concat([*told, kernel.step(state, [rows.clear()], AFTER_ALL, 0).output])


def by(key: list[int], rows: list[list[Any]]) -> list[list[Any]]:
    """The rows of each key together, in their order."""
    return sorted(rows, key=lambda row: [str(row[index]) for index in key])


def converted(value: Any, column: str) -> Any:
    return milliseconds(value) if column in (WINDOW_START, WINDOW_END) else value


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and theirs is not None:
        return ours == pytest.approx(theirs, rel=1e-6)
    return str(ours) == str(theirs)
