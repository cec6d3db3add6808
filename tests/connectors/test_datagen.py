"""Rows out of nothing."""

from __future__ import annotations

import datetime as dt
import shutil
import time
from decimal import Decimal
from typing import Any

import polars as pl
import pytest

import tidemark
from tests.connectors.tables import NOW, columns_request, datagen, frame, read, request_of, rows
from tests.connectors.test_filesystem import streamed
from tests.waiting import wait_until
from tidemark.catalog.tables import Table
from tidemark.columns import polars_type
from tidemark.connectors import made_rows
from tidemark.connectors.base import Part
from tidemark.connectors.datagen import DATAGEN
from tidemark.connectors.made_rows import row_ranges
from tidemark.errors import OptionError, PlanError
from tidemark.spark.first_start import FirstStart
from tidemark.storage import Location


def made(table: Table, **changes: Any) -> list[tuple[Any, ...]]:
    return frame(table, **changes).rows()


def sequence(column, start, end):
    return {
        f"fields__{column}__kind": "sequence",
        f"fields__{column}__start": start,
        f"fields__{column}__end": end,
    }


# --- sequences ---------------------------------------------------------------------------------


def test_the_shortest_sequence_ends_the_table():
    table = datagen(
        "a INT, b STRING, c DECIMAL(5, 1), d DOUBLE",
        **sequence("a", "1", "9"),
        **sequence("b", "7", "9"),
        **sequence("c", "0.5", "9"),
        **sequence("d", "-1.5", "9"),
    )

    assert made(table) == [
        (1, "7", Decimal("0.5"), -1.5),
        (2, "8", Decimal("1.5"), -0.5),
        (3, "9", Decimal("2.5"), 0.5),
    ]


def test_sequences_reach_the_ends_of_their_types():
    table = datagen(
        "a BIGINT, b TINYINT, c DECIMAL(38, 30)",
        **sequence("a", str(2**63 - 3), str(2**63 - 1)),
        **sequence("b", "125", "127"),
        **sequence("c", "-99999999", "99999999"),
    )

    assert made(table) == [
        (2**63 - 3, 125, Decimal(-99999999)),
        (2**63 - 2, 126, Decimal(-99999998)),
        (2**63 - 1, 127, Decimal(-99999997)),
    ]


@pytest.mark.parametrize(
    ("column", "option", "value"),
    [
        ("TINYINT", "end", "128"),
        ("INT", "max", "2147483648"),
        ("STRING", "end", "9223372036854775808"),
        ("DECIMAL(3, 1)", "min", "-100"),
        ("FLOAT", "max", "1e39"),
    ],
)
def test_numbers_fit_their_column(column, option, value):
    kind = {"fields__a__kind": "sequence", "fields__a__start": "0"} if option == "end" else {}
    table = datagen(f"a {column}", **kind, **{f"fields__a__{option}": value})

    with pytest.raises(OptionError, match=f"{value} does not fit"):
        DATAGEN.check(table, request_of(None, table).options)


# --- random values -----------------------------------------------------------------------------


def test_values_lie_within_their_bounds():
    table = datagen(
        "i INT, s SMALLINT, b BIGINT, d DOUBLE, m DECIMAL(10, 2), r ROW<x INT>",
        number_of_rows="500",
        **{f"fields__{c}__min": "-2" for c in ("i", "s", "b", "d", "m", "r__x")},
        **{f"fields__{c}__max": "3" for c in ("i", "s", "b", "d", "m", "r__x")},
    )
    found = made(table)

    assert {row[0] for row in found} == {-2, -1, 0, 1, 2, 3} == {row[5]["x"] for row in found}
    assert all(-2 <= value <= 3 for row in found for value in row[:5])
    assert len({row[3] for row in found}) == 500


def test_wide_ranges_are_filled_without_overflow():
    low, high, largest = str(-(2**63)), str(2**63 - 2), "1.7976931348623157e308"
    table = datagen(
        "b BIGINT, d DOUBLE, m DECIMAL(38, 9)", number_of_rows="200",
        fields__b__min=low, fields__b__max=high,
        fields__d__min=f"-{largest}", fields__d__max=largest,
    )  # fmt: skip
    found = frame(table)

    assert found["b"].min() < -(2**61) and found["b"].max() > 2**61
    assert found["d"].is_finite().all()
    assert found["d"].min() < -1e308 and found["d"].max() > 1e308
    assert found["m"].max() > Decimal(10) ** 28


