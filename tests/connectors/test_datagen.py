"""Rows out of nothing."""

import datetime as dt
import shutil
import time

import pytest

import tidemark
from tests.connectors.tables import datagen, read, rows
from tests.connectors.test_filesystem import streamed
from tidemark.errors import PlanError
from tidemark.spark.first_start import FirstStart
from tidemark.storage import Location


def sequence(column, start, end):
    return {
        f"fields__{column}__kind": "sequence",
        f"fields__{column}__start": start,
        f"fields__{column}__end": end,
    }


def test_the_shortest_sequence_ends_the_table(spark):
    table = datagen(
        "a INT, b STRING, c DECIMAL(5, 1)",
        **sequence("a", "1", "9"),
        **sequence("b", "7", "9"),
        **sequence("c", "0.5", "9"),
    )

    assert [(a, b, str(c)) for a, b, c in rows(read(spark, table))] == [
        (1, "7", "0.5"),
        (2, "8", "1.5"),
        (3, "9", "2.5"),
    ]


def test_values_lie_within_their_bounds(spark):
    table = datagen(
        "i INT, s SMALLINT, b BIGINT, d DOUBLE, m DECIMAL(10, 2), r ROW<x INT>",
        number_of_rows="500",
        **{f"fields__{c}__min": "-2" for c in ("i", "s", "b", "d", "m", "r__x")},
        **{f"fields__{c}__max": "3" for c in ("i", "s", "b", "d", "m", "r__x")},
    )
    found = rows(read(spark, table))

    assert {row[0] for row in found} == {-2, -1, 0, 1, 2, 3} == {row[5][0] for row in found}
    assert all(-2 <= value <= 3 for row in found for value in row[:5])
    assert len({row[3] for row in found}) == 500


def test_wide_ranges_are_filled_without_overflow(spark):
    low, high = str(-(2**63)), str(2**63 - 2)
    table = datagen("b BIGINT", number_of_rows="200", fields__b__min=low, fields__b__max=high)
    found = [row[0] for row in rows(read(spark, table))]

    assert min(found) < -(2**61) and max(found) > 2**61


def test_strings_have_the_requested_lengths(spark):
    table = datagen(
        "s STRING, l STRING, c CHAR(4), v VARCHAR(7), y BYTES, w VARCHAR(9)",
        number_of_rows="500", fields__l__length="300", fields__y__length="5", fields__w__var_len="true",
    )  # fmt: skip
    found = rows(read(spark, table))

    assert {tuple(len(x) for x in row[:5]) for row in found} == {(100, 300, 4, 7, 5)}
    assert {len(row[5]) for row in found} == set(range(1, 10))


def test_nulls_occur_at_the_requested_rate(spark):
    table = datagen(
        "a INT, b INT", number_of_rows="1000", fields__a__null_rate="0.3", fields__b__null_rate="1"
    )
    found = rows(read(spark, table))

    assert 230 < sum(row[0] is None for row in found) < 370
    assert all(row[1] is None for row in found)


def test_times_are_within_the_requested_past(spark):
    table = datagen(
        "t TIMESTAMP(3), n TIMESTAMP(3)", number_of_rows="50", fields__t__max_past="1 h"
    )
    ago = [dt.datetime.now() - row[0] for row in rows(read(spark, table, zone=time_zone()))]

    assert max(ago) < dt.timedelta(hours=1, minutes=5) and max(ago) > dt.timedelta(minutes=30)


def time_zone():
    offset = time.strftime("%z")
    return f"{offset[:3]}:{offset[3:]}"


def test_collections_have_no_duplicate_keys(spark):
    table = datagen(
        "m MAP<BOOLEAN, INT>, s MULTISET<BOOLEAN>, a ARRAY<INT>",
        number_of_rows="20",
        fields__a__length="2",
    )
    found = rows(read(spark, table))

    assert all(1 <= len(m) <= 2 and len(a) == 2 for m, _, a in found)
    assert all(1 <= count <= 10 for _, s, _ in found for count in s.values())


def test_a_stream_has_the_same_rows_as_a_batch_and_ends(spark):
    table = datagen("a INT, b STRING, c DOUBLE", number_of_rows="5", tidemark__seed="7")
    as_stream = streamed(spark, read(spark, table, streaming=True))

    assert rows(as_stream) == rows(read(spark, table))


MIXED = "i INT, d DOUBLE, s STRING, b BOOLEAN, y BYTES, a ARRAY<INT>, r ROW<x BIGINT>"


def mixed(name="t", **options):
    return datagen(MIXED, name=name, number_of_rows="40", **options)


def in_common(some, others):
    """The columns in which two tables have the same values from top to bottom."""
    pairs = zip(zip(*some, strict=True), zip(*others, strict=True), strict=True)
    return [name for name, (a, b) in zip("idsbyar", pairs, strict=True) if a == b]


def test_tables_and_runs_have_values_of_their_own(spark):
    one_run, other_run = FirstStart(), FirstStart()
    found = rows(read(spark, mixed(), start=one_run))

    assert in_common(found, rows(read(spark, mixed(name="u"), start=one_run))) == []
    assert in_common(found, rows(read(spark, mixed(), start=other_run))) == []
    assert in_common(found, rows(read(spark, mixed(), start=one_run))) == list("idsbyar")


def test_columns_have_values_of_their_own(spark):
    table = datagen("a STRING, b STRING, c INT, d INT", number_of_rows="20")

    assert all(a != b and c != d for a, b, c, d in rows(read(spark, table)))


def test_a_seed_makes_the_values_of_all_runs_the_same_and_of_tables_not(spark):
    found = rows(read(spark, mixed(tidemark__seed="x")))

    assert found == rows(read(spark, mixed(tidemark__seed="x")))
    assert in_common(found, rows(read(spark, mixed(tidemark__seed="y")))) == []
    assert in_common(found, rows(read(spark, mixed(name="u", tidemark__seed="x")))) == []


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
            session.sql(script).wait()
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


def test_zero_rows_can_be_requested(spark):
    assert rows(read(spark, datagen("a INT", number_of_rows="0"))) == []
