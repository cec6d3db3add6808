"""Unbounded jobs, changelogs, and the user's DataFrames, on one shared Spark."""

from __future__ import annotations

import itertools
import os
import shutil
import time
from collections.abc import Iterator
from typing import Any

import pytest

import tidemark
from tests.sink_files import written_lines
from tests.waiting import PATIENCE_SECONDS
from tidemark import Session, TidemarkError

ROWS_OF_DAYS = """
SELECT COUNT(*) AS n FROM TABLE(TUMBLE(TABLE `rows`, DESCRIPTOR(ts), INTERVAL '1' DAY))
GROUP BY window_start, window_end
"""
FIRST_OF_DAYS = """
SELECT n FROM (
    SELECT n, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n) AS place
    FROM (
        SELECT {n} AS n, window_start, window_end
        FROM (
            SELECT COUNT(*) AS n, window_start, window_end
            FROM TABLE(TUMBLE(TABLE `rows`, DESCRIPTOR(ts), INTERVAL '1' DAY))
            GROUP BY window_start, window_end
        )
    )
) WHERE place = 1
"""


@pytest.fixture
def session(spark) -> Iterator[Session]:
    session = tidemark.connect(spark)
    yield session
    session.stop()


@pytest.fixture
def ticking(spark, session) -> Session:
    """A session with a table `ticks` that never ends."""
    stream = spark.readStream.format("rate").option("rowsPerSecond", 50).load()
    session.register("ticks", stream, watermark="`timestamp` - INTERVAL '1' SECOND")
    return session


def test_changes_of_an_unbounded_query_arrive_while_it_runs(ticking):
    result = ticking.sql("SELECT `value` AS v FROM ticks WHERE `value` % 2 = 0")

    changes = result.changes()
    first = list(itertools.islice(changes, 3))
    assert result.job is not None
    assert result.job.state == "running"
    changes.close()

    assert [change.row["v"] for change in first] == [0, 2, 4]
    assert result.job.state == "stopped"


def test_all_rows_of_an_unbounded_query_cannot_be_fetched(ticking):
    with pytest.raises(TidemarkError, match="is unbounded"):
        ticking.sql("SELECT * FROM ticks").rows()


def test_batch_mode_refuses_a_table_that_never_ends(ticking):
    ticking.sql("SET 'execution.runtime-mode' = 'batch'")

    with pytest.raises(TidemarkError, match="`ticks` is unbounded"):
        ticking.sql("SELECT * FROM ticks")


def test_constants_join_a_stream_once(ticking):
    result = ticking.sql(
        "SELECT CAST(-1 AS BIGINT) AS v FROM (VALUES (1)) AS t(x) UNION ALL SELECT `value` FROM ticks"
    )

    changes = result.changes()
    values = [change.row["v"] for change in itertools.islice(changes, 60)]
    changes.close()

    assert values.count(-1) == 1
    assert len(set(values)) == 60


def test_a_job_runs_in_the_background_until_it_is_stopped(ticking):
    ticking.sql("CREATE TABLE nowhere (v BIGINT) WITH ('connector' = 'blackhole')")
    job = ticking.sql("INSERT INTO nowhere SELECT `value` FROM ticks").job
    assert job is not None

    while job.progress().rows_out == 0:
        assert not job.wait(1)
    job.stop()

    assert job.state == "stopped"
    assert job.wait(PATIENCE_SECONDS)


def test_a_changelog_is_applied(spark, session):
    frame = spark.createDataFrame(
        [
            (1, "a", "+I"),
            (2, "b", "+I"),
            (1, "a", "-U"),
            (1, "A", "+U"),
            (2, "b", "-D"),
            (3, "c", "+I"),
        ],
        "id INT, name STRING, op STRING",
    ).coalesce(1)
    session.register("users", frame, row_kind="op")
    result = session.sql("SELECT name, id + 1 AS n FROM users")

    assert [change.kind for change in result.changes()] == ["+I", "+I", "-U", "+U", "-D", "+I"]
    assert result.rows() == [{"name": "A", "n": 2}, {"name": "c", "n": 4}]
    assert result.to_dataframe("op").columns == ["name", "n", "op"]


def test_a_table_goes_out_as_a_dataframe(spark, session):
    session.register("numbers", spark.range(3))

    frame = session.table("numbers").to_dataframe()

    assert [row.id for row in frame.collect()] == [0, 1, 2]


