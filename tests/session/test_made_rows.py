"""Generated rows: workers make them in columns, with what is computed of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import tidemark
from tests.sink_files import written_lines
from tests.waiting import wait_until
from tidemark.connectors import made_rows
from tidemark.connectors.made_rows import row_ranges

MADE = """
CREATE TABLE made (
  id BIGINT, name STRING, price DOUBLE, clock TIME(3), ts AS TO_TIMESTAMP_LTZ(id * 1000, 3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'datagen', 'number-of-rows' = '60', 'tidemark.seed' = '7',
  'fields.name.length' = '1', 'fields.price.max' = '9',
  'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '90'
);
"""
QUERIES = {
    "filter": "SELECT id, name, price FROM made WHERE price > 4",
    "windows": "SELECT name, window_start, COUNT(*), MAX(price) FROM TABLE(TUMBLE(TABLE made,"
    " DESCRIPTOR(ts), INTERVAL '20' SECOND)) WHERE id > 3 GROUP BY name, window_start, window_end",
    "no columns": "SELECT COUNT(*) FROM made",
}


@pytest.fixture
def by_workers(monkeypatch):
    """Several workers share the smallest tables."""
    monkeypatch.setattr(made_rows, "_SMALL", 0)
    monkeypatch.setattr(row_ranges, "RANGE", 7)
    monkeypatch.setattr(row_ranges, "_SHARE", 700)


def rows_of(spark, query: str, checkpoint: Path | None = None) -> list[str]:
    with tidemark.connect(spark, checkpoint=checkpoint) as session:
        session.sql(MADE)
        return sorted(map(str, session.sql(query).rows()))


@pytest.mark.parametrize("query", QUERIES)
def test_rows_are_those_of_a_small_table(spark, monkeypatch, tmp_path, query):
    small = rows_of(spark, QUERIES[query])
    monkeypatch.setattr(made_rows, "_SMALL", 0)
    monkeypatch.setattr(row_ranges, "RANGE", 7)
    monkeypatch.setattr(row_ranges, "_SHARE", 700)

    assert rows_of(spark, QUERIES[query]) == small
    if query == "windows":
        assert rows_of(spark, QUERIES[query], tmp_path / "checkpoint") == small
    assert small


def test_explain_shows_what_is_in_columns(by_workers):
    session = tidemark.connect()
    session.sql(MADE)

    [row] = session.sql(f"EXPLAIN {QUERIES['windows']}").rows()
    assert "Columns: workers read and compute all of this in columns" in row["result"]


def test_a_stream_that_resumes_goes_on_with_the_next_row(spark, by_workers, tmp_path):
    table = (
        "CREATE TABLE made (n BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = '20',"
        " 'tidemark.seed' = '7')"
    )
    out = tmp_path / "out"

    def until(rows: int) -> list[int]:
        with tidemark.connect(spark, checkpoint=tmp_path / "checkpoint") as session:
            script = f"{table}; INSERT INTO kept SELECT n FROM made WHERE n IS NOT NULL"
            session.sql(
                "CREATE TABLE kept (n BIGINT) WITH ('connector' = 'filesystem', 'format' = 'csv',"
                f" 'path' = '{out}')"
            )
            job = session.sql(script).job
            assert job is not None
            wait_until(lambda: len(written(out)) >= rows, alive=lambda: job.state == "running")
            job.stop()
        return written(out)

    some = until(20)
    more = until(len(some) + 20)

    first = tidemark.connect(engine="local")
    first.sql(table.replace("'rows-per-second' = '20'", f"'number-of-rows' = '{len(more)}'"))
    assert sorted(more) == sorted(row["n"] for row in first.sql("SELECT n FROM made").rows())


def written(folder: Path) -> list[int]:
    return [int(line) for line in written_lines(folder)]
