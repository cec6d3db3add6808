"""Windows over unbounded tables: results in processing time, and late rows into a sink."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tidemark
from tests.sink_files import written_rows
from tests.waiting import wait_until
from tidemark.session.session import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = """
CREATE TABLE ev (k STRING, v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/ev',
  'source.monitor-interval' = '1');
CREATE TABLE counts (k STRING, n BIGINT)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/counts');
CREATE TABLE lates (v INT, late_by BIGINT)
WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/lates');
"""


@dataclass
class World:
    """A session with a table into which rows can be put at any time."""

    session: Session
    folder: Path
    files: int = 0

    def put(self, *rows: tuple[str, int, int]) -> None:
        """Rows of a key, a value and a second of one minute, which come together."""
        self.files += 1
        lines = [
            json.dumps({"k": k, "v": v, "ts": f"2024-05-06 10:00:{second:02}"})
            for k, v, second in rows
        ]
        hidden = self.folder / "ev" / f".{self.files:03}"
        hidden.write_text("\n".join(lines) + "\n", encoding="utf-8")
        hidden.rename(self.folder / "ev" / f"{self.files:03}.json")

    def written(self, name: str) -> list[dict[str, Any]]:
        return written_rows(self.folder / name)


@pytest.fixture
def world(spark: SparkSession, tmp_path: Path) -> Iterator[World]:
    (tmp_path / "ev").mkdir()
    session = tidemark.connect(spark)
    session.sql(TABLES.format(folder=tmp_path))
    yield World(session, tmp_path)
    session.stop()


def test_a_result_is_emitted_periodically_while_its_window_is_open(world: World):
    query = (
        "SELECT k, SUM(v) AS s FROM ev GROUP BY k, TUMBLE(ts, INTERVAL '1' HOUR) "
        "EMIT WITH DELAY '1' SECOND BEFORE WATERMARK"
    )
    world.put(("a", 1, 1), ("b", 5, 2))
    with world.session.sql(query).live() as now:
        sums = lambda: {row["k"]: row["s"] for row in now.rows()}  # noqa: E731
        wait_until(lambda: sums() == {"a": 1, "b": 5}, sums)
        world.put(("a", 2, 3), ("a", 4, 4))
        wait_until(lambda: sums() == {"a": 7, "b": 5}, sums)
        # Two first results, and one that takes the place of the first.
        assert now.snapshot().changes == 4


def test_processing_time_windows_end_even_if_no_row_arrives(world: World):
    world.session.sql("SET 'table.local-time-zone' = 'Asia/Shanghai'")
    counted = world.session.sql(
        "SELECT k, COUNT(*) AS n, "
        "TUMBLE_START(pt, INTERVAL '1' SECOND) > LOCALTIMESTAMP - INTERVAL '1' HOUR AS today "
        "FROM ev GROUP BY k, TUMBLE(pt, INTERVAL '1' SECOND)"
    )
    rows = world.session.sql(
        "SELECT k, v FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(pt), "
        "INTERVAL '1' SECOND))"
    )
    world.put(("a", 1, 1), ("a", 2, 2), ("b", 3, 1))
    for result, expected in (
        (counted, [("a", 2, True), ("b", 1, True)]),
        (rows, [("a", 1), ("a", 2), ("b", 3)]),
    ):
        with result.live() as now:
            told = lambda now=now: sorted(tuple(row.values()) for row in now.rows())  # noqa: E731
            wait_until(lambda told=told, expected=expected: told() == expected, told)


def test_late_rows_go_to_a_sink_while_the_windows_count_the_others(world: World):
    result = world.session.sql(
        "EXECUTE STATEMENT SET BEGIN "
        "INSERT INTO counts SELECT k, COUNT(*) FROM ev GROUP BY k, "
        "TUMBLE(ts, INTERVAL '10' SECOND); "
        "INSERT INTO lates SELECT v, late_by FROM ev$late; "
        "INSERT INTO lates SELECT -v, late_by FROM ev$late; END"
    )

    def put(*rows: tuple[str, int, int]) -> None:
        """And wait until the job, which both are a part of, has read them."""
        before = result.progress().rows_in
        world.put(*rows)
        wait_until(
            lambda: result.progress().rows_in >= before + len(rows),
            lambda: (result.job.failure, result.progress()),
            alive=lambda: result.job.state == "running",
        )

    put(("a", 1, 1))
    put(("a", 2, 12))
    put(("a", 3, 5))
    put(("a", 4, 25))
    wait_until(lambda: len(world.written("counts")) == 2, lambda: world.written("counts"))

    late = sorted(world.written("lates"), key=lambda row: row["v"])
    assert late == [{"v": -3, "late_by": 7000}, {"v": 3, "late_by": 7000}]
    assert sorted(row["n"] for row in world.written("counts")) == [1, 1]
    [source] = result.progress().followed
    assert (source.table, source.watermark) == ("ev", "2024-05-06T10:00:25.000Z")
    assert result.job.state == "running"