def test_numbers_are_spread_evenly():
    table = datagen(
        "a INT, d DOUBLE, b BOOLEAN", number_of_rows="40000", fields__a__min="0", fields__a__max="9",
        fields__d__max="1",
    )  # fmt: skip
    found = frame(table)

    counts = found["a"].value_counts()["count"]
    assert len(counts) == 10 and counts.min() > 3700 and counts.max() < 4300
    assert abs(found["d"].mean() - 0.5) < 0.01
    assert abs(found["b"].mean() - 0.5) < 0.02
    assert abs(pl.select(pl.corr(found["a"], found["d"])).item()) < 0.03


def test_strings_have_the_requested_lengths():
    table = datagen(
        "s STRING, l STRING, c CHAR(4), v VARCHAR(7), y BYTES, w VARCHAR(9), e STRING",
        number_of_rows="500", fields__l__length="301", fields__y__length="5", fields__w__var_len="true",
        fields__e__length="0",
    )  # fmt: skip
    found = made(table)

    assert {tuple(len(x) for x in row[:5]) for row in found} == {(100, 301, 4, 7, 5)}
    assert {len(row[5]) for row in found} == set(range(1, 10))
    assert {row[6] for row in found} == {""}
    assert set("".join(row[0] for row in found)) == set("0123456789abcdef")
    assert len({row[1] for row in found}) == 500


def test_large_values_are_made_in_small_frames():
    table = datagen("a STRING", number_of_rows="40", fields__a__length="4000000")
    frames = DATAGEN.read_columns(columns_request(table))()

    assert next(iter(frames)).height == 8


def test_nulls_occur_at_the_requested_rate():
    table = datagen(
        "a INT, b INT, s STRING, l ARRAY<INT>, r ROW<x INT>",
        number_of_rows="1000",
        fields__b__null_rate="1",
        **{f"fields__{c}__null_rate": "0.3" for c in ("a", "s", "l", "l__element", "r__x")},
    )
    found = frame(table)

    assert found["b"].null_count() == 1000
    for column in (found["a"], found["s"], found["l"], found["r"].struct.field("x")):
        assert 230 < column.null_count() < 370
    assert 0.25 < found["l"].drop_nulls().explode().is_null().mean() < 0.35


def test_times_are_within_the_requested_past():
    table = datagen(
        "t TIMESTAMP(3), n TIMESTAMP(3), z TIMESTAMP_LTZ(3), d DATE, o TIME(3)",
        number_of_rows="200",
        fields__t__max_past="1 h",
    )
    found = frame(table, zone="Europe/Berlin")
    clock = dt.datetime(2024, 5, 7, 1, 30, 12, 345_000)

    assert found["t"].max() <= clock and found["t"].min() >= clock - dt.timedelta(hours=1)
    assert found["t"].max() - found["t"].min() > dt.timedelta(minutes=50)
    assert found.select("n", "z", "d", "o").unique().rows() == [
        (clock, NOW, clock.date(), clock.time())
    ]


@pytest.mark.parametrize("zone", ["GMT+02:00", "+02:00", "UT+2", "Europe/Berlin"])
def test_times_are_those_of_the_zone(zone):
    table = datagen("t TIMESTAMP(3)", number_of_rows="1")

    assert made(table, zone=zone) == [(dt.datetime(2024, 5, 7, 1, 30, 12, 345_000),)]


def test_collections_have_no_duplicate_keys():
    table = datagen(
        "m MAP<BOOLEAN, INT>, s MULTISET<BOOLEAN>, a ARRAY<INT>, n MAP<INT, INT>, e ARRAY<INT>",
        number_of_rows="50", fields__a__length="2", fields__e__length="0",
        fields__n__key__null_rate="0.5",
    )  # fmt: skip
    found = made(table)

    assert {len(m) for m, *_ in found} == {1, 2}
    assert {(len(a), len(e)) for _, _, a, _, e in found} == {(2, 0)}
    assert all(1 <= count <= 10 for _, s, *_ in found for count in s.values())
    assert {len(n) for _, _, _, n, _ in found} == {0, 1, 2, 3}
    assert all(None not in n for _, _, _, n, _ in found)


ALL = (
    "a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h DECIMAL(38, 9), i CHAR(3), j VARCHAR(5),"
    " k STRING, l BINARY(2), m BYTES, n DATE, o TIME(3), p TIMESTAMP(3), q TIMESTAMP_LTZ(3), r INTERVAL DAY TO SECOND,"
    " s INTERVAL YEAR TO MONTH, t ARRAY<INTERVAL YEAR TO MONTH>, u MAP<ROW<`a b` INT>, ARRAY<TIME(3)>>,"
    " v MULTISET<STRING>, w ROW<x DOUBLE, y ARRAY<ROW<z TIMESTAMP(3), `a b` TIME(0)>>>"
)


