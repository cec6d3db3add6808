"""Large tables and streams: workers read them in columns, with the rows that Spark reads."""

from __future__ import annotations

import json
import os
import random
from pathlib import Path

import pytest

import tidemark
from tests.thorough import parameters
from tests.waiting import wait_until
from tidemark.connectors.filesystem import file_parts
from tidemark.errors import DataError

TABLES = """
SET 'execution.runtime-mode' = 'batch';
SET 'table.optimizer.join.broadcast-threshold' = '-1';
CREATE TABLE orders (
  id INT, currency STRING, amount DECIMAL(10, 2), ts TIMESTAMP(3),
  at_noon AS CAST(ts AS DATE), name STRING METADATA FROM 'file.name',
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{folder}/orders', 'format' = 'json');
CREATE TABLE rates (
  currency STRING, rate DECIMAL(10, 4), ts TIMESTAMP(3), WATERMARK FOR ts AS ts,
  PRIMARY KEY (currency) NOT ENFORCED
) WITH ('connector' = 'filesystem', 'path' = '{folder}/rates', 'format' = 'csv');
"""
QUERIES = {
    "filter": "SELECT id, UPPER(currency), name FROM orders WHERE amount > 50",
    "computed by Spark above": "SELECT id, MD5(currency) FROM orders WHERE at_noon IS NOT NULL",
    "windows": "SELECT window_start, currency, COUNT(*), SUM(amount) FROM TABLE(TUMBLE(TABLE"
    " orders, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, currency",
    "temporal join": "SELECT o.id, o.amount * r.rate FROM orders AS o"
    " LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.currency = r.currency",
    "group": "SELECT currency, COUNT(DISTINCT name), MAX(ts) FROM orders GROUP BY currency",
    "one group": "SELECT 'all', COUNT(*), MAX(ts) FROM orders UNION ALL SELECT 'one', 1, NULL",
    "windows without keys": "SELECT window_end, COUNT(*), MIN(id) FROM TABLE(HOP(TABLE orders,"
    " DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end",
    "ranks in windows": "SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start,"
    " window_end ORDER BY n DESC, currency) AS place FROM (SELECT window_start, window_end,"
    " currency, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), INTERVAL '10' SECOND))"
    " GROUP BY window_start, window_end, currency)) WHERE place <= 2",
    "window join": "SELECT l.id, r.rate, l.window_start FROM (SELECT * FROM TABLE(TUMBLE(TABLE orders,"
    " DESCRIPTOR(ts), INTERVAL '1' SECOND))) AS l JOIN (SELECT * FROM TABLE(TUMBLE(TABLE rates,"
    " DESCRIPTOR(ts), INTERVAL '1' SECOND))) AS r ON l.window_start = r.window_start"
    " AND l.window_end = r.window_end AND l.currency = r.currency",
    "a table joined with itself": "SELECT a.id, b.amount, b.name FROM orders AS a JOIN orders AS b"
    " ON a.id = b.id + 1 WHERE a.amount > 50",
    "views of one table": "SELECT a.id, b.id AS other, a.currency FROM orders AS a LEFT JOIN"
    " (SELECT id, ts FROM orders WHERE currency = 'USD' AND amount > 90) AS b"
    " ON a.id = b.id AND b.ts BETWEEN a.ts - INTERVAL '1' SECOND AND a.ts",
    "a table and its sums": "SELECT a.id, s.total FROM orders AS a JOIN (SELECT currency, SUM(amount)"
    " AS total FROM orders GROUP BY currency) AS s ON a.currency = s.currency WHERE a.amount > 90",
    "sums of several kinds": "SELECT m.currency, m.n, s.total, d.n FROM (SELECT currency, COUNT(*) AS n FROM orders"
    " GROUP BY currency) AS m JOIN (SELECT currency, SUM(amount) AS total FROM orders GROUP BY currency)"
    " AS s ON m.currency = s.currency LEFT JOIN (SELECT name, COUNT(DISTINCT currency) AS n FROM orders"
    " GROUP BY name) AS d ON d.n = m.n",
    "computed by Spark in between": "SELECT a.id, s.n FROM (SELECT PRINTF('%d', id) AS h, id FROM orders) AS a"
    " JOIN (SELECT PRINTF('%d', MAX(id)) AS h, COUNT(*) AS n FROM orders GROUP BY currency) AS s ON a.h = s.h"
    " JOIN orders AS b ON a.id = b.id",
    "a view without rows": "SELECT a.id, b.id AS other FROM orders AS a LEFT JOIN"
    " (SELECT * FROM orders WHERE currency = 'none') AS b ON a.id = b.id",
}

