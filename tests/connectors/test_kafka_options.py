"""Options of Kafka tables: which go together, and what errors point at."""

import pytest

from tests.connectors.tables import declared
from tidemark.connectors import registry
from tidemark.connectors.kafka.connector import end_of, start_of
from tidemark.connectors.kafka.options import key_columns, options_of_format, value_columns
from tidemark.connectors.kafka.properties import client_settings
from tidemark.errors import OptionError, TidemarkError


def table(columns="id INT, v STRING", connector="kafka", **options):
    given = {
        "connector": connector,
        "properties.bootstrap.servers": "broker:9092",
        "topic": "orders",
        "format": "json",
        **{key.replace("__", ".").replace("_", "-"): value for key, value in options.items()},
    }
    pairs = ", ".join(f"'{key}' = '{value}'" for key, value in given.items() if value is not None)
    return declared(f"CREATE TABLE t ({columns}) WITH ({pairs})")


def upsert_table(**options):
    given = {"format": None, "key__format": "json", "value__format": "json", **options}
    return table("id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED", "upsert-kafka", **given)


@pytest.mark.parametrize(
    ("options", "message", "guilty"),
    [
        ({"topic": None}, "requires either 'topic' or 'topic-pattern'", None),
        ({"topic_pattern": "o.*"}, "requires either 'topic' or 'topic-pattern'", "topic-pattern"),
        ({"topic": None, "topic_pattern": "("}, "not a regular expression", "topic-pattern"),
        ({"format": None}, "missing option 'format'", None),
        ({"value__format": "json"}, "the same option", "format"),
        ({"format": "parquet"}, "cannot be used for Kafka records", "format"),
        ({"key__format": "json"}, "requires 'key.fields'", "key.format"),
        ({"key__fields": "id"}, "requires 'key.format'", "key.fields"),
        (
            {"key__format": "json", "key__fields": "idd"},
            "`idd` is not a physical column",
            "key.fields",
        ),
        (
            {"key__format": "json", "key__fields": "id", "key__fields_prefix": "k_"},
            "requires 'value.fields-include' = 'EXCEPT_KEY'",
            "key.fields-prefix",
        ),
        ({"key__format": "debezium-json", "key__fields": "id"}, "row kinds", "key.format"),
        (
            {"scan__startup__mode": "timestamp"},
            "requires 'scan.startup.timestamp-millis'",
            "scan.startup.mode",
        ),
        (
            {"scan__startup__timestamp_millis": "1"},
            "requires 'scan.startup.mode' = 'timestamp'",
            "scan.startup.timestamp-millis",
        ),
        (
            {
                "topic": "a;b",
                "scan__startup__mode": "specific-offsets",
                "scan__startup__specific_offsets": "partition:0,offset:1",
            },
            "exactly one topic",
            "scan.startup.mode",
        ),
        (
            {
                "scan__bounded__mode": "specific-offsets",
                "scan__bounded__specific_offsets": "0:42",
            },
            "expected 'partition:0,offset:42;...'",
            "scan.bounded.specific-offsets",
        ),
        (
            {
                "scan__startup__mode": "specific-offsets",
                "scan__startup__specific_offsets": ";",
            },
            "is empty",
            "scan.startup.specific-offsets",
        ),
        ({"scan__parallelism": "0"}, "must be 1 or more", "scan.parallelism"),
        (
            {"key__format": "json", "key__fields": "id;id"},
            "`id` is there twice",
            "key.fields",
        ),
        ({"scan__bounded__mode": "group-offsets"}, "properties.group.id", "scan.bounded.mode"),
        ({"scan__startup__mode": "now"}, "invalid value 'now'", "scan.startup.mode"),
        (
            {"scan__watermark__alignment__group": "g"},
            "requires 'scan.watermark.alignment.group' and 'scan.watermark.alignment.max-drift'",
            "alignment.group",
        ),
        ({"tidemark__kafka__max_records_per_batch": "0"}, "at least 1", "max-records"),
        (
            {"scan__startup__mode": "timestamp", "scan__startup__timestamp_millis": "-5"},
            "'scan.startup.timestamp-millis' must be 0 or more",
            "scan.startup.timestamp-millis",
        ),
        (
            {"scan__bounded__mode": "timestamp", "scan__bounded__timestamp_millis": "-1"},
            "'scan.bounded.timestamp-millis' must be 0 or more",
            "scan.bounded.timestamp-millis",
        ),
        ({"scan__watermark__emit__strategy": "never"}, "invalid value", "emit.strategy"),
    ],
)
def test_options_that_do_not_go_together_are_errors(options, message, guilty):
    with pytest.raises(OptionError) as caught:
        registry.traits(table(**options), "read")
    assert message in caught.value.message
    if guilty is not None:
        assert caught.value.at is not None and caught.value.source is not None
        assert guilty in caught.value.source.text[caught.value.at.start : caught.value.at.end]