def test_a_stream_resumes_from_its_checkpoint(spark, tmp_path):
    source, sink, state = (tmp_path / name for name in ("in", "out", "checkpoint"))
    source.mkdir()

    def run_once() -> list[str]:
        session = tidemark.connect(spark, checkpoint=state)
        session.sql(
            f"""
            CREATE TABLE src (id INT) WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'json');
            CREATE TABLE snk (id INT) WITH ('connector' = 'filesystem', 'path' = '{sink}', 'format' = 'json');
            """
        )
        session.sql("INSERT INTO snk SELECT id FROM src").job.wait()
        return sorted(written_lines(sink))

    (source / "a.json").write_text('{"id": 1}\n')
    assert run_once() == ['{"id":1}']
    (source / "b.json").write_text('{"id": 2}\n')
    assert run_once() == ['{"id":1}', '{"id":2}']


def test_a_stream_writes_the_changes_of_its_groups(spark, tmp_path):
    source, sink, state = (tmp_path / name for name in ("in", "out", "checkpoint"))
    source.mkdir()

    def run_once() -> list[str]:
        session = tidemark.connect(spark, checkpoint=state)
        session.sql(
            f"""
            CREATE TABLE src (id INT) WITH ('connector' = 'filesystem', 'path' = '{source}', 'format' = 'json');
            CREATE TABLE snk (id INT, n BIGINT)
            WITH ('connector' = 'filesystem', 'path' = '{sink}', 'format' = 'maxwell-json');
            """
        )
        session.sql("INSERT INTO snk SELECT id, COUNT(*) FROM src GROUP BY id").job.wait()
        return sorted(written_lines(sink))

    (source / "a.json").write_text('{"id": 1}\n')
    first = '{"data":{"id":1,"n":1},"type":"insert"}'
    assert run_once() == [first]
    (source / "b.json").write_text('{"id": 1}\n')
    deleted, second = first.replace("insert", "delete"), first.replace('"n":1', '"n":2')
    assert run_once() == sorted([first, deleted, second])


def test_a_checkpoint_refuses_other_sources_and_resumes_with_another_projection(spark, tmp_path):
    def run(query: str) -> None:
        session = tidemark.connect(spark, checkpoint=tmp_path / "state")
        session.sql("CREATE TABLE nowhere (v INT) WITH ('connector' = 'blackhole')")
        session.sql(f"INSERT INTO nowhere {query}").job.wait()

    run("SELECT x FROM (VALUES (1)) AS t(x)")
    run("SELECT x + 1 FROM (VALUES (1)) AS t(x)")

    with pytest.raises(
        TidemarkError, match="cannot resume from its checkpoint: the job reads different"
    ):
        run("SELECT x FROM (VALUES (2)) AS t(x)")


def test_a_copy_that_kept_an_old_modification_time_is_read_when_it_comes(session, tmp_path):
    def put(n: int, *, days_ago: int = 0) -> None:
        hidden = tmp_path / f".{n}"
        hidden.write_text(f'{{"n": {n}}}\n')
        moment = time.time() - days_ago * 86_400
        os.utime(hidden, (moment, moment))
        hidden.rename(tmp_path / f"{n}.json")

    put(1)
    changes = session.sql(
        "CREATE TABLE numbers (n INT) WITH ('connector' = 'filesystem', 'format' = 'json', "
        f"'path' = '{tmp_path}', 'source.monitor-interval' = '1 s');"
        "SELECT n FROM numbers"
    ).changes()
    assert next(changes).row == {"n": 1}

    put(2, days_ago=30)
    put(3)
    put(4)
    assert [change.row["n"] for change in itertools.islice(changes, 2)] == [2, 3]
    changes.close()


def test_two_jobs_may_write_to_one_table(ticking):
    ticking.sql("CREATE TABLE nowhere (v BIGINT) WITH ('connector' = 'blackhole')")
    jobs = [ticking.sql("INSERT INTO nowhere SELECT `value` FROM ticks").job for _ in range(2)]

    assert [job.name for job in jobs] == ["insert-into-nowhere", "insert-into-nowhere-2"]
    for job in jobs:
        job.stop()


