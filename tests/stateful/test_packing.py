"""What happens to rows around the shuffle, without a shuffle."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pyarrow as pa
import pytest

from tidemark.errors import DataError
from tidemark.kernels.columns import ARRIVAL, BEFORE_ALL, HASH, STAMP, TIME
from tidemark.kernels.contenders import Contenders
from tidemark.kernels.order import Order
from tidemark.kernels.protocol import Metrics, Step
from tidemark.kernels.state import State
from tidemark.runtime.bucket import Bucket, InputShape
from tidemark.runtime.combining import Combine
from tidemark.runtime.payloads import decode, encode
from tidemark.runtime.source_report import SourceReport
from tidemark.spark.stateful import packing
from tidemark.spark.stateful.added import ClockMillis, Constant
from tidemark.spark.stateful.buckets import labels
from tidemark.spark.stateful.late_columns import LATE, OUTLET
from tidemark.spark.stateful.packing import INPUT, LEFT_OUT, PAYLOAD, Pack, Repack, Unpack
from tidemark.spark.stateful.passing import Passed, parted

SCHEMA = pa.schema([("k", pa.string()), ("ts", pa.timestamp("us", "UTC"))])


def batch(*rows: tuple[str, int], zone: str = "UTC") -> pa.RecordBatch:
    """Rows of a key and a time in microseconds, as Spark hands them to a worker."""
    keys, times = [row[0] for row in rows], [row[1] for row in rows]
    return pa.record_batch(
        {
            "k": keys,
            "ts": pa.array(times, pa.timestamp("us", zone)),
            HASH: pa.array([ord(k) for k in keys], pa.int64()),
        }
    )


def test_rows_keep_their_order_within_their_key_group(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "_AT_ONCE", 3)
    pack = Pack(0, (10, 20), SCHEMA, "ts")

    packed = [
        p
        for b in pack(iter([batch(("a", 1), ("b", 2), ("c", 3)), batch(("a", 4))]))
        for p in b.to_pylist()
    ]

    assert [(p["bucket"], p["position"], decode(p[PAYLOAD])["k"].to_list()) for p in packed] == [
        (10, 0, ["b"]),
        (20, 0, ["a", "c"]),
        (20, 3, ["a"]),
    ]


def test_times_are_rounded_down_to_milliseconds_before_1970_too() -> None:
    packed = next(Pack(0, (0,), SCHEMA, "ts")(iter([batch(("a", 1999), ("a", -1), ("a", -2001))])))

    assert decode(packed[PAYLOAD][0].as_py())[TIME].to_list() == [1, -1, -3]


def test_a_time_that_nobody_sees_is_packed_as_milliseconds_only() -> None:
    pack = Pack(0, (0,), SCHEMA.remove(1), "ts")

    packed = next(pack(iter([batch(("a", 1999), ("b", 2000))])))

    rows = decode(packed[PAYLOAD][0].as_py())
    assert set(rows.columns) == {"k", HASH, TIME} and rows[TIME].to_list() == [1, 2]


def test_the_session_time_zone_does_not_get_into_state() -> None:
    packed = next(Pack(0, (0,), SCHEMA, "ts")(iter([batch(("a", 0), zone="Europe/Oslo")])))

    assert decode(packed[PAYLOAD][0].as_py())["ts"].dtype == pl.Datetime("us", "UTC")


@pytest.mark.parametrize(("behind", "told"), [(0, 9), (2, 7), (9, None), (None, None)])
def test_every_key_group_gets_the_watermark_of_the_partition(
    behind: int | None, told: int | None
) -> None:
    rows = [batch(("a", 9000), ("a", 7000)), batch(("c", 5000))]
    packed = [p for b in Pack(1, (10, 20), SCHEMA, "ts", behind)(iter(rows)) for p in b.to_pylist()]

    saying = [(p["bucket"], p["input"], p["position"]) for p in packed if p[PAYLOAD] is None]
    assert saying == ([(10, 1, told), (20, 1, told)] if told else [])


def test_a_watermark_may_be_in_a_column_that_is_not_packed() -> None:
    made = pa.array([5000, None, 3000], pa.timestamp("us", "UTC"))
    rows = batch(("a", 9000), ("b", 7000), ("a", 8000)).append_column("made", made)
    pack = Pack(1, (10,), SCHEMA, None, 0, watermark_column="made")

    packed = [p for b in pack(iter([rows])) for p in b.to_pylist()]

    assert [p["position"] for p in packed if p[PAYLOAD] is None] == [5]
    [payload] = [p[PAYLOAD] for p in packed if p[PAYLOAD] is not None]
    assert "made" not in decode(payload).columns


def _counted(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.group_by("k", HASH, maintain_order=True).agg(pl.max(TIME), n=pl.len())


def test_rows_may_be_combined_before_they_are_packed() -> None:
    combine = Combine(_counted)
    pack = Pack(0, (0,), SCHEMA, "ts", combine=combine)
    parts = [
        (0, 0, p["position"], p[PAYLOAD])
        for b in pack(iter([batch(("a", 1), ("b", 2), ("a", 3)), batch(("a", 4))]))
        for p in b.to_pylist()
    ]
    bucket = Bucket(recorder := Keeper(), (InputShape.of(SCHEMA, combine=combine),), ())

    bucket.step(State(), parts, BEFORE_ALL, 20, 0)
    assert recorder.keys == ["a", "b"]
    bucket.step(State(), [], BEFORE_ALL, 20, 0)
    assert recorder.keys == []


@pytest.mark.parametrize(("keys", "packed"), [("aab", 3), ("aaab", 2)])
def test_rows_that_combining_would_not_halve_are_combined_where_they_arrive(keys, packed) -> None:
    combine = Combine(_counted, if_fewer=True)
    pack = Pack(0, (0,), SCHEMA, "ts", combine=combine)

    [part] = [p for b in pack(iter([batch(*((k, 1) for k in keys))])) for p in b.to_pylist()]
    bucket = Bucket(recorder := Keeper(), (InputShape.of(SCHEMA, combine=combine),), ())
    bucket.step(State(), [(0, 0, 0, part[PAYLOAD])], BEFORE_ALL, 20, 0)

    assert decode(part[PAYLOAD]).height == packed
    assert recorder.keys == ["a", "b"]


def test_rows_that_are_left_out_are_counted() -> None:
    first = Contenders(("k",), (Order(TIME),), 1)
    pack = Pack(3, (0, 1), SCHEMA, "ts", combine=Combine(first, filters=True))
    rows = batch(("a", 5000), ("b", 2000), ("a", 3000), ("c", 7000), ("a", 4000))

    *rest, report = [p for b in pack(iter([rows])) for p in b.to_pylist()]

    kept = pl.concat([decode(p[PAYLOAD]) for p in rest])
    assert sorted(kept.select("k", TIME).rows()) == [("a", 3), ("b", 2), ("c", 7)]
    assert (report["input"], report["position"], report[PAYLOAD]) == (LEFT_OUT + 3, 2, None)


def test_a_key_group_knows_the_latest_watermark_of_each_input() -> None:
    bucket = Bucket(Recorder(), (InputShape.of(SCHEMA), InputShape.of(SCHEMA)), ())

    first = bucket.watermarks([(0, 0, 5, None), (0, 1, 9, None)], ())
    assert first == [9, BEFORE_ALL]
    assert bucket.watermarks([(0, 0, 7, None), (1, 0, 3, None), (-1, 0, 0, None)], first) == [9, 3]


def test_a_null_time_names_the_row() -> None:
    rows = pa.record_batch(
        {"k": ["a"], "ts": pa.array([None], SCHEMA.field("ts").type), HASH: pa.array([1])}
    )

    with pytest.raises(DataError, match="event time `ts` is NULL") as failure:
        next(Pack(0, (0,), SCHEMA, "ts")(iter([rows])))
    assert failure.value.notes["record"] == '{"k":"a","ts":null}'


@pytest.mark.parametrize("buckets", [1, 2, 4, 6, 12])
def test_every_partition_gets_the_same_number_of_key_groups(buckets: int) -> None:
    assert len(set(labels(buckets))) == buckets


def test_unpacked_rows_have_the_types_that_spark_expects() -> None:
    schema = pa.schema([("m", pa.map_(pa.string(), pa.int32())), ("s", pa.string())])
    rows = pa.table({"m": [[("x", 1)], None], "s": ["a", None]}, schema=schema)
    frame = pl.from_arrow(rows)
    assert isinstance(frame, pl.DataFrame)
    packed = pa.record_batch({PAYLOAD: [encode(frame), None]})

    assert pa.Table.from_batches(Unpack(schema)(iter([packed]))).equals(rows)


class Recorder:
    """A kernel that only looks at what it is given."""

    def __init__(self) -> None:
        self.seen: list[list[tuple[int, int]]] = []
        self.watermark = 0

    def step(
        self, state: State, inputs: list[pl.DataFrame], watermark: int, processing_time: int
    ) -> Step:
        self.seen = [list(frame.select(ARRIVAL, STAMP).iter_rows()) for frame in inputs]
        self.watermark = watermark
        return Step(state, pl.DataFrame(), Metrics.of(state, (), (), 0, 0))


class Keeper(Recorder):
    """A kernel that keeps the keys of its first input."""

    keys: list[str]

    def step(
        self, state: State, inputs: list[pl.DataFrame], watermark: int, processing_time: int
    ) -> Step:
        self.keys = inputs[0]["k"].to_list()
        return super().step(state, inputs, watermark, processing_time)


def test_rows_of_another_operator_precede_its_watermark() -> None:
    recorder = Recorder()
    bucket = Bucket(recorder, (InputShape.of(SCHEMA, chained=True), InputShape.of(SCHEMA)), ())
    payload = next(Pack(0, (0,), SCHEMA, "ts")(iter([batch(("a", 1), ("b", 2))])))[PAYLOAD][0]
    packed = [(side, 0, 0, payload.as_py()) for side in (0, 1)]

    bucket.step(State(watermark=5), packed, before=8, after=8, processing_time=0)

    assert recorder.seen == [[(0, 5), (1, 5)], [(2, 8), (3, 8)]]
    assert recorder.watermark == 8


def test_partitions_of_a_source_follow_each_other_in_order() -> None:
    bucket = Bucket(recorder := Keeper(), (InputShape.of(SCHEMA),), ())
    pack = Pack(0, (0,), SCHEMA, "ts")
    parts = [next(pack(iter([batch((k, 0))])))[PAYLOAD][0].as_py() for k in ("a", "b")]

    bucket.step(State(), [(0, 0, 9, parts[1]), (0, 0, 0, parts[0])], BEFORE_ALL, 20, 0)

    assert recorder.keys == ["a", "b"]


@pytest.mark.parametrize("keys", [("k",), ("k", "ms", "all"), ("all",)])
@pytest.mark.parametrize("combines", [True, False])
def test_frames_are_packed_as_the_same_rows_from_elsewhere(
    keys: tuple[str, ...], combines: bool
) -> None:
    schema = pa.schema([("k", pa.string()), ("ts", pa.timestamp("us"))])
    frames = [
        pl.DataFrame({"k": ["a", None, "b"], "ts": [1, 2, -3]}),
        pl.DataFrame({"k": [], "ts": []}, schema={"k": pl.String, "ts": pl.Int64}),
        pl.DataFrame({"k": ["a"], "ts": [5]}),
    ]
    added = (Constant("all", True), ClockMillis("ms", "ts"))
    packed = schema.append(pa.field("all", pa.bool_())).append(pa.field("ms", pa.int64()))
    combine = Combine(lambda rows: rows.group_by("k", HASH, TIME).len()) if combines else None
    repack = Repack(keys, added, Pack(0, (10, 20), packed, "ts", combine=combine))

    payloads = pa.record_batch({PAYLOAD: pa.array(map(encode, frames), pa.binary())})
    rows = repack.opened(Unpack(schema), SourceReport())(iter([payloads]))
    direct = repack.of_emitted(iter(frames), schema, 0, BEFORE_ALL)

    assert contents(direct) == contents(rows)


def contents(packed: Iterator[pa.RecordBatch]) -> list[str]:
    """The rows, in any order and however many are in each payload, with their key group."""
    return sorted(
        f"{row['bucket']}, {row[INPUT]}: {values}"
        for batch in packed
        for row in batch.to_pylist()
        for values in decode(row[PAYLOAD]).rows(named=True)
    )


@pytest.mark.parametrize("way", ["as rows of Spark", "as columns"])
def test_late_rows_of_an_operator_go_along_with_its_rows_and_pass_the_next_one(way: str) -> None:
    rows = pl.DataFrame({"k": ["a", "b"], "ts": [1, 2]})
    late = [encode(pl.DataFrame({"v": [n]})) for n in (7, 8)]
    emitted = pa.record_batch(
        {
            PAYLOAD: pa.array([encode(rows), None], pa.binary()),
            LATE: pa.array(late, pa.binary()),
            OUTLET: pa.array([0, 3], pa.int32()),
        }
    )
    unpack, pack = Unpack(SCHEMA, passes=True), Pack(0, (10, 20), SCHEMA, "ts", passes=True)

    if way == "as columns":
        batches = Repack(("k",), (), pack).opened(unpack, SourceReport())(iter([emitted]))
    else:
        together = pa.Table.from_batches(unpack(iter([emitted])))
        assert together.column("k").to_pylist() == ["a", "b", None, None]
        assert together.column(LATE).to_pylist() == [None, None, *late]
        hashed = together.append_column(HASH, pa.array([0, 1, 5, 5], pa.int64()))
        batches = pack(iter(hashed.to_batches()))

    packed = [row for part in batches for row in part.to_pylist()]
    passed: list[Passed] = []
    own = parted(((p[INPUT], p["partition"], p["position"], p[PAYLOAD]) for p in packed), passed)
    keys = pl.concat(decode(payload) for *_, payload in own if payload)["k"]
    assert sorted(keys) == ["a", "b"]
    assert passed == [(0, late[0]), (3, late[1])]
