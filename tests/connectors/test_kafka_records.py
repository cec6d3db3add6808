"""Records of a real broker as rows, without Spark."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tidemark
from servers.kafka import Broker, Record
from servers.waiting import wait_until
from tidemark import Session, TidemarkError
from tidemark.errors import DataError


@pytest.fixture
def session() -> Iterator[Session]:
    with tidemark.connect(engine="local") as session:
        yield session


def options(kafka: Broker, name: str, **more: str) -> str:
    given = {
        "connector": "kafka",
        "topic": name,
        "properties.bootstrap.servers": kafka.address,
        "scan.startup.mode": "earliest-offset",
        "scan.bounded.mode": "latest-offset",
        **{key.replace("__", ".").replace("_", "-"): value for key, value in more.items()},
    }
    kept = {key: value for key, value in given.items() if value}
    return ", ".join(f"'{key}' = '{value}'" for key, value in kept.items())


def rows(session: Session, columns: str, with_: str, select: str = "*") -> list[tuple[object, ...]]:
    session.sql(f"CREATE OR REPLACE TABLE t ({columns}) WITH ({with_})")
    return [tuple(row.values()) for row in session.sql(f"SELECT {select} FROM t").rows()]


def test_keys_values_and_metadata_become_columns(kafka: Broker, session: Session):
    topic = kafka.topic(partitions=2)
    kafka.send(
        topic,
        Record('{"v": 1}', '{"id": 7}', 1, 1_700_000_000_123, (("h", b"a"), ("h", b"b"))),
        Record('{"v": 2}', None, 0),  # a record without a key has no rows
        Record(None, '{"id": 8}', 0),
    )
    found = rows(
        session,
        "k_id INT, v INT, topic STRING METADATA, p INT METADATA FROM 'partition', "
        "o BIGINT METADATA FROM 'offset', h MAP<STRING, BYTES> METADATA FROM 'headers', "
        "t TIMESTAMP_LTZ(3) METADATA FROM 'timestamp', kind STRING METADATA FROM 'timestamp-type'",
        options(
            kafka,
            topic,
            key__format="json",
            key__fields="k_id",
            key__fields_prefix="k_",
            value__format="json",
            value__fields_include="EXCEPT_KEY",
        ),
        "k_id, v, topic, p, o, CAST(h['h'] AS STRING), CAST(EXTRACT(MILLISECOND FROM t) AS INT), kind",
    )
    assert found == [(7, 1, topic, 1, 0, "b", 123, "CreateTime")]


def test_a_bad_record_is_named_or_skipped(kafka: Broker, session: Session):
    topic = kafka.topic()
    kafka.send(topic, '{"v": 1}', '{"v": 2}', "oops")
    with pytest.raises(DataError, match=rf"topic {topic}, partition 0, offset 2  cannot read"):
        rows(session, "v INT", options(kafka, topic, format="json"))
    skipping = options(kafka, topic, format="json", json__ignore_parse_errors="true")
    assert rows(session, "v INT", skipping) == [(1,), (2,)]


def test_modes_say_where_to_start_and_to_end(kafka: Broker, session: Session):
    topic = kafka.topic()
    kafka.send(topic, *(Record(f"{i}", timestamp_ms=1000 + i) for i in range(6)))

    def read(**more: str) -> list[object]:
        return [
            v for (v,) in rows(session, "v STRING", options(kafka, topic, format="raw", **more))
        ]

    assert read(scan__startup__mode="timestamp", scan__startup__timestamp_millis="1004") == [
        "4",
        "5",
    ]
    assert read(
        scan__startup__mode="specific-offsets",
        scan__startup__specific_offsets="partition:0,offset:1",
        scan__bounded__mode="specific-offsets",
        scan__bounded__specific_offsets="partition:0,offset:3",
    ) == ["1", "2"]
    assert read(scan__bounded__mode="timestamp", scan__bounded__timestamp_millis="1002") == [
        "0",
        "1",
    ]
    assert read(topic="", topic_pattern=f"{topic[:-1]}.") == [*"012345"]


def test_offsets_have_gaps_where_transactions_ended(kafka: Broker, session: Session):
    from confluent_kafka import Producer

    topic = kafka.topic()
    producer = Producer(
        {"bootstrap.servers": kafka.address, "transactional.id": topic, "log_level": 0}
    )
    producer.init_transactions()
    for value, ends in (("a", producer.commit_transaction), ("b", producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(topic, value)
        producer.flush()
        ends()

    def read(level: str) -> list[tuple[object, ...]]:
        more = options(kafka, topic, format="raw", properties__isolation__level=level)
        return rows(session, "v STRING", more)

    assert read("read_committed") == [("a",)]
    assert read("") == [("a",), ("b",)]


def test_a_compacted_topic_has_the_last_record_of_each_key(kafka: Broker, session: Session):
    settings = {"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0", "segment.ms": "1"}
    topic = kafka.topic(settings=settings)
    for value in "0123":
        kafka.send(topic, Record(value, "a"), Record(value, "b"))
    kafka.send(topic, Record(None, "b"))
    # The newest segment is not compacted: this record opens one.
    kafka.send(topic, Record("4", "c"))

    def found() -> list[tuple[object, ...]]:
        columns = "v STRING, place BIGINT METADATA FROM 'offset' VIRTUAL"
        return rows(session, columns, options(kafka, topic, format="raw"))

    compacted = [("3", 6), (None, 8), ("4", 9)]
    wait_until(lambda: found() == compacted, seen=found, every=0.2)
    # Ranges that begin and end in gaps have each record once.
    ranges = [
        options(
            kafka,
            topic,
            format="raw",
            scan__startup__mode="specific-offsets",
            scan__startup__specific_offsets=f"partition:0,offset:{first}",
            scan__bounded__mode="specific-offsets",
            scan__bounded__specific_offsets=f"partition:0,offset:{last}",
        )
        for first, last in ((0, 3), (3, 7), (7, 8), (8, 10))
    ]
    read = [rows(session, "v STRING", part) for part in ranges]
    assert read == [[], [("3",)], [], [(None,), ("4",)]]


def test_upserts_and_deletes_are_by_key(kafka: Broker, session: Session):
    topic = kafka.topic()
    sent = [('{"id": 1, "v": "a"}', 1), ('{"id": 2, "v": "b"}', 2), ('{"id": 1, "v": "c"}', 1)]
    kafka.send(topic, *(Record(value, f'{{"id": {key}}}') for value, key in sent))
    kafka.send(topic, Record(None, '{"id": 2}'))
    found = options(
        kafka,
        topic,
        connector="upsert-kafka",
        key__format="json",
        value__format="json",
        scan__startup__mode="",
    )
    session.sql(f"CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({found})")
    changes = session.sql("SELECT v, COUNT(*) AS n FROM t GROUP BY v").changes()
    assert [(change.kind, change.row["v"]) for change in changes] == [
        ("+I", "a"),
        ("+I", "b"),
        ("-D", "a"),
        ("+I", "c"),
        ("-D", "b"),
    ]


def test_a_row_needs_an_event_time_only_where_that_is_used_as_in_flink(
    kafka: Broker, session: Session
):
    topic = kafka.topic()
    kafka.send(topic, '{"id": 1, "ts": "2024-01-01 00:00:01"}', '{"id": 2}')
    session.sql(ORDERS.format(options(kafka, topic, format="json")))
    windows = (
        "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE orders, DESCRIPTOR(ts), "
        "INTERVAL '5' SECOND)) GROUP BY window_start, window_end"
    )

    assert [row["id"] for row in session.sql("SELECT id FROM orders").rows()] == [1, 2]
    counted = session.sql("SELECT COUNT(*) AS n FROM orders").changes()
    assert [change.row["n"] for change in counted][-1] == 2
    with pytest.raises(DataError, match="event time `ts` is NULL"):
        session.sql(windows).rows()


VERSIONS = (
    "CREATE TABLE rates (k STRING, rate INT, ts TIMESTAMP(3), PRIMARY KEY (k) NOT ENFORCED, "
    "WATERMARK FOR ts AS ts) WITH ({})"
)
ORDERS = "CREATE TABLE orders (id INT, k STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ({})"


@pytest.fixture
def rates(kafka: Broker, session: Session) -> str:
    """Of two keys, `a` is deleted and comes again, and `b` is deleted. Returns the topic."""
    topic = kafka.topic()
    sent = [("a", 1, 1), ("b", 2, 2), ("a", None, 0), ("a", 3, 6), ("b", None, 0)]
    for key, rate, second in sent:
        value = f'{{"k": "{key}", "rate": {rate}, "ts": "2024-01-01 00:00:0{second}"}}'
        kafka.send(topic, Record(value if rate else None, f'{{"k": "{key}"}}'))
    formats = {"key__format": "json", "value__format": "json", "scan__startup__mode": ""}
    found = options(kafka, topic, connector="upsert-kafka", **formats)
    session.sql(VERSIONS.format(found))
    return topic


def test_a_delete_needs_no_event_time(session: Session, rates: str):
    counts = session.sql("SELECT rate, COUNT(*) AS n FROM rates GROUP BY rate").changes()
    opened = session.sql(
        "SELECT window_start, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE rates, DESCRIPTOR(ts), "
        "INTERVAL '5' SECOND)) GROUP BY window_start, window_end"
    ).rows()

    kinds = [(change.kind, change.row["rate"]) for change in counts]
    assert kinds == [("+I", 1), ("+I", 2), ("-D", 1), ("+I", 3), ("-D", 2)]
    # The deleted rows are no longer in the windows of their time.
    assert [row["n"] for row in opened] == [1]


def test_a_delete_without_an_event_time_ends_no_version_as_in_flink(
    kafka: Broker, session: Session, rates: str
):
    topic = kafka.topic()
    times = [("a", 0), ("a", 3), ("a", 7), ("b", 1), ("b", 9)]
    for key, second in times:
        kafka.send(topic, f'{{"id": 0, "k": "{key}", "ts": "2024-01-01 00:00:0{second}"}}')
    session.sql(ORDERS.format(options(kafka, topic, format="json")))
    as_of = "FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k"

    found = session.sql(f"SELECT r.rate FROM orders AS o LEFT JOIN rates {as_of}").rows()

    assert sorted(str(row["rate"]) for row in found) == ["1", "2", "3", "None", "None"]


def test_a_record_without_a_value_is_a_delete_in_every_format(kafka: Broker, session: Session):
    for format_, value in (("csv", "1,a"), ("json", '{"id": 1, "v": "a"}'), ("raw", "a")):
        topic = kafka.topic()
        kafka.send(topic, Record(value, "1"), Record(None, "1"))
        more = {"value__fields_include": "EXCEPT_KEY"} if format_ == "raw" else {}
        found = options(
            kafka,
            topic,
            connector="upsert-kafka",
            key__format="csv",
            value__format=format_,
            scan__startup__mode="",
            **more,
        )
        columns = "id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED"
        session.sql(f"CREATE OR REPLACE TABLE t ({columns}) WITH ({found})")
        changes = [(c.kind, c.row["id"]) for c in session.sql("SELECT * FROM t").changes()]
        assert changes == [("+U", 1), ("-D", 1)], format_


def test_a_record_without_a_value_has_no_row_except_in_the_raw_format(
    kafka: Broker, session: Session
):
    # Observed in Flink 2.3.
    topic = kafka.topic()
    kafka.send(topic, Record("1"), Record(None), Record("2"))
    of_csv = rows(session, "v STRING", options(kafka, topic, format="csv"))
    of_raw = rows(session, "v STRING", options(kafka, topic, format="raw"))
    assert (of_csv, of_raw) == ([("1",), ("2",)], [("1",), (None,), ("2",)])


def test_an_event_of_debezium_has_row_kinds_and_metadata(kafka: Broker, session: Session):
    topic = kafka.topic()
    kafka.send(
        topic,
        '{"before": null, "after": {"id": 1}, "op": "c", "source": {"db": "shop"}}',
        '{"before": {"id": 1}, "after": {"id": 2}, "op": "u", "source": {"db": "shop"}}',
        None,
    )
    with_ = options(kafka, topic, format="debezium-json")
    columns = "id INT, db STRING METADATA FROM 'value.source.database' VIRTUAL"
    session.sql(f"CREATE TABLE t ({columns}) WITH ({with_})")
    changes = session.sql("SELECT * FROM t").changes()
    assert [(c.kind, *c.row.values()) for c in changes] == [
        ("+I", 1, "shop"),
        ("-U", 1, "shop"),
        ("+U", 2, "shop"),
    ]


def test_a_topic_that_does_not_exist_is_an_error(kafka: Broker, session: Session):
    with pytest.raises(TidemarkError, match="the topic 'nowhere' does not exist"):
        rows(session, "v STRING", options(kafka, "nowhere", format="raw"))
