"""The options of sinks in Kafka: what is missing, and what does not go together."""

from __future__ import annotations

import pytest

from tidemark.connectors import registry
from tidemark.connectors.kafka.properties import client_settings
from tidemark.errors import NotSupported, OptionError, PlanError, TidemarkError

from .tables import kafka_table

JSON = "'format' = 'json'"


def problem(options, columns="id INT, n INT", connector="kafka", kind=TidemarkError):
    with pytest.raises(kind) as caught:
        registry.traits(kafka_table(columns, options, connector), "write")
    return caught.value


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            f"{JSON}, 'sink.partitioner' = 'round-robin', 'key.format' = 'raw', "
            "'key.fields' = 'id'",
            "not for rows with keys",
        ),
        (
            f"{JSON}, 'sink.delivery-guarantee' = 'exactly-once'",
            "'sink.transactional-id-prefix' is required",
        ),
        (f"{JSON}, 'sink.parallelism' = '0'", "must be 1 or more"),
        (f"{JSON}, 'properties.transactional.id' = 'x'", "is decided by the sink"),
    ],
)
def test_options_that_do_not_go_together_are_errors(options, message):
    assert message in problem(options, kind=OptionError).message


def test_a_class_as_partitioner_is_refused():
    error = problem(f"{JSON}, 'sink.partitioner' = 'org.x.Y'", kind=NotSupported)
    assert "a class as 'sink.partitioner' is not supported" in error.message


def test_exactly_once_needs_topics_that_are_known():
    error = problem(
        f"{JSON}, 'topic-pattern' = 'a.*', 'sink.delivery-guarantee' = 'exactly-once', "
        "'sink.transactional-id-prefix' = 'p'",
        kind=NotSupported,
    )
    assert "exactly-once delivery with 'topic-pattern'" in error.message


def test_a_primary_key_is_for_changes_as_in_flink():
    columns = "id INT, PRIMARY KEY (id) NOT ENFORCED"

    assert "cannot have a PRIMARY KEY" in problem(JSON, columns, kind=PlanError).message
    registry.options_of(kafka_table(columns, "'format' = 'debezium-json'"))


def test_the_two_options_of_the_buffer_must_be_set_together():
    columns = "id INT, PRIMARY KEY (id) NOT ENFORCED"
    options = "'key.format' = 'json', 'value.format' = 'json', 'sink.buffer-flush.max-rows' = '5'"

    assert "must be set together" in problem(options, columns, "upsert-kafka").message


def test_properties_of_javas_client_alone_have_no_effect():
    options = f"{JSON}, 'properties.buffer.memory' = '5', 'properties.max.request.size' = '9'"
    table = kafka_table("id INT", options)
    settings = client_settings(table, registry.options_of(table))

    assert "buffer.memory" not in settings
    assert settings["message.max.bytes"] == "9"
