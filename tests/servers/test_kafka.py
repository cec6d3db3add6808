from servers.kafka import Broker, Record


def test_a_broker_returns_what_it_was_sent(kafka: Broker) -> None:
    topic = kafka.topic(partitions=2)
    kafka.send(topic, Record("b", key="k", partition=1), Record(None, key="k", partition=0), "c")
    found = [(m.key(), m.value()) for m in kafka.read(topic)]
    assert sorted(found, key=str) == [(None, b"c"), (b"k", None), (b"k", b"b")]