@pytest.mark.parametrize(
    ("query", "options", "batches"),
    [
        # Nothing waits for the end.
        ("SELECT COUNT(*) AS n FROM `rows` GROUP BY ts", "", 1),
        # The first micro-batch reads all files there are, and the end after them.
        (ROWS_OF_DAYS, "", 1),
        # One for the row, and one for the end of the table.
        (ROWS_OF_DAYS, ", 'source.max-files-per-batch' = '1'", 2),
        # An operator reports to the one above it which watermark follows its rows,
        (FIRST_OF_DAYS.format(n="n"), "", 1),
        # unless Spark computes something in between.
        (FIRST_OF_DAYS.format(n="CAST(PRINTF('%d', n) AS INT)"), "", 2),
    ],
)
def test_a_stream_that_ends_runs_as_few_micro_batches_without_rows_as_it_can(
    query, options, batches, spark, tmp_path
):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.json").write_text('{"ts": "2024-01-01 00:00:00"}\n')
    with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
        session.sql(
            "CREATE TABLE `rows` (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
            f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/in'{options})"
        )
        result = session.sql(query)

        assert result.rows() == [{"n": 1}]
        assert result.job is not None and result.job.progress().batches == batches
        assert spark.conf.get("spark.sql.streaming.noDataMicroBatches.enabled") == "true"


def test_rows_without_elements_advance_the_watermark_and_so_does_the_end(spark, tmp_path):
    (tmp_path / "in").mkdir()
    for number, tags in enumerate(["[1]", "[]", "[2]"]):
        row = f'{{"ts": "2024-01-0{number + 1} 00:00:00", "tags": {tags}}}\n'
        (tmp_path / "in" / f"{number}.json").write_text(row)
        os.utime(tmp_path / "in" / f"{number}.json", (number, number))
    with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
        session.sql(
            "CREATE TABLE tagged (ts TIMESTAMP(3), tags ARRAY<INT>, WATERMARK FOR ts AS ts) WITH "
            f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/in', "
            "'source.max-files-per-batch' = '1');"
            "CREATE VIEW `rows` AS SELECT ts, tag FROM tagged CROSS JOIN UNNEST(tags) AS t (tag)"
        )
        result = session.sql(ROWS_OF_DAYS)

        assert result.rows() == [{"n": 1}, {"n": 1}]


@pytest.mark.parametrize("written", [True, False])
@pytest.mark.parametrize("n", ["n", "CAST(PRINTF('%d', n) AS INT)"])
def test_a_batch_reports_on_each_operator_however_its_rows_go_on(written, n, session):
    session.sql(
        "CREATE TABLE `rows` (n INT, ts AS TO_TIMESTAMP_LTZ(n, 3), WATERMARK FOR ts AS ts) "
        "WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', "
        "'fields.n.start' = '1', 'fields.n.end' = '5');"
        "CREATE TABLE nowhere (n INT) WITH ('connector' = 'blackhole')"
    )
    query = FIRST_OF_DAYS.format(n=f"CAST({n} AS INT)")
    result = session.sql(f"INSERT INTO nowhere {query}" if written else query)
    if not written:
        assert result.rows() == [{"n": 5}]
    result.job.wait()

    operators = {each.name: each.rows_out for each in result.job.progress().operators}
    assert operators == {"window-aggregate-1": 1, "window-rank-1": 1}


def test_a_table_whose_rows_are_made_ends_in_the_micro_batch_that_makes_them(spark, tmp_path):
    with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
        session.sql(
            "CREATE TABLE `rows` (n BIGINT, ts AS TO_TIMESTAMP_LTZ(n, 3), WATERMARK FOR ts AS ts) "
            "WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', "
            "'fields.n.start' = '1', 'fields.n.end' = '5')"
        )
        result = session.sql(ROWS_OF_DAYS)

        assert result.rows() == [{"n": 5}]
        assert result.job is not None and result.job.progress().batches == 1


def test_files_that_come_while_a_job_is_down_are_not_late(spark, tmp_path):
    def run() -> list[dict[str, Any]]:
        with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
            session.sql(
                "CREATE TABLE `rows` (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
                f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/in')"
            )
            return session.sql(ROWS_OF_DAYS).rows()

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"ts": "of a friday"}\n')
    with pytest.raises(TidemarkError, match=r"a\.json:1"):
        run()
    (tmp_path / "in" / "a.json").write_text('{"ts": "2024-01-01 00:00:00"}\n')
    (tmp_path / "in" / "b.json").write_text('{"ts": "2024-01-01 00:00:01"}\n')

    assert run() == [{"n": 2}]