def test_columns_have_the_types_of_the_table():
    table = datagen(ALL, number_of_rows="3")
    request = columns_request(table)

    found = frame(table).schema
    assert list(found) == list(request.columns)
    assert list(found.values()) == [polars_type(type_) for type_ in request.types]


# --- which rows --------------------------------------------------------------------------------

MIXED = "i INT, d DOUBLE, s STRING, b BOOLEAN, y BYTES, a ARRAY<INT>, r ROW<x BIGINT>"


def mixed(name="t", **options):
    return datagen(MIXED, name=name, number_of_rows="40", **options)


def in_common(some, others):
    """The columns in which two tables have the same values from top to bottom."""
    pairs = zip(zip(*some, strict=True), zip(*others, strict=True), strict=True)
    return [name for name, (a, b) in zip("idsbyar", pairs, strict=True) if a == b]


def test_tables_and_runs_have_values_of_their_own():
    found = made(mixed())

    assert in_common(found, made(mixed(name="u"))) == []
    assert in_common(found, made(mixed(), seed="other")) == []
    assert in_common(found, made(mixed())) == list("idsbyar")


def test_columns_have_values_of_their_own():
    table = datagen(
        "a STRING, b STRING, c INT, d INT, e ARRAY<INT>, f ROW<x INT, y INT>", number_of_rows="20"
    )

    for a, b, c, d, e, f in made(table):
        assert a != b
        assert len({c, d, *e, *f.values()}) == 7


def test_a_seed_makes_the_values_of_all_runs_the_same_and_of_tables_not():
    found = made(mixed(tidemark__seed="x"))

    assert found == made(mixed(tidemark__seed="x"), seed="other")
    assert in_common(found, made(mixed(tidemark__seed="y"))) == []
    assert in_common(found, made(mixed(name="u", tidemark__seed="x"))) == []


def test_values_of_a_seed_stay_the_same_from_one_version_to_the_next():
    """A job that resumes with another version goes on with the values that it began with."""
    columns = "i INT, s VARCHAR(8), a ARRAY<TINYINT>, b BOOLEAN"
    table = datagen(columns, number_of_rows="3", tidemark__seed="x")

    assert made(table) == [
        (-1345115274, "9b25c47e", [6, -99, 19], True),
        (-1663223775, "d64f6fcb", [-90, 101, 21], True),
        (1087009587, "5829b323", [46, 19, 8], False),
    ]


def test_a_row_has_the_same_values_in_whatever_part_it_is_made(monkeypatch):
    table = mixed()
    whole = made(table)
    monkeypatch.setattr("tidemark.connectors.made_rows.columns.rows._ROWS", 7)

    assert made(table) == whole
    parts = [Part("", 30, 40), Part("", 0, 13), Part("", 13, 30)]
    assert made(table, parts=parts) == whole[30:] + whole[:30]


def test_columns_that_nobody_reads_are_null():
    found = frame(mixed(), read=frozenset({"i", "r"}))

    assert found.schema == frame(mixed()).schema
    assert found.select("i", "r").rows() == frame(mixed()).select("i", "r").rows()
    assert found.select("d", "s", "b", "y", "a").null_count().rows() == [(40,) * 5]


def tasks(rows: int) -> list[tuple[int, int | None]] | None:
    found = DATAGEN.parts(columns_request(datagen("a STRING", number_of_rows=str(rows))))
    return None if found is None else [(part.start, part.end) for (part,) in found]


def test_tasks_share_the_rows_of_large_tables(monkeypatch):
    assert tasks(9000) is None
    assert tasks(10_000) == [(0, 10_000)]
    assert tasks(1_300_000) == [(0, 578_524), (578_524, 1_157_048), (1_157_048, 1_300_000)]
    assert len(tasks(2**62) or []) == 10_000


def test_zero_rows_can_be_requested(spark):
    none = datagen("a INT", number_of_rows="0")

    assert [*DATAGEN.read_columns(columns_request(none))()] == []
    assert rows(read(spark, none)) == []
    assert rows(streamed(spark, read(spark, none, streaming=True))) == []


def test_rows_are_counted_although_all_columns_are_computed(spark, monkeypatch):
    table = datagen("p AS PROCTIME()", number_of_rows="3")

    assert frame(table).height == frame(table, read=frozenset()).height == 3
    assert read(spark, table).count() == 3
    monkeypatch.setattr(made_rows, "_SMALL", 0)
    assert read(spark, table).count() == 3


