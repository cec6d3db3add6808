"""A row without an event time fails the job if it is there, and only then.

Event times here are computed from a column that filters name: Spark puts what a filter says of the
column into all expressions beside it, and evaluates those for rows that the filter drops.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

import tidemark
from tests.thorough import names, parameters
from tidemark.errors import TidemarkError
from tidemark.session.verify import verify

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from tidemark.session.session import Session

TABLES = """
CREATE TABLE datagen (
  event_type INT,
  person ROW<id INT, date_time TIMESTAMP(3)>,
  auction ROW<id INT, seller INT, date_time TIMESTAMP(3)>,
  bid ROW<auction INT, price INT, date_time TIMESTAMP(3)>,
  date_time AS CASE WHEN event_type = 0 THEN person.date_time
    WHEN event_type = 1 THEN auction.date_time ELSE bid.date_time END,
  WATERMARK FOR date_time AS date_time - INTERVAL '4' SECOND
) WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder}/events.json');
CREATE VIEW person AS SELECT person.id, date_time FROM datagen WHERE event_type = 0;
CREATE VIEW auction AS SELECT auction.id, auction.seller, date_time FROM datagen WHERE event_type = 1;
CREATE VIEW bid AS SELECT bid.auction, bid.price, date_time FROM datagen WHERE event_type = 2;
CREATE VIEW dear AS SELECT price, auction FROM bid WHERE price > 15;
"""


def at(second: int) -> str:
    return f"2024-01-01 00:00:{second:02}"


def person(id_: int, second: int) -> dict[str, Any]:
    return {"event_type": 0, "person": {"id": id_, "date_time": at(second)}}


def auction(id_: int, seller: int, second: int) -> dict[str, Any]:
    return {"event_type": 1, "auction": {"id": id_, "seller": seller, "date_time": at(second)}}


def bid(of: int, price: int, second: int) -> dict[str, Any]:
    return {"event_type": 2, "bid": {"auction": of, "price": price, "date_time": at(second)}}


EVENTS = [
    person(1, 0),
    auction(10, 1, 1),
    bid(10, 15, 2),
    person(2, 3),
    auction(20, 2, 4),
    bid(20, 25, 5),
    bid(10, 35, 12),
]


@pytest.fixture
def session(spark: SparkSession, tmp_path: Path) -> Session:
    session = tidemark.connect(spark)
    write(tmp_path, *EVENTS)
    session.sql(TABLES.format(folder=tmp_path))
    return session


def write(folder: Path, *events: dict[str, Any]) -> None:
    (folder / "events.json").write_text("\n".join(map(json.dumps, events)) + "\n", encoding="utf-8")


TUMBLING = "TABLE(TUMBLE(TABLE bid, DESCRIPTOR(date_time), INTERVAL '10' SECOND))"
# Queries of valid rows, and the values that come out.
QUERIES = {
    "a filter": ("SELECT bid.price FROM datagen WHERE event_type = 2", [(15,), (25,), (35,)]),
    "a filter that is true of other rows too": (
        "SELECT event_type FROM datagen WHERE event_type > 0 AND EXTRACT(SECOND FROM date_time) > 4",
        [(2,), (2,)],
    ),
    "a view": (
        "SELECT price, EXTRACT(SECOND FROM date_time) FROM bid",
        [(15, 2), (25, 5), (35, 12)],
    ),
    "a view over a view": ("SELECT price FROM dear WHERE auction = 10", [(35,)]),
    "a union": (
        "SELECT id, date_time FROM person UNION ALL SELECT id, date_time FROM auction",
        [(1,), (2,), (10,), (20,)],
    ),
    "windows": (
        f"SELECT SUM(price), window_start FROM {TUMBLING} GROUP BY window_start, window_end",
        [(35,), (40,)],
    ),
    "groups": ("SELECT auction, SUM(price) FROM bid GROUP BY auction", [(10, 50), (20, 25)]),
    "an interval join": (
        "SELECT a.id, b.price FROM auction AS a JOIN bid AS b ON a.id = b.auction "
        "AND b.date_time BETWEEN a.date_time AND a.date_time + INTERVAL '10' SECOND",
        [(10, 15), (20, 25)],
    ),
    "a regular join": (
        "SELECT p.id, a.id FROM person AS p JOIN auction AS a ON a.seller = p.id",
        [(1, 10), (2, 20)],
    ),
}


@pytest.mark.parametrize(
    "query", names(QUERIES, often={"a filter", "a view over a view", "windows"})
)
def test_rows_that_a_filter_drops_need_no_event_time(session: Session, query: str):
    sql, expected = QUERIES[query]

    rows = [tuple(row.values()) for row in session.sql(sql).rows()]

    assert sorted(row[: len(expected[0])] for row in rows) == expected


@pytest.mark.parametrize(
    "query", names(["a view over a view", "windows", "an interval join"], often={"windows"})
)
def test_rows_that_a_filter_drops_need_no_event_time_in_a_stream(session: Session, query: str):
    sql, expected = QUERIES[query]

    [outcome] = verify(session, sql)

    assert outcome.equal
    assert outcome.stream.rows == len(expected)


# Each meets the bid without a time, whether it asks for times or not.
MEETS = {
    "all columns": "SELECT * FROM datagen",
    "other columns": "SELECT bid.price FROM datagen WHERE event_type = 2",
    "a view": "SELECT price FROM bid",
    "a union": "SELECT price FROM bid UNION ALL SELECT id FROM person",
    "windows": QUERIES["windows"][0],
    "groups": QUERIES["groups"][0],
    "an interval join": QUERIES["an interval join"][0],
}


@pytest.mark.parametrize(
    ("query", "mode"),
    parameters(
        {
            **{f"{query}, batch": (query, "batch") for query in MEETS},
            "other columns, streaming": ("other columns", "streaming"),
            "windows, streaming": ("windows", "streaming"),
        },
        often={"a view, batch", "windows, batch", "windows, streaming"},
    ),
)
def test_a_row_without_an_event_time_fails_the_job_with_its_file_and_values(
    spark: SparkSession, tmp_path: Path, query: str, mode: str
):
    write(tmp_path, *EVENTS, {"event_type": 2, "bid": {"auction": 10, "price": 4711}})
    # With a checkpoint, bounded tables are read as a stream too.
    checkpoint = tmp_path / "checkpoint" if mode == "streaming" else None
    session = tidemark.connect(spark, checkpoint=checkpoint)
    session.sql(TABLES.format(folder=tmp_path))

    with pytest.raises(TidemarkError, match="event time `date_time` is NULL") as failure:
        session.sql(MEETS[query]).rows()

    assert failure.value.message.startswith(f"{tmp_path}/events.json  event time")
    assert "4711" in str(failure.value.notes["record"])


def test_a_row_without_an_event_time_may_be_filtered_out(session, tmp_path):
    write(tmp_path, *EVENTS, {"event_type": 2, "bid": {"auction": 10, "price": 4711}})

    [outcome] = verify(session, "SELECT id FROM person")

    assert outcome.equal
    assert outcome.stream.rows == 2


def test_a_filter_still_reaches_the_files(spark, session, tmp_path, capsys):
    times = "SELECT 1 AS k, TIMESTAMP_NTZ'2024-01-01 00:00:00' AS ts"
    spark.sql(times).write.parquet(str(tmp_path / "kept"))
    session.sql(
        "CREATE TABLE kept (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH "
        f"('connector' = 'filesystem', 'format' = 'parquet', 'path' = '{tmp_path}/kept')"
    )

    rows = session.sql("SELECT ts FROM kept WHERE k = 1").to_dataframe()
    rows.explain()

    assert re.search(r"PushedFilters: \[.*EqualTo\(\w+,1\)", capsys.readouterr().out)
    assert rows.count() == 1


def test_an_operator_rejects_a_row_of_a_dataframe_without_an_event_time(spark, session):
    rows = spark.sql(
        "SELECT * FROM VALUES ('a', TIMESTAMP '2024-01-01 00:00:00'), ('b', NULL) AS v (k, ts)"
    )
    session.register("rows", rows, watermark="ts")

    with pytest.raises(TidemarkError, match="event time `ts` is NULL") as failure:
        session.sql(
            "SELECT k, COUNT(*) FROM TABLE(TUMBLE(TABLE `rows`, DESCRIPTOR(ts), INTERVAL '1' DAY)) "
            "GROUP BY k, window_start, window_end"
        ).rows()

    assert json.loads(str(failure.value.notes["record"])) == {"k": "b", "ts": None}
