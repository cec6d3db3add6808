"""Rows combined before they are moved, or not: the same windows, and the same number of late rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import tidemark
from tests.thorough import names, parameters
from tidemark import Session

from .moving import MovingJob

WINDOWS = """
SELECT k, TUMBLE_END(ts, INTERVAL '10' SECOND) AS e, COUNT(*) AS n, SUM(v) AS s, AVG(v) AS a,
  MIN(v) AS lo, MAX(v) AS hi
FROM t GROUP BY {keys}TUMBLE(ts, INTERVAL '10' SECOND)"""


@pytest.fixture
def session(spark, tmp_path: Path) -> Iterator[Session]:
    # Two files make a source of two partitions, whose rows have no order among them.
    for name, rows in {
        "a": ["a,1,00:00:01", "b,2,00:00:02", "a,3,00:00:09", "a,4,00:00:12", ",5,00:00:13"],
        "b": ["a,6,00:00:03", "b,7,00:00:19", "c,,00:00:21", "a,9,00:00:04", "b,10,00:00:33"],
    }.items():
        lines = [f"{line[: line.rindex(',')]},2024-01-01 {line[-8:]}" for line in rows]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines))
    session = tidemark.connect(spark)
    session.sql(
        f"""CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'path' = '{tmp_path}', 'format' = 'csv',
          'csv.null-literal' = '')"""
    )
    yield session
    session.stop()


# Without a count, nothing but the combining needs to know how many rows there were.
NO_COUNT = WINDOWS.replace("COUNT(*) AS n, ", "")


def windows(
    session: Session, phases: str, keys: str, sql: str = WINDOWS
) -> list[tuple[object, ...]]:
    session.sql(f"SET 'table.optimizer.agg-phase-strategy' = '{phases}'")
    selected = sql if keys else sql.replace("SELECT k,", "SELECT")
    rows = session.sql(selected.format(keys=keys)).rows()
    return sorted((tuple(row.values()) for row in rows), key=str)


@pytest.mark.parametrize("keys", parameters({"keys": "k, ", "no keys": ""}, often={"keys"}))
def test_two_phases_return_the_same_as_one(session, keys):
    one = windows(session, "ONE_PHASE", keys)

    assert len(one) == (7 if keys else 4)
    assert windows(session, "TWO_PHASE", keys) == windows(session, "AUTO", keys) == one
    without_count = [row[:-5] + row[-4:] for row in one]
    assert windows(session, "TWO_PHASE", keys, NO_COUNT) == sorted(without_count, key=str)


GROUPS = """
SELECT {keys}COUNT(*) AS n, COUNT(v) AS c, COUNT(DISTINCT v) FILTER (WHERE v > 2) AS d, AVG(v) AS a,
  MIN(k) AS lo, MAX(ts) AS hi, SUM(DISTINCT v / 2) AS h FROM t GROUP BY {keys}()"""


@pytest.mark.parametrize("keys", parameters({"keys": "k, ", "no keys": ""}, often={"keys"}))
def test_groups_of_a_batch_may_have_two_phases(session, keys):
    session.sql("SET 'execution.runtime-mode' = 'batch'")
    sql = GROUPS if not keys else GROUPS.replace("{keys}()", "k")
    one = windows(session, "ONE_PHASE", keys, sql)

    assert len(one) == (4 if keys else 1)
    assert windows(session, "TWO_PHASE", keys, sql) == windows(session, "AUTO", keys, sql) == one
    assert windows(session, "TWO_PHASE", "", "SELECT DISTINCT k FROM t") == sorted(
        [(key,) for key in (None, "a", "b", "c")], key=str
    )


RANKED = (
    "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER ({over}) AS n FROM {rows}) WHERE n <= {most}"
)
FIRSTS = {
    "top-n-1": RANKED.format(over="PARTITION BY k ORDER BY v DESC", rows="t", most=2),
    "keep-first-1": RANKED.format(over="PARTITION BY k ORDER BY ts", rows="t", most=1),
    "keep-last-1": RANKED.format(over="PARTITION BY k ORDER BY ts DESC", rows="t", most=1),
    "window-rank-1": RANKED.format(
        over="PARTITION BY k, window_start, window_end ORDER BY v",
        rows="TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))",
        most=1,
    ),
}


@pytest.mark.parametrize("operator", names(FIRSTS, often={"top-n-1", "window-rank-1"}))
def test_rows_of_a_batch_that_others_precede_may_be_left_out(session, operator):
    session.sql("SET 'execution.runtime-mode' = 'batch'")

    def firsts(phases: str) -> tuple[list[tuple[object, ...]], int]:
        session.sql(f"SET 'table.optimizer.agg-phase-strategy' = '{phases}'")
        result = session.sql(FIRSTS[operator])
        rows = sorted((tuple(row.values()) for row in result.rows()), key=str)
        [reported] = result.job.progress().operators
        assert reported.name == operator
        return rows, sum(reported.rows_in)

    one = firsts("ONE_PHASE")

    assert one[1] == 10
    assert firsts("TWO_PHASE") == firsts("AUTO") == one


def test_the_number_of_key_groups_is_an_option(session):
    session.sql("SET 'pipeline.max-parallelism' = '3'")

    assert session.launcher().key_groups == 3


def test_a_job_resumes_with_another_number_of_phases(spark, tmp_path):
    job = MovingJob(
        spark, tmp_path, "SELECT k, SUM(v) FROM a GROUP BY k, TUMBLE(ts, INTERVAL '1' MINUTE)"
    )

    for value, phases in enumerate(["ONE_PHASE", "TWO_PHASE"], start=1):
        job.options = {"table.optimizer.agg-phase-strategy": phases}
        assert not job.step(a=[(1, value, value), (2, 10 * value, value)])
    job.options = {"table.optimizer.agg-phase-strategy": "ONE_PHASE"}

    assert job.step(a=[(3, 0, 3000)]) == {(1, 3): 1, (2, 30): 1}