# --- on Spark ----------------------------------------------------------------------------------


@pytest.mark.parametrize("null_rate", ["0", "0.3"])
def test_rows_are_the_same_wherever_they_are_made(spark, monkeypatch, null_rate):
    """Of all types: also of those that Spark does not read from Arrow."""
    paths = (*"abcdefghijklmnopqrstuvw", "t__element", "w__y__element__a b")
    nulls = {f"fields__{path}__null_rate": null_rate for path in paths}
    table = datagen(ALL, number_of_rows="30", tidemark__seed="7", **nulls)
    start = FirstStart(at_ms=1_715_000_000_123)

    here = read(spark, table, start=start)
    stream = streamed(spark, read(spark, table, streaming=True, start=start))
    monkeypatch.setattr(made_rows, "_SMALL", 0)
    by_worker = read(spark, table, start=start)

    assert here.dtypes == by_worker.dtypes == stream.dtypes
    assert as_text(here) == as_text(by_worker) == as_text(stream)
    assert len({*as_text(here)}) == 30


def as_text(data):
    return [row[0] for row in data.selectExpr("CAST(struct(*) AS STRING)").collect()]


def test_a_stream_has_the_same_rows_as_a_batch_and_ends(spark, monkeypatch):
    monkeypatch.setattr(row_ranges, "RANGE", 2)
    table = datagen("a INT, b STRING, c DOUBLE", number_of_rows="5", tidemark__seed="7")
    as_stream = streamed(spark, read(spark, table, streaming=True))

    assert sorted(rows(as_stream)) == sorted(rows(read(spark, table)))


def test_a_job_that_resumes_makes_the_values_it_began_with(tmp_path):
    began = FirstStart().kept_in(Location.of(tmp_path / "job"))

    assert FirstStart().kept_in(Location.of(tmp_path / "job")) == began
    assert FirstStart().kept_in(Location.of(tmp_path / "other")) != began


def test_a_batch_that_is_computed_again_after_a_restart_has_the_same_rows(spark, tmp_path):
    """The job is killed after its sink took the batch and before Spark knew."""
    script = f"""
        CREATE TABLE made ({MIXED}, n TIMESTAMP(3))
        WITH ('connector' = 'datagen', 'number-of-rows' = '40');
        CREATE TABLE kept ({MIXED}, n TIMESTAMP(3))
        WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/out');
        INSERT INTO kept SELECT * FROM made
    """

    def run():
        with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
            job = session.sql(script).job
            job.wait()
            assert job.progress().rows_in == 40
        return [
            line
            for file in sorted((tmp_path / "out").glob("[!._]*"))
            for line in file.read_text().splitlines()
        ]

    first = run()
    [commits] = (tmp_path / "checkpoint").rglob("commits")
    shutil.rmtree(commits)
    shutil.rmtree(tmp_path / "out")

    assert len(first) == 40 and run() == first


def test_a_stream_without_end_keeps_its_pace(spark):
    frame = read(spark, datagen("a INT", rows_per_second="20"), streaming=True)
    query = frame.writeStream.format("memory").queryName("pace").start()
    started = time.monotonic()
    while spark.table("pace").count() < 20:
        assert query.isActive, query.exception()
    query.stop()
    seconds = time.monotonic() - started

    assert 20 <= spark.table("pace").count() <= 20 * (seconds + 1)


def test_an_unbounded_table_cannot_be_read_in_batch_mode(spark):
    with pytest.raises(PlanError, match="is unbounded"):
        read(spark, datagen("a INT"))


def test_the_rows_of_a_second_are_shared_by_ranges(spark, monkeypatch, tmp_path):
    """They are numbered as if there was one range in each second."""
    monkeypatch.setattr(row_ranges, "RANGE", 3)
    request = request_of(spark, datagen("a INT", rows_per_second="10"), streaming=True)
    found: list[tuple[int, int]] = []
    query = (
        row_ranges.in_seconds(request, 10)
        .writeStream.foreachBatch(
            lambda batch, _: found.extend((r.start, r.end) for r in batch.collect())
        )
        .option("checkpointLocation", str(tmp_path))
        .start()
    )
    wait_until(lambda: len(found) >= 8 or not query.isActive)
    query.stop()

    assert sorted(found)[:8] == [
        (0, 2), (2, 5), (5, 7), (7, 10), (10, 12), (12, 15), (15, 17), (17, 20),
    ]  # fmt: skip
