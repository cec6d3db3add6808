"""Windows beside what Flink 2.3 answered: recorded cases, each row with its own watermark."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml

from tidemark.kernels.columns import AFTER_ALL, ARRIVAL, BEFORE_ALL, HASH, KIND, STAMP, TIME
from tidemark.kernels.state import State
from tidemark.kernels.windows.aggregate import WindowAggregate
from tidemark.kernels.windows.spec import (
    NOTHING_BESIDES,
    WINDOW_END,
    WINDOW_START,
    Assigner,
    Call,
    Cumulating,
    Emit,
    Firing,
    Session,
    Sliding,
)

CASES = Path(__file__).parents[3] / "conformance" / "cases"
TYPES: dict[str, Any] = {
    "TINYINT": pl.Int8,
    "SMALLINT": pl.Int16,
    "INT": pl.Int32,
    "BIGINT": pl.Int64,
    "FLOAT": pl.Float32,
    "DOUBLE": pl.Float64,
    "STRING": pl.String,
    "BOOLEAN": pl.Boolean,
    "DECIMAL(6, 2)": pl.Decimal(6, 2),
}
I8, I16, I32, I64 = pl.Int8(), pl.Int16(), pl.Int32(), pl.Int64()
F32, F64, TEXT = pl.Float32(), pl.Float64(), pl.String()
SECOND, DAY = 1000, 86_400_000


@dataclass(frozen=True)
class Recorded:
    """A case and its query by hand: `delay` is that of the watermark, in seconds."""

    case: str
    assigner: Assigner
    delay: int
    calls: tuple[Call, ...]
    keys: tuple[str, ...] = ("k",)
    emit: Emit = NOTHING_BESIDES
    lateness_ms: int = 0

    def rows(self) -> pl.DataFrame:
        table = self.recorded()["tables"][0]
        columns = [line.strip().rstrip(",") for line in table["columns"].splitlines()]
        types = dict(line.split(" ", 1) for line in columns if not line.startswith("WATERMARK"))
        known = {name: TYPES[type_] for name, type_ in types.items() if type_ in TYPES}
        data = {
            name: pl.Series(name, [row[name] for row in table["rows"]]).cast(type_)
            for name, type_ in known.items()
        }
        time = pl.Series(TIME, [milliseconds(row["ts"]) for row in table["rows"]], pl.Int64)
        frame = pl.DataFrame(data).with_columns(time, pl.int_range(pl.len()).alias(ARRIVAL))
        # Flink's watermark begins at 0 and is there after the row that makes it.
        made = (pl.col(TIME) - self.delay * SECOND).cum_max()
        stamp = pl.when(made > 0).then(made).otherwise(BEFORE_ALL).shift(1, fill_value=BEFORE_ALL)
        key = pl.struct(self.keys).hash() if self.keys else pl.lit(0, pl.UInt64)
        hash_ = (key % 5).cast(pl.Int64).alias(HASH)
        conditions = [(pl.col("k") == "a").alias("is_a")] if "k" in frame.columns else []
        conditions += [(pl.col("v") > 2).alias("over_2")] if "v" in frame.columns else []
        return frame.with_columns(stamp.alias(STAMP), hash_, *conditions)

    def recorded(self) -> dict[str, Any]:
        text = (CASES / f"{self.case}.yaml").read_text()
        case = yaml.safe_load(text)
        assert isinstance(case, dict)
        return case


def milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def call(function: str, *arguments: str, to: str, type: pl.DataType = I64, **rest: Any) -> Call:
    return Call(function, arguments, to, type, **rest)


N, S = call("COUNT", to="n"), call("SUM", "v", to="s", type=I32)
NUMBERS = "abcdefg"
NUMBER_TYPES = dict(zip(NUMBERS, (I8, I16, I32, I64, None, F32, F64), strict=True))
SUMS = [call("SUM", c, to=f"s{c}", type=t) for c, t in NUMBER_TYPES.items() if t]
MEANS = [call("AVG", c, to=f"a{c}", type=t) for c, t in NUMBER_TYPES.items() if t]
DECIMALS = [
    call("SUM", "e", to="se", type=pl.Decimal(38, 2)),
    call("AVG", "e", to="ae", type=pl.Decimal(38, 6)),
]
EACH_ROW = Firing(each_row=True)

RECORDED = [
    Recorded(
        "group-window/many_rows_hop",
        Sliding(21 * SECOND, 7 * SECOND),
        3,
        (N, S, call("AVG", "x", to="ax", type=F64)),
    ),
    Recorded(
        "group-window/many_rows_session",
        Session(2 * SECOND),
        3,
        (N, S, call("MAX", "x", to="mx", type=F64)),
    ),
    Recorded("group-window/session_late_extends", Session(5 * SECOND), 5, (N, S)),
    Recorded(
        "group-window/negative_epoch",
        Sliding(10 * SECOND, 10 * SECOND),
        1,
        (N, call("MIN", "id", to="mi", type=I32)),
        keys=(),
    ),
    Recorded(
        "group-window/negative_epoch_hop",
        Sliding(7 * SECOND, 3 * SECOND),
        1,
        (N, call("MIN", "id", to="mi", type=I32), call("MAX", "id", to="ma", type=I32)),
        keys=(),
    ),
    Recorded(
        "group-window/result_types",
        Sliding(10 * SECOND, 10 * SECOND),
        0,
        (N, *SUMS, *MEANS, *DECIMALS),
        keys=(),
    ),
    Recorded(
        "group-window/sum_int_overflow",
        Sliding(10 * SECOND, 10 * SECOND),
        0,
        (call("SUM", "v", to="s", type=I32), call("SUM", "b", to="sb")),
        keys=(),
    ),
    Recorded(
        "group-window/distinct_aggregates",
        Sliding(30 * SECOND, 30 * SECOND),
        5,
        (
            call("COUNT", "v", to="cd", distinct=True),
            call("SUM", "v", to="sd", type=I32, distinct=True),
            call("AVG", "v", to="ad", type=I32, distinct=True),
            call("COUNT", "k", to="ck", distinct=True),
            call("COUNT", "v", to="cda", distinct=True, filter="is_a"),
            call("COUNT", "x", to="cx", distinct=True),
        ),
        keys=(),
    ),
    Recorded(
        "group-window/stddev_variance",
        Sliding(10 * SECOND, 10 * SECOND),
        0,
        (
            call("STDDEV_POP", "x", to="sp", type=F64),
            call("STDDEV_SAMP", "x", to="ss", type=F64),
            call("VAR_POP", "x", to="vp", type=F64),
            call("VAR_SAMP", "x", to="vs", type=F64),
            call("STDDEV_POP", "v", to="isp", type=I32),
            call("VAR_SAMP", "v", to="ivs", type=I32),
        ),
    ),
    Recorded(
        "group-window/first_last_value",
        Sliding(10 * SECOND, 10 * SECOND),
        5,
        (
            call("FIRST_VALUE", "id", to="fid", type=I32),
            call("LAST_VALUE", "id", to="lid", type=I32),
            call("FIRST_VALUE", "v", to="fv", type=I32),
            call("LAST_VALUE", "v", to="lv", type=I32),
            call("LAST_VALUE", "k", to="lk", type=TEXT),
        ),
        keys=(),
    ),
    Recorded(
        "window-tvf/many_rows_tumble",
        Sliding(10 * SECOND, 10 * SECOND),
        3,
        (
            N,
            S,
            call("AVG", "x", to="ax", type=F64),
            call("COUNT", "c", to="dc", distinct=True),
        ),
    ),
    Recorded("window-tvf/cumulate_agg", Cumulating(20 * SECOND, 5 * SECOND), 5, (N, S)),
    Recorded(
        "window-tvf/cumulate_offset",
        Cumulating(20 * SECOND, 5 * SECOND, 2 * SECOND),
        5,
        (N, call("MIN", "id", to="mi", type=I32), call("MAX", "id", to="ma", type=I32)),
        keys=(),
    ),
    Recorded(
        "window-tvf/hop_distinct",
        Sliding(20 * SECOND, 5 * SECOND),
        5,
        (
            call("COUNT", "k", to="dk", distinct=True),
            call("COUNT", "v", to="dv", distinct=True),
            call("COUNT", "c", to="dc", distinct=True, filter="over_2"),
        ),
        keys=(),
    ),
    Recorded("window-tvf/week_offset", Sliding(7 * DAY, 7 * DAY, 4 * DAY), 0, (N,), keys=()),
    Recorded(
        "window-tvf/tumble_offset",
        Sliding(10 * SECOND, 10 * SECOND, 3 * SECOND),
        5,
        (N,),
        keys=(),
    ),
    Recorded(
        "emit/early_tumble",
        Sliding(10 * SECOND, 10 * SECOND),
        2,
        (N, S),
        emit=Emit(early=EACH_ROW),
    ),
    Recorded(
        "emit/early_hop", Sliding(10 * SECOND, 5 * SECOND), 2, (N, S), emit=Emit(early=EACH_ROW)
    ),
    Recorded(
        "emit/late_fire_long",
        Sliding(10 * SECOND, 10 * SECOND),
        2,
        (N, S),
        emit=Emit(late=EACH_ROW),
        lateness_ms=60 * SECOND,
    ),
]


@pytest.mark.parametrize("batch", [1, 3, 1000])
@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.case)
def test_flinks_answer_however_rows_are_cut_into_batches(recorded: Recorded, batch: int):
    kernel = WindowAggregate(
        recorded.keys, recorded.assigner, recorded.calls, recorded.emit, recorded.lateness_ms
    )
    rows = recorded.rows()
    told, state = [], State()
    for start in range(0, rows.height, batch):
        step = kernel.step(state, [rows[start : start + batch]], BEFORE_ALL, 0)
        told, state = [*told, step.output], step.state
    last = kernel.step(state, [rows.clear()], AFTER_ALL, 0)

    case = recorded.recorded()
    if case["compare"] == "changelog":
        expected = [{"op": line["op"], **line["row"]} for line in case["expected"]]
    else:
        expected = case["expected"]
    output = pl.concat([*told, last.output])
    if case["compare"] == "materialized":
        output = output.filter(pl.col(KIND).is_in(["+I", "+U"])).unique(
            [*recorded.keys, WINDOW_START], keep="last"
        )
    names = {"op": KIND, "ws": WINDOW_START, "window_start": WINDOW_START}
    names |= {"we": WINDOW_END, "window_end": WINDOW_END}
    wanted = [
        (name, names.get(name, name))
        for name in expected[0]
        if names.get(name, name) in output.columns
    ]
    ours = [tuple(row[column] for _, column in wanted) for row in output.iter_rows(named=True)]
    theirs = [tuple(converted(row[name], column) for name, column in wanted) for row in expected]
    if case["compare"] != "changelog":
        ours, theirs = sorted(ours, key=str), sorted(theirs, key=str)
    assert len(ours) == len(theirs)
    for our, their in zip(ours, theirs, strict=True):
        assert all(same(a, b) for a, b in zip(our, their, strict=True)), (our, their)


def converted(value: Any, column: str) -> Any:
    return milliseconds(value) if column in (WINDOW_START, WINDOW_END) else value


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(ours, float) and theirs is not None:
        return ours == pytest.approx(theirs, rel=1e-6)
    return str(ours) == str(theirs)