@pytest.mark.parametrize(
    ("options", "message", "matters_to"),
    [
        ({"scan__startup__mode": "timestamp"}, "requires 'scan.startup.timestamp-millis'", "read"),
        ({"scan__bounded__mode": "timestamp"}, "requires 'scan.bounded.timestamp-millis'", "read"),
        ({"sink__delivery_guarantee": "exactly-once"}, "is required", "write"),
        ({"sink__partitioner": "com.x.Y"}, "a class as 'sink.partitioner'", "write"),
    ],
)
def test_options_are_checked_where_they_matter_as_in_flink(options, message, matters_to):
    both = table(**options)
    other = "write" if matters_to == "read" else "read"

    registry.traits(both, other)
    with pytest.raises(TidemarkError, match=message):
        registry.traits(both, matters_to)


@pytest.mark.parametrize("strategy", ["on-event", "on-periodic"])
def test_strategies_of_emitting_watermarks_are_accepted(strategy):
    registry.traits(table(scan__watermark__emit__strategy=strategy), "read")


def test_formats_of_keys_and_values_have_options_of_their_own():
    found = registry.options_of(
        table(
            format=None,
            key__format="csv",
            key__fields="id",
            key__csv__field_delimiter="|",
            value__format="json",
            value__json__ignore_parse_errors="true",
        )
    )
    assert options_of_format(found, "key.")["csv.field-delimiter"] == "|"
    assert options_of_format(found, "value.")["json.ignore-parse-errors"] is True


def test_columns_are_in_keys_values_or_both():
    both = table("a INT, b INT", key__format="json", key__fields="a")
    options = registry.options_of(both)
    assert (key_columns(both, options), value_columns(both, options)) == (("a",), ("a", "b"))
    apart = table(
        "a INT, b INT",
        key__format="json",
        key__fields="a",
        value__fields_include="EXCEPT_KEY",
    )
    assert value_columns(apart, registry.options_of(apart)) == ("b",)


def test_positions_follow_from_modes():
    options = registry.options_of(
        table(
            scan__startup__mode="timestamp",
            scan__startup__timestamp_millis="7",
            scan__bounded__mode="latest-offset",
        )
    )
    assert (start_of(options).mode, start_of(options).timestamp_ms) == ("timestamp", 7)
    end = end_of(options)
    assert end is not None and end.mode == "latest-offset"
    assert end_of(registry.options_of(table())) is None
    assert start_of(registry.options_of(table())).mode == "group-offsets"


def test_options_of_modes_that_a_hint_overrides_have_no_effect():
    # Observed in Flink 2.3.
    made = table(
        scan__startup__mode="earliest-offset",
        scan__startup__timestamp_millis="1700000000000",
        scan__startup__specific_offsets="partition:0,offset:1",
        scan__bounded__mode="latest-offset",
        scan__bounded__timestamp_millis="5",
    )
    options = registry.options_of(made)
    end = end_of(options)
    assert start_of(options).mode == "earliest-offset"
    assert end is not None and end.mode == "latest-offset"


def test_an_upsert_table_has_a_primary_key_and_begins_at_the_first_record():
    from dataclasses import replace

    keyed = upsert_table()
    with pytest.raises(OptionError, match="requires a primary key"):
        registry.options_of(replace(keyed, primary_key=None))
    assert start_of(registry.options_of(keyed)).mode == "earliest-offset"
    assert key_columns(keyed, registry.options_of(keyed)) == ("id",)
    changes = upsert_table(value__format="debezium-json")
    with pytest.raises(OptionError, match="row kinds of its own"):
        registry.options_of(changes)


# --- properties --------------------------------------------------------------------------------


def settings(**options):
    made = table(**{f"properties__{key}": value for key, value in options.items()})
    return client_settings(made, registry.options_of(made))


def test_properties_of_javas_client_are_those_of_the_c_client():
    found = settings(
        security__protocol="SASL_SSL",
        sasl__mechanism="SCRAM-SHA-512",
        sasl__jaas__config='org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="a \\"b\\"";',
        ssl__truststore__location="/ca.pem",
        ssl__truststore__password="x",
        max__poll__records="10",
        zookeeper__connect="zk:2181",
        client__id="c",
    )
    assert found == {
        "bootstrap.servers": "broker:9092",
        "isolation.level": "read_uncommitted",
        "security.protocol": "sasl_ssl",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "me",
        "sasl.password": 'a "b"',
        "ssl.ca.location": "/ca.pem",
        "client.id": "c",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"sasl__jaas__config": "com.sun.security.auth.module.Krb5LoginModule required x=y;"},
            "login module",
        ),
        ({"sasl__jaas__config": "a.PlainLoginModule required username=me;"}, "a password"),
        ({"ssl__truststore__location": "/t.jks"}, "truststores in Java's formats"),
        ({"ssl__keystore__location": "/t.jks"}, "keystores of type JKS"),
    ],
)
def test_what_only_javas_client_does_is_refused_without_showing_values(options, message):
    with pytest.raises(OptionError, match=message) as caught:
        settings(**options)
    assert caught.value.source is None


def test_secrets_are_not_shown():
    made = table(
        properties__sasl__jaas__config="secret one",
        properties__ssl__keystore__key="secret two",
        properties__ssl__key__password="secret three",
        properties__client__id="shown",
    )
    shown = {option.key: option.value for option in registry.shown_options(made)}
    assert "secret" not in str(shown)
    assert shown["properties.client.id"] == "shown"


def test_topics_can_be_read_and_written():
    traits = registry.traits(table())

    assert traits.readable and traits.writable