OFTEN = {
    "computed by Spark above",
    "windows",
    "temporal join",
    "group",
    "views of one table",
    "sums of several kinds",
    "computed by Spark in between",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder, random_ = tmp_path_factory.mktemp("large"), random.Random(7)
    for table in ("orders", "rates"):
        (folder / table).mkdir()
    times = sorted(random_.randrange(60) for _ in range(600))
    lines = [
        json.dumps(
            {
                "id": number,
                "currency": random_.choice(["EUR", "USD", "日本", None]),
                "amount": random_.randrange(10_000) / 100,
                "ts": f"2024-01-01 00:00:{second:02}.{number % 1000:03}",
            },
            ensure_ascii=number % 100 == 0,
        )
        for number, second in enumerate(times)
    ]
    for name in range(3):
        content = "\n".join(lines[name * 200 : name * 200 + 200]) + "\n"
        (folder / "orders" / f"{name}.json").write_text(content)
    rates = [
        f"{c},{1 + s / 100},2024-01-01 00:00:{s:02}" for s in range(60) for c in ("EUR", "USD")
    ]
    (folder / "rates" / "rates.csv").write_text("\n".join(rates) + "\n")
    return folder


@pytest.fixture
def shared(monkeypatch):
    """Several workers share the smallest tables."""
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 100)
    monkeypatch.setattr(file_parts, "_SHARE", 9000)


def rows_of(spark, folder: Path, query: str) -> list[str]:
    session = tidemark.connect(spark)
    session.sql(TABLES.format(folder=folder))
    try:
        return sorted(map(str, session.sql(query).rows()))
    finally:
        session.stop()


@pytest.mark.parametrize("query", parameters(QUERIES, often=OFTEN))
def test_rows_are_those_that_spark_reads(spark, folder, monkeypatch, query):
    by_spark = rows_of(spark, folder, query)
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 100)
    monkeypatch.setattr(file_parts, "_SHARE", 9000)

    assert rows_of(spark, folder, query) == by_spark
    assert len(by_spark) > 1


def test_explain_shows_what_is_in_columns(folder, shared):
    session = tidemark.connect()
    session.sql(TABLES.format(folder=folder))

    drawn = session.sql(f"EXPLAIN {QUERIES['temporal join']}").rows()[0]["result"]

    assert drawn.count("Columns: workers read and compute all of this in columns") == 2


def test_explain_shows_which_table_is_read_once(folder, shared):
    session = tidemark.connect()
    session.sql(TABLES.format(folder=folder))

    drawn = session.sql(f"EXPLAIN {QUERIES['a table joined with itself']}").rows()[0]["result"]
    other = session.sql(f"EXPLAIN {QUERIES['temporal join']}").rows()[0]["result"]
    session.sql("SET 'table.optimizer.reuse-source-enabled' = 'FALSE'")
    off = session.sql(f"EXPLAIN {QUERIES['a table joined with itself']}").rows()[0]["result"]

    assert drawn.count("in columns; the table is read once for several inputs") == 2
    assert "read once" not in other
    assert "read once" not in off


@pytest.mark.parametrize(
    "query",
    [QUERIES["filter"], QUERIES["views of one table"]],
)
def test_errors_name_the_file_and_the_line(spark, folder, shared, tmp_path, query):
    bad = tmp_path / "orders"
    bad.mkdir()
    lines = (folder / "orders" / "0.json").read_text().splitlines()
    lines[150] = '{"id": 1, "amount": "much", "ts": "2024-01-01 00:00:00"}'
    (bad / "bad.json").write_text("\n".join(lines))

    with pytest.raises(DataError, match=r"bad\.json:151  cannot read `amount`"):
        rows_of(spark, tmp_path, query)


def test_rows_without_an_event_time_fail_with_their_file(spark, shared, tmp_path):
    (tmp_path / "orders").mkdir()
    (tmp_path / "orders" / "bad.json").write_text('{"id": 1, "amount": 100}\n' * 100)

    with pytest.raises(DataError, match=r"bad\.json  event time `ts` is NULL"):
        rows_of(spark, tmp_path, QUERIES["filter"])


def test_rows_that_a_filter_drops_need_no_event_time(spark, shared, tmp_path):
    (tmp_path / "orders").mkdir()
    good = '{"id": 2, "amount": 99, "currency": "EUR", "ts": "2024-01-01 00:00:00"}\n'
    (tmp_path / "orders" / "some.json").write_text('{"id": 1, "amount": 1}\n' * 100 + good)

    assert rows_of(spark, tmp_path, QUERIES["filter"]) == [
        "{'id': 2, 'EXPR$1': 'EUR', 'name': 'some.json'}"
    ]


