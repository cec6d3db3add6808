"""Frames of pandas and Polars, and tables of Arrow, as tables: without Spark, and on it."""

from __future__ import annotations

import datetime as dt
import pickle
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tidemark
from tidemark.dialect.statements import Name
from tidemark.errors import CatalogError, PlanError, TidemarkError
from tidemark.windows import Tumble

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

NOON = dt.datetime(2024, 5, 1, 12)
SECOND = dt.timedelta(seconds=1)
COLUMNS = {"id": [1, 2, 3], "name": ["a", None, "c"], "ts": [NOON, NOON + SECOND, NOON]}
FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": pa.table,
}
EVERY_TYPE = pa.table(
    {
        "yes": pa.array([True, None]),
        "tiny": pa.array([1, None], pa.int8()),
        "unsigned": pa.array([2**63 + 5, None], pa.uint64()),
        "real": pa.array([1.5, None], pa.float32()),
        "number": pa.array([Decimal("1.50"), None], pa.decimal128(10, 2)),
        "large": pa.array(["a", None], pa.large_string()),
        "bytes": pa.array([b"\x00x", None]),
        "day": pa.array([NOON.date(), None]),
        "time": pa.array([dt.time(1, 2, 3), None], pa.time64("ns")),
        "instant": pa.array([NOON.replace(tzinfo=dt.UTC), None], pa.timestamp("ns", "Asia/Tokyo")),
        "duration": pa.array([SECOND, None], pa.duration("ms")),
        "map": pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int32())),
        "row of `rows`": pa.array(
            [{"a b": [{"t": NOON}]}, None],
            pa.struct([("a b", pa.list_(pa.struct([("t", pa.timestamp("ns"))])))]),
        ),
        "category": pa.array(["p", "q"]).dictionary_encode(),
        "nothing": pa.nulls(2),
    }
)


@pytest.fixture
def session() -> Any:
    with tidemark.connect(engine="local") as session:
        yield session


@pytest.mark.parametrize("library", FRAMES)
def test_a_frame_of_any_library_is_a_table(library: str, session: tidemark.Session):
    session.register("t", FRAMES[library](COLUMNS))

    rows = session.sql("SELECT id, UPPER(name) AS name, ts FROM t WHERE id <> 3").rows()

    assert rows == [
        {"id": 1, "name": "A", "ts": NOON},
        {"id": 2, "name": None, "ts": NOON + SECOND},
    ]


def test_types_are_those_of_the_columns(session: tidemark.Session):
    session.register("t", EVERY_TYPE, primary_key=["category"])

    described = {row["name"]: row["type"] for row in session.sql("DESCRIBE t").rows()}
    assert described == {
        "yes": "BOOLEAN",
        "tiny": "TINYINT",
        "unsigned": "DECIMAL(20, 0)",
        "real": "FLOAT",
        "number": "DECIMAL(10, 2)",
        "large": "STRING",
        "bytes": "BYTES",
        "day": "DATE",
        "time": "TIME(6)",
        "instant": "TIMESTAMP_LTZ(6)",
        "duration": "INTERVAL DAY TO SECOND",
        "map": "MAP<STRING NOT NULL, INT>",
        "row of `rows`": "ROW<`a b` ARRAY<ROW<`t` TIMESTAMP(6)>>>",
        "category": "STRING",
        "nothing": "NULL",
    }


def test_the_order_of_the_rows_is_that_of_their_arrival(session: tidemark.Session):
    late = pa.table({"id": [1, 2, 3], "ts": [NOON, NOON + 20 * SECOND, NOON + SECOND]})
    session.register("t", late, watermark="ts - INTERVAL '5' SECOND")

    windows = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
    counted = session.sql(f"SELECT COUNT(*) AS n FROM {windows} GROUP BY window_start, window_end")

    assert [row["n"] for row in counted.rows()] == [1, 1]  # the third is late


