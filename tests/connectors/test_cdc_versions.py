"""CDC files as versioned tables, from SQL to rows: which time ends a version."""

import json

import pytest

import tidemark

ORDERS = [
    {"id": 1, "cur": "EUR", "ts": "2024-05-06 10:00:01Z"},
    {"id": 2, "cur": "EUR", "ts": "2024-05-06 10:00:06Z"},
    {"id": 3, "cur": "EUR", "ts": "2024-05-06 10:00:09Z"},
    {"id": 4, "cur": "EUR", "ts": "2024-05-06 10:00:13Z"},
]
QUERY = """
    SELECT o.id, r.rate FROM orders AS o
    LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur
"""
T0 = 1714989600000  # 2024-05-06 10:00:00 in UTC
KEY = "PRIMARY KEY (cur) NOT ENFORCED"


def row(rate):
    return {"cur": "EUR", "rate": rate}


def debezium(second, op, before, after):
    source = {"ts_ms": T0 + 1000 * second}
    return {"op": op, "before": before, "after": after, "ts_ms": T0 + 99_000, "source": source}


def canal(second, type_, data, old=None):
    return {"type": type_, "data": [data], "old": old, "es": T0 + 1000 * second, "ts": T0 + 99_000}


# Inserted at 0, changed at 5, deleted at 8, inserted again at 12.
STORY = {
    "debezium-json": [
        debezium(0, "r", None, row(1)),
        debezium(5, "u", row(1), row(2)),
        debezium(8, "d", row(2), None),
        debezium(12, "c", None, row(3)),
    ],
    "canal-json": [
        canal(0, "INSERT", row(1)),
        canal(5, "UPDATE", row(2), [{"rate": 1}]),
        canal(8, "DELETE", row(2)),
        canal(12, "INSERT", row(3)),
    ],
}


@pytest.fixture
def joined(spark, tmp_path):
    """The join of the orders with versions from a file: order ids and their rates."""

    def run(format_, events, columns):
        for name, lines in (("orders", ORDERS), ("rates", events)):
            text = "".join(json.dumps(line) + "\n" for line in lines)
            (tmp_path / f"{name}.json").write_text(text, encoding="utf-8")
        session = tidemark.connect(spark)
        try:
            result = session.sql(
                f"""
                CREATE TABLE orders (
                  id INT, cur STRING, ts TIMESTAMP_LTZ(3),
                  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
                ) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/orders.json',
                        'format' = 'json');
                CREATE TABLE rates ({columns}) WITH (
                  'connector' = 'filesystem', 'path' = '{tmp_path}/rates.json',
                  'format' = '{format_}');
                {QUERY}
                """
            )
            return sorted((change.row["id"], change.row["rate"]) for change in result.changes())
        finally:
            session.stop()

    return run


@pytest.mark.parametrize(
    ("format_", "key"),
    [("debezium-json", "value.source.timestamp"), ("canal-json", "value.event-timestamp")],
)
def test_by_the_change_time_a_delete_ends_its_version_when_it_happened(joined, format_, key):
    columns = f"""
        cur STRING, rate INT, changed TIMESTAMP_LTZ(3) METADATA FROM '{key}' VIRTUAL,
        WATERMARK FOR changed AS changed - INTERVAL '5' SECOND, {KEY}
    """

    assert joined(format_, STORY[format_], columns) == [(1, 1), (2, 2), (3, None), (4, 3)]


@pytest.mark.parametrize("format_", STORY)
def test_the_change_time_has_an_older_spelling(joined, format_):
    columns = f"""
        cur STRING, rate INT, changed TIMESTAMP_LTZ(3) AS SYSTEM_METADATA("db_operation_time"),
        WATERMARK FOR changed AS changed - INTERVAL '5' SECOND, {KEY}
    """

    assert joined(format_, STORY[format_], columns) == [(1, 1), (2, 2), (3, None), (4, 3)]


def test_by_a_field_of_the_row_a_delete_ends_its_version_at_that_fields_time(joined):
    def at(rate, second):
        return {**row(rate), "ts": f"2024-05-06 10:00:{second:02d}Z"}

    events = [
        debezium(0, "r", None, at(1, 0)),
        debezium(5, "u", at(1, 0), at(2, 5)),
        debezium(8, "d", at(2, 5), None),
        debezium(12, "c", None, at(3, 12)),
    ]
    columns = f"""
        cur STRING, rate INT, ts TIMESTAMP_LTZ(3),
        WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, {KEY}
    """

    # The deleted row still says 10:00:05, so its version ends as it begins.
    assert joined("debezium-json", events, columns) == [(1, 1), (2, None), (3, None), (4, 3)]
