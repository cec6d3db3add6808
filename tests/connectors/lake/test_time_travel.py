"""FOR SYSTEM_TIME AS OF a point in time, on tables that keep versions."""

from __future__ import annotations

import pytest

from tests.connectors.lake.sinks import Sink
from tests.connectors.lake.test_delta_scan import folder, made_at, numbers
from tests.connectors.lake.test_iceberg import APPEND, ddl, opened
from tidemark import connect
from tidemark.errors import DataError, PlanError, SqlError


def ask(ddl: str, query: str, zone: str = "UTC") -> list[tuple[object, ...]]:
    options = {"execution.runtime-mode": "batch", "table.local-time-zone": zone}
    with connect(engine="local", options=options) as session:
        [*session.run(f"{ddl}; CREATE VIEW v AS SELECT * FROM t")]
        return sorted(tuple(row.values()) for row in session.sql(query).rows())


@pytest.fixture
def delta(tmp_path):
    """A table with a row of each of two days."""
    path = folder(tmp_path / "t", numbers(1))
    folder(tmp_path / "t", numbers(2))
    made_at(path, "2024-05-01T10:00", "2024-05-02T10:00")
    return f"CREATE TABLE t (id BIGINT) WITH ('connector' = 'delta', 'table-path' = '{path}')"


@pytest.mark.parametrize(
    ("time", "zone", "expected"),
    [
        ("TIMESTAMP '2024-05-02 09:59:59.999'", "UTC", [(1,)]),
        ("TIMESTAMP '2024-05-02 10:00:00'", "UTC", [(1,), (2,)]),
        ("TIMESTAMP '2024-05-02 18:59:59'", "Asia/Tokyo", [(1,)]),
        ("TIMESTAMP '2024-05-02 19:00:00'", "Asia/Tokyo", [(1,), (2,)]),
        ("TIMESTAMP '2024-05-03 09:00:00' - INTERVAL '1' DAY", "UTC", [(1,)]),
        ("TIMESTAMP '2024-04-01 10:30:00' + INTERVAL '1' MONTH", "UTC", [(1,)]),
        ("TIMESTAMP '2099-01-01 00:00:00'", "UTC", [(1,), (2,)]),
    ],
)
def test_a_table_is_read_as_it_was(delta, time, zone, expected):
    assert ask(delta, f"SELECT * FROM t FOR SYSTEM_TIME AS OF {time}", zone) == expected


def test_a_table_is_joined_with_what_it_was(delta):
    query = "SELECT now.id, was.id FROM t AS now LEFT JOIN t FOR SYSTEM_TIME AS OF TIMESTAMP '2024-05-01 12:00:00' AS was ON now.id = was.id"
    assert ask(delta, query) == [(1, 1), (2, None)]


def test_a_time_before_the_first_version_is_an_error(delta):
    with pytest.raises(DataError, match="has no version at 2024-05-01 09:00:00 UTC"):
        ask(delta, "SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2024-05-01 09:00:00'")


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ("SELECT * FROM v FOR SYSTEM_TIME AS OF TIMESTAMP '2024-05-01 12:00:00'", "only a table"),
        ("SELECT * FROM t FOR SYSTEM_TIME AS OF TO_TIMESTAMP_LTZ(0, 3)", "known while planning"),
        ("SELECT * FROM t FOR SYSTEM_TIME AS OF 5", "known while planning"),
    ],
)
def test_what_has_no_time_to_travel_to_is_refused(delta, query, says):
    with pytest.raises(PlanError, match=says) as raised:
        ask(delta, query)
    assert raised.value.at is not None


def test_a_stream_is_not_read_as_it_was(delta):
    with pytest.raises(SqlError, match="requires 'mode' = 'batch'"):
        ask(
            delta.replace("WITH (", "WITH ('mode' = 'streaming', "),
            "SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '2024-05-01 12:00:00'",
        )


def test_a_table_of_iceberg_is_read_as_it_was(tmp_path):
    sink = Sink(ddl(tmp_path), APPEND)
    sink.take([("+I", 1)])
    sink.take([("+I", 2)])
    import datetime as dt

    made = opened(tmp_path).snapshots()[1].timestamp_ms
    times = [dt.datetime.fromtimestamp(ms / 1000, dt.UTC) for ms in (made, made - 1)]
    now, before = (
        ask(
            ddl(tmp_path),
            f"SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '{t:%Y-%m-%d %H:%M:%S.%f}'",
        )
        for t in times
    )
    assert (now, before) == ([(1,), (2,)], [(1,)])
