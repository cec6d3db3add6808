"""Recorded cases about windows, their queries put together by hand."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from tidemark.kernels.columns import ARRIVAL, BEFORE_ALL, HASH, STAMP, TIME
from tidemark.kernels.windows.spec import (
    NOTHING_BESIDES,
    AggregateSpec,
    Assigner,
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
DECIMAL = pl.Decimal(38, 6)
SECOND, DAY = 1000, 86_400_000


@dataclass(frozen=True)
class Recorded:
    """A case and its query by hand: `delay` is that of the watermark, in seconds."""

    case: str
    assigner: Assigner
    delay: float
    calls: tuple[AggregateSpec, ...]
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
        made = (pl.col(TIME) - round(self.delay * SECOND)).cum_max()
        stamp = pl.when(made > 0).then(made).otherwise(BEFORE_ALL).shift(1, fill_value=BEFORE_ALL)
        key = pl.struct(self.keys).hash() if self.keys else pl.lit(0, pl.UInt64)
        hash_ = (key % 5).cast(pl.Int64).alias(HASH)
        conditions = [(pl.col("k") == "a").alias("is_a")] if "k" in frame.columns else []
        conditions += [(pl.col("v") > 2).alias("over_2")] if "v" in frame.columns else []
        return frame.with_columns(stamp.alias(STAMP), hash_, *conditions)

    def recorded(self) -> dict[str, Any]:
        return _case(self.case)


@cache
def _case(name: str) -> dict[str, Any]:
    case = yaml.safe_load((CASES / f"{name}.yaml").read_text())
    assert isinstance(case, dict)
    return case


def milliseconds(text: str) -> int:
    return round(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1000)


def call(
    function: str, *arguments: str, to: str, type: pl.DataType = I64, **rest: Any
) -> AggregateSpec:
    return AggregateSpec(function, arguments, to, type, **rest)


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
TEN = Sliding(10 * SECOND, 10 * SECOND)

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
        TEN,
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
        TEN,
        0,
        (N, *SUMS, *MEANS, *DECIMALS),
        keys=(),
    ),
    Recorded(
        "group-window/sum_int_overflow",
        TEN,
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
        TEN,
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
        TEN,
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
        TEN,
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
        TEN,
        2,
        (N, S),
        emit=Emit(early=EACH_ROW),
    ),
    Recorded(
        "emit/early_hop", Sliding(10 * SECOND, 5 * SECOND), 2, (N, S), emit=Emit(early=EACH_ROW)
    ),
    Recorded(
        "emit/late_fire_long",
        TEN,
        2,
        (N, S),
        emit=Emit(late=EACH_ROW),
        lateness_ms=60 * SECOND,
    ),
    Recorded(
        "emit/early_and_late",
        TEN,
        2,
        (N, S),
        emit=Emit(early=EACH_ROW, late=EACH_ROW),
        lateness_ms=8 * SECOND,
    ),
    Recorded(
        "emit/late_fire_each", TEN, 2, (N, S), emit=Emit(late=EACH_ROW), lateness_ms=8 * SECOND
    ),
    Recorded(
        "emit/late_hop",
        Sliding(10 * SECOND, 5 * SECOND),
        2,
        (N, call("SUM", "id", to="s", type=I32)),
        keys=(),
        emit=Emit(late=EACH_ROW),
        lateness_ms=6 * SECOND,
    ),
    Recorded(
        "emit/early_and_lateness",
        TEN,
        2,
        (N, S),
        emit=Emit(early=EACH_ROW),
        lateness_ms=30 * SECOND,
    ),
    Recorded(
        "emit/early_unchanged",
        TEN,
        2,
        (call("MAX", "v", to="m", type=I32), call("COUNT", "k", to="d", distinct=True)),
        keys=(),
        emit=Emit(early=EACH_ROW),
    ),
    Recorded(
        "emit/late_order_sensitive",
        TEN,
        2,
        (
            call("LAST_VALUE", "id", to="l", type=I32),
            call("LISTAGG", "id", to="ids", type=TEXT),
            call("AVG", "x", to="a", type=F64),
        ),
        emit=Emit(early=EACH_ROW, late=EACH_ROW),
        lateness_ms=20 * SECOND,
    ),
    Recorded("emit/allow_lateness_only", TEN, 2, (N, S), lateness_ms=30 * SECOND),
    Recorded(
        "group-window/average_of_integers",
        Sliding(60 * SECOND, 60 * SECOND),
        60,
        (call("AVG", "v", to="b", type=I32),),
    ),
    Recorded(
        "group-window/hop_gaps",
        Sliding(4 * SECOND, 10 * SECOND),
        2,
        (N, call("MIN", "id", to="i", type=I32)),
        keys=(),
    ),
    Recorded(
        "group-window/hop_not_multiple",
        Sliding(10 * SECOND, 4 * SECOND),
        2,
        (N, call("SUM", "id", to="s", type=I32)),
        keys=(),
    ),
    Recorded("group-window/hop_panes", Sliding(20 * SECOND, 4 * SECOND), 0.001, (N,)),
    Recorded("group-window/late_hop", Sliding(15 * SECOND, 5 * SECOND), 2, (N, S), keys=()),
    Recorded("group-window/late_tumble", TEN, 2, (N, call("LISTAGG", "id", to="ids", type=TEXT))),
    Recorded(
        "group-window/session_bridged",
        Session(5 * SECOND),
        15,
        (
            N,
            call("MIN", "v", to="lo", type=I32),
            call("MAX", "v", to="hi", type=I32),
            call("COUNT", "c", to="dc", distinct=True),
        ),
    ),
    Recorded("group-window/session_exact_gap", Session(5 * SECOND), 2, (N,)),
    Recorded("group-window/session_no_key", Session(3 * SECOND), 2, (N, S), keys=()),
    Recorded(
        "group-window/listagg_forms",
        TEN,
        60,
        (
            call("LISTAGG", "c", to="a", type=TEXT, separator="; "),
            call("LISTAGG", "c", to="b", type=TEXT, distinct=True),
            call("LISTAGG", "k", to="d", type=TEXT, separator=""),
        ),
        keys=(),
    ),
    Recorded(
        "window-tvf/hop_offset", Sliding(10 * SECOND, 5 * SECOND, 2 * SECOND), 2, (N,), keys=()
    ),
    Recorded(
        "window-tvf/late_cumulate",
        Cumulating(20 * SECOND, 5 * SECOND),
        2,
        (N, call("SUM", "id", to="s", type=I32)),
        keys=(),
    ),
    Recorded(
        "window-tvf/late_hop",
        Sliding(15 * SECOND, 5 * SECOND),
        2,
        (N, call("SUM", "id", to="s", type=I32)),
        keys=(),
    ),
    Recorded("window-tvf/late_tumble", TEN, 2, (N, call("SUM", "id", to="s", type=I32))),
    Recorded(
        "window-tvf/negative_offset",
        Sliding(10 * SECOND, 10 * SECOND, -4 * SECOND),
        2,
        (N,),
        keys=(),
    ),
    Recorded(
        "window-tvf/listagg_by_arrival",
        TEN,
        60,
        (
            call("LISTAGG", "id", to="ids", type=TEXT),
            call("FIRST_VALUE", "v", to="f", type=I32),
            call("LAST_VALUE", "v", to="l", type=I32),
            call("ARRAY_AGG", "c", to="cs", type=pl.List(pl.String)),
        ),
    ),
    Recorded(
        "window-tvf/session_all",
        Session(4 * SECOND),
        2,
        (N, call("MAX", "id", to="m", type=I32)),
        keys=(),
    ),
    Recorded("window-tvf/session_basic", Session(6 * SECOND), 2, (N, S)),
    Recorded(
        "quirks/hop_listagg_order",
        Sliding(15 * SECOND, 5 * SECOND),
        5,
        (N, call("LISTAGG", "id", to="ids", type=TEXT)),
        keys=(),
    ),
    Recorded(
        "group-window/variance_of_integers",
        TEN,
        0,
        tuple(
            call(f"{function}_{of}", column, to=f"{prefix}{short}{of[0].lower()}", type=type_)
            for column, prefix, type_ in (("v", "", I32), ("b", "b", I64), ("d", "d", DECIMAL))
            for function, short in (("VAR", "v"), ("STDDEV", "s"))
            for of in ("POP", "SAMP")
            if (column, function, of) != ("b", "STDDEV", "POP")
        ),
    ),
]