def test_a_changelog_is_one(session: tidemark.Session):
    changes = pl.DataFrame(
        {"op": ["+I", "+I", "-U", "+U", "-D"], "k": [1, 2, 1, 1, 2], "v": [1, 2, 1, 5, 2]}
    )
    session.register("t", changes, row_kind="op", primary_key=["k"])

    assert session.sql("SELECT k, v FROM t").rows() == [{"k": 1, "v": 5}]
    assert session.sql("SELECT COUNT(*) AS n FROM t").rows() == [{"n": 1}]


def test_upserts_are_without_the_rows_that_they_replace(session: tidemark.Session):
    changes = pa.table({"op": ["+I", "+U", "-D", "+I"], "k": [1, 1, 2, 3], "v": [1, 5, None, 7]})
    session.register("t", changes, row_kind="op", primary_key=["k"])

    rows = session.sql("SELECT SUM(v) AS v FROM t /*+ OPTIONS('changelog-mode' = 'upsert') */")

    assert rows.rows() == [{"v": 12}]


@pytest.mark.parametrize("count", [0, 3, 100_000])
def test_rows_without_columns_are_counted(count: int, session: tidemark.Session):
    session.register("t", pl.DataFrame({"n": range(count)}, schema={"n": pl.Int32}))
    session.sql("SET 'execution.runtime-mode' = 'batch'")

    assert session.sql("SELECT COUNT(*) AS n FROM t").rows() == [{"n": count}]


@pytest.mark.parametrize(
    ("frame", "more", "words"),
    [
        ([1, 2], {}, "cannot register a list"),
        (pl.DataFrame(COLUMNS).lazy(), {}, "collect() it first"),
        (pd.DataFrame({"a": [1, "x"]}), {}, "column a with type object"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), {}, "Duplicate column names"),
        (pd.DataFrame(), {}, "no columns"),
        (pd.Series([1]), {}, "cannot register a Series"),
        (pl.DataFrame({"o": [object()]}), {}, "`o` has objects of Python"),
        (pa.table({"op": ["+I", "new", None]}), {"row_kind": "op"}, "`op` contains new, None"),
        (pa.table(COLUMNS), {"row_kind": "ids"}, "`ids` does not exist"),
        (pa.table(COLUMNS), {"watermark": "name"}, "must be a TIMESTAMP"),
        (pa.table({"u": pa.array([1], pa.float16())}), {}, "halffloat is not supported"),
    ],
)
def test_what_cannot_be_a_table_is_refused(
    frame: Any, more: dict[str, Any], words: str, session: tidemark.Session
):
    with pytest.raises(TidemarkError) as raised:
        session.register("t", frame, **more)

    assert words in str(raised.value)
    with pytest.raises(CatalogError):
        session.sql("SELECT * FROM t")