def test_parquet_files_have_the_rows_that_spark_reads(spark, tmp_path, monkeypatch):
    spark.sql(
        "SELECT CAST(id AS INT) AS id, CAST(id AS STRING) AS s, CAST(id / 7 AS DECIMAL(8, 3)) AS d, "
        "timestamp_millis(id * 1000) AS moment, CAST(timestamp_millis(id) AS TIMESTAMP_NTZ) AS ts, "
        "array(id, NULL) AS ids, IF(id % 3 = 0, NULL, named_struct('a', id, 'b', 'x')) AS r "
        "FROM range(1000)"
    ).write.option("parquet.block.size", 2000).parquet(str(tmp_path / "rows"))
    sql = f"""
        CREATE TABLE rows_ (id BIGINT, S STRING, d DECIMAL(10, 4), moment TIMESTAMP_LTZ(3),
          ts TIMESTAMP(3), ids ARRAY<BIGINT>, r ROW<a BIGINT, b STRING>, missing INT
        ) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/rows', 'format' = 'parquet');
        SET 'execution.runtime-mode' = 'batch';
        SELECT * FROM rows_ WHERE id > 10
    """
    session = tidemark.connect(spark)
    by_spark = session.sql(sql).rows()
    monkeypatch.setattr(file_parts, "_SHARED_COLUMNS_FROM", 100)
    monkeypatch.setattr(file_parts, "_SHARE", 9000)
    drawn = session.sql("EXPLAIN SELECT * FROM rows_ WHERE id > 10").rows()[0]["result"]

    assert "in columns" in drawn
    assert sorted(map(str, session.sql("SELECT * FROM rows_ WHERE id > 10").rows())) == sorted(
        map(str, by_spark)
    )
    assert len(by_spark) == 989


AVRO = """
CREATE TABLE made (id INT, shop STRING, times ARRAY<TIMESTAMP(3)>, t TIME(3), n AS id * 2)
  WITH ('connector' = 'filesystem', 'path' = '{folder}/made', 'format' = 'avro' {more});
CREATE TABLE kept (id INT, t TIME(3), shop STRING, times ARRAY<TIMESTAMP(3)>) PARTITIONED BY (shop)
  WITH ('connector' = 'filesystem', 'path' = '{folder}/kept', 'format' = 'avro',
    'auto-compaction' = 'true');
"""


def test_avro_files_are_read_and_written_in_batches_and_streams(spark, tmp_path, monkeypatch):
    session = tidemark.connect(spark)
    session.sql(AVRO.format(folder=tmp_path, more=""))
    made = session.sql(
        "SET 'execution.runtime-mode' = 'batch';"
        "INSERT INTO made SELECT CAST(id AS INT), CONCAT('s', CAST(id AS STRING)),"
        " ARRAY[TIMESTAMP '2024-01-01 00:00:00.5'], TIME '01:02:03'"
        " FROM (VALUES (1), (2), (3)) AS t (id)"
    ).job
    assert made is not None
    made.wait()
    by_spark = sorted(map(str, session.sql("SELECT * FROM made").rows()))
    monkeypatch.setattr(file_parts, "_SHARED_FROM", 1)
    monkeypatch.setattr(file_parts, "_SHARE", 500)

    assert len(by_spark) == 3
    assert sorted(map(str, session.sql("SELECT * FROM made").rows())) == by_spark

    streaming = tidemark.connect(spark, checkpoint=tmp_path / "checkpoint")
    streaming.sql(AVRO.format(folder=tmp_path, more=", 'source.monitor-interval' = '1 s'"))
    job = streaming.sql("INSERT INTO kept SELECT id, t, shop, times FROM made WHERE id > 1").job
    assert job is not None
    written = tmp_path / "kept"
    wait_until(lambda: len([*written.glob("shop=*/[!._]*")]) == 2)
    job.stop()

    found = session.sql("SELECT id, shop, t, times FROM kept").rows()
    assert sorted((row["id"], row["shop"]) for row in found) == [(2, "s2"), (3, "s3")]


COUNTS = """
CREATE TABLE shops (shop STRING)
  WITH ('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json');
SELECT shop, COUNT(*) AS n FROM shops GROUP BY shop
"""


def changes(spark, folder: Path, checkpoint: Path) -> list[tuple[str, dict[str, object]]]:
    """The changes of what has come so far; the checkpoint goes on with what comes then."""
    with tidemark.connect(spark, checkpoint=checkpoint) as session:
        result = session.sql(COUNTS.format(folder=folder))
        return [(change.kind, change.row) for change in result.changes()]


def test_a_stream_goes_on_in_columns_where_spark_has_read_before(spark, tmp_path, monkeypatch):
    come, checkpoint = tmp_path / "in", tmp_path / "checkpoint"
    come.mkdir()
    monkeypatch.setattr(file_parts, "can_stream", lambda *_: False)
    (come / "1.json").write_text('{"shop": "a"}\n' * 3)
    assert changes(spark, come, checkpoint)[-1] == ("+U", {"shop": "a", "n": 3})
    monkeypatch.undo()

    (come / "2.json").write_text('{"shop": "a"}\n')

    assert changes(spark, come, checkpoint) == [
        ("-U", {"shop": "a", "n": 3}),
        ("+U", {"shop": "a", "n": 4}),
    ]


