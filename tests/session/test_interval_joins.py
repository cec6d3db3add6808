"""Interval joins from SQL and Python to rows: as one batch, as a stream, across a restart."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import tidemark
from tidemark import Session
from tidemark.errors import PlanError
from tidemark.session.verify import verify

DDL = """
CREATE TABLE shown (id INT, who STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{folder}/shown', 'format' = 'json');
CREATE TABLE clicks (id INT, who STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)
WITH ('connector' = 'filesystem', 'path' = '{folder}/clicks', 'format' = 'json');
"""
START = dt.datetime(2024, 1, 1)


def write(folder: Path, table: str, name: str, *rows: str) -> None:
    """Rows as "id who second"."""
    lines = []
    for row in rows:
        id_, who, second = row.split()
        at = str(START + dt.timedelta(seconds=int(second)))
        lines.append(json.dumps({"id": int(id_), "who": who, "ts": at}))
    (folder / table).mkdir(exist_ok=True)
    (folder / table / f"{name}.json").write_text("\n".join(lines) + "\n")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "shown", "a", "1 ann 0", "2 bob 5", "3 ann 20", "4 cid 30")
    write(tmp_path, "clicks", "a", "11 ann 4", "12 bob 16", "13 ann 21", "14 dee 30")
    return tmp_path


@pytest.fixture
def session(spark, folder) -> Iterator[Session]:
    session = tidemark.connect(spark)
    session.sql(DDL.format(folder=folder))
    yield session
    session.stop()


NEAR = "v.who = c.who AND c.ts BETWEEN v.ts - INTERVAL '2' SECOND AND v.ts + INTERVAL '10' SECOND"
FULL = f"SELECT v.id AS vid, c.id AS cid FROM shown v FULL JOIN clicks c ON {NEAR}"


def test_rows_near_in_time_meet_and_others_are_padded(session):
    rows = {(row["vid"], row["cid"]) for row in session.sql(FULL).rows()}

    assert rows == {(1, 11), (3, 13), (2, None), (4, None), (None, 12), (None, 14)}


@pytest.mark.thorough
@pytest.mark.parametrize(("test", "ids"), [("EXISTS", [1, 3]), ("NOT EXISTS", [2, 4])])
def test_semi_and_anti_joins_keep_each_row_once(session, test, ids):
    query = f"SELECT id FROM shown v WHERE {test} (SELECT 1 FROM clicks c WHERE {NEAR})"

    assert sorted(row["id"] for row in session.sql(query).rows()) == ids


def test_a_stream_returns_the_rows_of_the_batch(session):
    assert [found.equal for found in verify(session, FULL)] == [True]


@pytest.mark.thorough
def test_a_condition_between_the_rows_decides_what_is_padded(session):
    query = FULL.replace("FULL", "LEFT") + " AND v.id + c.id < 15"

    rows = {(row["vid"], row["cid"]) for row in session.sql(query).rows()}

    assert rows == {(1, 11), (2, None), (3, None), (4, None)}


def test_windows_over_a_left_join_count_its_padded_rows(session):
    query = """
    SELECT window_end, COUNT(*) AS n, COUNT(cid) AS clicked FROM TABLE(TUMBLE(TABLE joined,
    DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end"""
    session.sql(
        f"CREATE VIEW joined AS SELECT v.ts, c.id AS cid FROM shown v LEFT JOIN clicks c ON {NEAR}"
    )
    expected = {10: (2, 1), 30: (1, 1), 40: (1, 0)}

    assert [found.equal for found in verify(session, query)] == [True]
    counts = {
        int((row["window_end"] - START).total_seconds()): (row["n"], row["clicked"])
        for row in session.sql(query).rows()
    }
    assert counts == expected


def frames(session: Session):
    def frame(*rows: tuple[int, str, int]):
        timed = [(id_, who, START + dt.timedelta(seconds=s)) for id_, who, s in rows]
        return session.spark.createDataFrame(timed, "id INT, who STRING, ts TIMESTAMP")

    views = frame((1, "ann", 0), (2, "bob", 5), (3, "ann", 20))
    return views, frame((11, "ann", 4), (12, "bob", 15), (13, "ann", 21), (14, "dee", 30))


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("inner", {(1, "ann", 11), (2, "bob", 12), (3, "ann", 13)}),
        ("right", {(1, "ann", 11), (2, "bob", 12), (3, "ann", 13), (None, "dee", 14)}),
    ],
)
def test_dataframes_join_by_the_same_plan(session, how, expected):
    views, clicks = frames(session)
    joined = tidemark.interval_join(
        views, clicks, on="who", left_time="ts", right_time="ts",
        between=("-2 seconds", "10 seconds"), how=how, watermarks={"left": "5 seconds"},
    )  # fmt: skip

    assert {(row.id, row.who, row.id_right) for row in joined.collect()} == expected


def test_the_stream_api_selects_and_processes_pairs(session):
    views, clicks = frames(session)
    pairs = (
        tidemark.stream(views, time="ts")
        .key_by("who")
        .interval_join(tidemark.stream(clicks, time="ts", delay="5 seconds").key_by("who"))
        .between("-2 seconds", "10 seconds")
        .upper_bound_exclusive()
    )

    selected = pairs.select("l.id AS view", "r.id AS click").collect()
    assert {(row.view, row.click) for row in selected} == {(1, 11), (3, 13)}

    def doubled(frame):
        return frame.assign(n=frame["id"] * 2)[["n"]]

    assert {row.n for row in pairs.process(doubled, "n INT", "l.id").collect()} == {2, 6}


def test_bounds_are_required_and_checked(session):
    views, clicks = frames(session)
    left = tidemark.stream(views, time="ts").key_by("who")
    join = left.interval_join(tidemark.stream(clicks, time="ts").key_by("who"))

    with pytest.raises(PlanError, match="needs bounds"):
        join.select("l.id")
    with pytest.raises(PlanError, match="greater than the upper"):
        join.between("1 second", "-1 second")
    with pytest.raises(PlanError, match="not a valid bound of an interval join"):
        join.between("soon", "1 second")


@pytest.mark.thorough
def test_in_processing_time_rows_match_that_arrive_close_together(session):
    query = """
    SELECT v.id AS vid, c.id AS cid FROM
      (SELECT id, who, PROCTIME() AS seen FROM shown) v LEFT JOIN
      (SELECT id, who, PROCTIME() AS seen FROM clicks) c
    ON v.who = c.who AND c.seen BETWEEN v.seen - INTERVAL '1' HOUR AND v.seen + INTERVAL '1' HOUR"""

    rows = {(row["vid"], row["cid"]) for row in session.sql(query).rows()}

    assert rows == {(1, 11), (1, 13), (2, 12), (3, 11), (3, 13), (4, None)}