def test_spark_reads_the_same_rows(spark: SparkSession, session: tidemark.Session):
    nothing = EVERY_TYPE.slice(0, 0)
    with tidemark.connect(spark) as on_spark:
        for one in (session, on_spark):
            one.sql("SET 'table.local-time-zone' = 'Europe/Berlin'")
            one.register("t", EVERY_TYPE)
            one.register("nothing", nothing)
        found, expected = (one.sql("SELECT * FROM t").to_arrow() for one in (on_spark, session))
        empty = on_spark.sql("SELECT * FROM nothing").to_arrow()
        on_spark.register("many", pl.DataFrame({"n": range(600_000)}))  # for two tasks
        on_spark.sql("SET 'execution.runtime-mode' = 'batch'")
        counted = on_spark.sql("SELECT COUNT(*) AS c, SUM(n) AS s FROM many WHERE n > 9").rows()

    assert found.to_pylist() == expected.to_pylist()
    assert found.schema == expected.schema
    assert empty.num_rows == 0
    assert counted == [{"c": 599_990, "s": 600_000 * 599_999 // 2 - 45}]


def test_a_stream_has_the_rows_once(spark: SparkSession, tmp_path: Path):
    sink = tmp_path / "out"
    for _ in range(2):
        with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
            session.register("t", pl.DataFrame({"id": [1, 2, 3]}))
            session.sql(
                "CREATE TABLE sink (id BIGINT) WITH ('connector' = 'filesystem', 'format' = 'csv', "
                f"'path' = '{sink}')"
            )
            session.sql("INSERT INTO sink SELECT id FROM t").wait()

    lines = [line for file in sink.glob("part-*") for line in file.read_text().split()]
    assert sorted(lines) == ["1", "2", "3"]


def test_a_piece_of_a_large_table_is_kept_alone(session: tidemark.Session):
    large = pa.table({"n": range(1_000_000), "s": ["some words"] * 1_000_000})
    session.register("t", large.slice(10, 2))

    kept = session.workspace.catalogs.relation(Name(("t",))).dataframe
    assert len(pickle.dumps(kept)) < 10_000
    assert [row["n"] for row in session.sql("SELECT n FROM t").rows()] == [10, 11]


def test_the_rows_that_a_job_reads_are_counted(session: tidemark.Session):
    session.register("t", pl.DataFrame({"n": [1, 2, 3]}))
    session.sql("CREATE TABLE sink (n BIGINT) WITH ('connector' = 'blackhole')")

    job = session.sql("INSERT INTO sink SELECT n FROM t WHERE n > 1").job
    job.wait()

    assert job.progress().rows_in == 3


# --- functions of frames -------------------------------------------------------------------------

MINUTE = 60 * SECOND
SALES = {
    "id": [1, 2, 3],
    "drink": ["tea", "tea", "coffee"],
    "ts": [NOON + 6 * MINUTE, NOON + MINUTE, NOON + 2 * MINUTE],
}
PRICES = {"drink": ["tea", "tea"], "cents": [270, 250], "ts": [NOON + 5 * MINUTE, NOON]}


def as_tuples(frame: Any) -> list[tuple[Any, ...]]:
    return pl.DataFrame(frame).rows()


@pytest.mark.parametrize("library", FRAMES)
def test_frames_are_joined_with_versions_in_any_order(library: str):
    sales, prices = FRAMES[library](SALES), FRAMES[library](PRICES)

    joined = tidemark.temporal_join(
        sales, prices, on="drink", left_time="ts", right_time="ts", how="left"
    )

    assert type(joined) is type(sales)
    found = {(row[0], row[3]) for row in as_tuples(joined)}
    assert {(i, None if c != c else c) for i, c in found} == {(1, 270), (2, 250), (3, None)}


@pytest.mark.parametrize("library", FRAMES)
def test_frames_are_joined_by_intervals_in_any_order(library: str):
    sales, prices = FRAMES[library](SALES), FRAMES[library](PRICES)

    joined = tidemark.interval_join(
        sales, prices, on="drink", left_time="ts", right_time="ts", between=("-2 minutes", "0 s")
    )

    assert type(joined) is type(sales)
    assert {(row[0], row[3]) for row in as_tuples(joined)} == {(1, 270), (2, 250)}


@pytest.mark.parametrize("library", FRAMES)
def test_frames_are_aggregated_by_windows_in_any_order(library: str):
    sales = FRAMES[library](SALES)

    counted = tidemark.window_aggregate(
        sales, Tumble("5 minutes", on="ts"), select=["window_start", "COUNT(*) AS n"]
    )

    assert type(counted) is type(sales)
    assert as_tuples(counted) == [(NOON, 2), (NOON + 5 * MINUTE, 1)]


def test_frames_of_two_kinds_are_not_joined(spark: SparkSession):
    with pytest.raises(PlanError, match="the other one is in memory"):
        tidemark.temporal_join(
            spark.range(1), pl.DataFrame(PRICES), on="id", left_time="ts", right_time="ts"
        )


def test_streams_are_of_spark():
    sales = tidemark.stream(pl.DataFrame(SALES), time="ts").key_by("drink")

    with pytest.raises(PlanError, match="frame of polars"):
        sales.interval_join(sales).between("0 s", "1 s").select("l.id")