def test_a_stream_in_columns_counts_what_it_reads_and_names_what_it_cannot(spark, tmp_path):
    come = tmp_path / "in"
    come.mkdir()
    (come / "1.json").write_text('{"n": 1}\n{"n": 2}\nbroken\n' + '{"n": 0}\n' * 97)
    table = "CREATE TABLE t (n INT) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = "
    with tidemark.connect(spark, checkpoint=tmp_path / "c1") as session:
        skipping = f"{table}'{come}', 'json.ignore-parse-errors' = 'true'); "
        result = session.sql(f"{skipping} SELECT n FROM t WHERE n > 1")
        assert [row["n"] for row in result.rows()] == [2]
        assert result.job is not None
        progress = result.job.progress()
        assert (progress.rows_in, progress.skipped) == (99, 1)

    with (
        tidemark.connect(spark, checkpoint=tmp_path / "c2") as session,
        pytest.raises(DataError, match=r"1\.json:3 "),
    ):
        session.sql(f"{table}'{come}'); SELECT n FROM t WHERE n > 1").rows()


def test_a_backlog_is_read_in_order_of_time_some_files_per_batch(spark, tmp_path):
    come = tmp_path / "in"
    come.mkdir()
    for place, name in enumerate("cab"):
        file = come / f"{name}.json"
        file.write_text(f'{{"n": {place}}}\n')
        os.utime(file, (1_700_000_000 + place, 1_700_000_000 + place))
    with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
        result = session.sql(
            "CREATE TABLE t (n INT) WITH ('connector' = 'filesystem', 'format' = 'json', "
            f"'path' = '{come}', 'source.max-files-per-batch' = '1'); SELECT n FROM t"
        )
        assert [row["n"] for row in result.rows()] == [0, 1, 2]
        assert result.job is not None and result.job.progress().batches == 3


def test_rows_that_are_dropped_in_columns_advance_the_watermark(spark, tmp_path):
    come = tmp_path / "in"
    come.mkdir()
    for second, lines in enumerate(["1 01, 0 30", "1 02, 1 31"]):
        rows = (line.split() for line in lines.split(", "))
        (come / f"{second}.json").write_text(
            "".join(f'{{"kept": {kept}, "ts": "2024-01-01 00:00:{at}"}}\n' for kept, at in rows)
        )
        os.utime(come / f"{second}.json", (1_700_000_000 + second, 1_700_000_000 + second))
    with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
        session.sql(
            "CREATE TABLE t (kept INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ("
            f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{come}', "
            "'source.max-files-per-batch' = '1')"
        )
        result = session.sql(
            "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), "
            "INTERVAL '10' SECOND)) WHERE kept = 1 GROUP BY kept, window_start, window_end"
        )

        assert [(row["window_start"].second, row["n"]) for row in result.rows()] == [
            (0, 1),
            (30, 1),
        ]
        assert result.job is not None
        assert result.job.progress().operators[0].late == (1,)


@pytest.mark.parametrize(
    "below",
    [
        # None of them goes by event time itself.
        "SELECT n, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY n ORDER BY PROCTIME()) AS r "
        "FROM t) WHERE r = 1",
        "SELECT n, ts, SUM(n) OVER (PARTITION BY n ORDER BY p) AS s "
        "FROM (SELECT *, PROCTIME() AS p FROM t)",
    ],
)
def test_windows_close_above_operators_that_do_not_go_by_time(below, spark, tmp_path):
    come = tmp_path / "in"
    come.mkdir()
    for place, seconds in enumerate([(1, 12), (2, 30), (31, 13)]):
        file = come / f"{place}.json"
        rows = [f'{{"n": {s}, "ts": "2024-01-01 00:00:{s:02d}"}}\n' for s in seconds]
        file.write_text("".join(rows))
        os.utime(file, (1_700_000_000 + place, 1_700_000_000 + place))
    with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
        session.sql(
            "CREATE TABLE t (n INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ("
            f"'connector' = 'filesystem', 'format' = 'json', 'path' = '{come}', "
            f"'source.max-files-per-batch' = '1'); CREATE VIEW x AS {below}"
        )
        result = session.sql(
            "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE x, DESCRIPTOR(ts), "
            "INTERVAL '10' SECOND)) GROUP BY window_start, window_end"
        )

        # Of the second file, one row is behind the first window, and of the third behind the next.
        found = [(row["window_start"].second, row["n"]) for row in result.rows()]
        assert found == [(0, 1), (10, 1), (30, 2)]
        assert result.job is not None
        assert result.job.progress().operators[-1].late == (2,)