def test_rows_that_were_delivered_before_a_crash_are_not_delivered_again(spark, tmp_path):
    def run() -> None:
        with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
            session.sql(
                "CREATE TABLE `rows` (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
                f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/in');"
                "CREATE TABLE counts (n BIGINT) WITH "
                f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/counts')"
            )
            job = session.sql(f"INSERT INTO counts {ROWS_OF_DAYS}").job
            assert job is not None
            job.wait()

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"ts": "2024-01-01 00:00:00"}\n')
    run()
    # As if the process had been killed between the delivery and Spark's own note of it.
    shutil.rmtree(tmp_path / "checkpoint" / "insert-into-counts" / "spark" / "commits")
    (tmp_path / "in" / "b.json").write_text('{"ts": "2024-01-02 00:00:01"}\n')
    run()

    assert written_lines(tmp_path / "counts") == ['{"n":1}']


@pytest.mark.parametrize("killed", ["in the micro-batch that reads the end", "after it"])
def test_a_job_that_was_killed_when_it_had_read_the_end_emits_its_last_rows(
    killed, spark, tmp_path
):
    def run() -> list[dict[str, Any]]:
        with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
            session.sql(
                "CREATE TABLE `rows` (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
                f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/in', "
                "'source.max-files-per-batch' = '1')"
            )
            # Spark computes between two operators: the second one learns of the end afterwards.
            return session.sql(FIRST_OF_DAYS.format(n="CAST(PRINTF('%d', n) AS INT)")).rows()

    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.json").write_text('{"ts": "2024-01-01 00:00:00"}\n')
    assert run() == [{"n": 1}]
    log = tmp_path / "checkpoint" / "query" / "spark"
    (log / "offsets" / "2").unlink()
    (log / "commits" / "2").unlink()
    if killed != "after it":
        (log / "commits" / "1").unlink()

    assert run() == [{"n": 1}]


def test_a_job_that_was_killed_after_the_end_was_announced_emits_its_last_rows(spark, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "rows.json").write_text('{"ts": "2024-01-01 00:00:00"}\n')
    # The first start of the next run finds the marker beside rows that it has not read.
    end = tmp_path / "checkpoint" / "insert-into-counts" / "end-0" / "end.json"
    end.parent.mkdir(parents=True)
    end.write_text('{"ended":true}\n')
    with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
        session.sql(
            "CREATE TABLE `rows` (ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
            f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/in');"
            "CREATE TABLE counts (n BIGINT) WITH "
            f"('connector' = 'filesystem', 'format' = 'json', 'path' = '{tmp_path}/counts')"
        )
        session.sql(
            "INSERT INTO counts SELECT COUNT(*) AS n FROM TABLE(TUMBLE(TABLE `rows`, "
            "DESCRIPTOR(ts), INTERVAL '1' DAY)) GROUP BY window_start, window_end"
        ).job.wait()

        assert written_lines(tmp_path / "counts") == ['{"n":1}']


def test_a_query_resumes_with_what_its_reader_has_left(spark, tmp_path):
    (tmp_path / "in").mkdir()
    for n in range(4):
        file = tmp_path / "in" / f"{n}.json"
        file.write_text(f'{{"n": {n}}}\n')
        os.utime(file, (n, n))

    def rows(read: int | None) -> list[int]:
        with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
            session.sql(
                f"CREATE TABLE numbers (n INT) WITH ('connector' = 'filesystem', 'format' = 'json',"
                f" 'path' = '{tmp_path / 'in'}', 'source.max-files-per-batch' = '1')"
            )
            batches = session.sql("SELECT n FROM numbers").batches()
            taken = list(itertools.islice(batches, read))
            batches.close()
        return [n for table in taken for n in table["n"].to_pylist()]

    first = rows(2)
    assert first == [0, 1]
    # The reader had not asked for more than the second.
    rest = rows(None)
    assert rest[-3:] == [1, 2, 3]
    assert sorted({*first, *rest}) == [0, 1, 2, 3]
