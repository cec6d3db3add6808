"""How many records a stream has not read yet."""

from dataclasses import dataclass, field

from tidemark.connectors.kafka.client import Topics
from tidemark.connectors.kafka.lag import lagging
from tidemark.spark.positions import positions


@dataclass
class Ends(Topics):
    """Topics that end at offset 10 in partition 0; partition 1 is gone."""

    settings: dict[str, str] = field(default_factory=dict)

    def bounds(self, keys):
        return {}, {key: 10 for key in keys if key[1] == 0}


class Reading:
    def __init__(self, *names, pattern=None):
        self.topics = Ends(names=names, pattern=pattern)

    def connected(self):
        return self.topics


def test_lag_is_what_comes_after_the_offset_of_each_partition():
    orders = lagging("orders", Reading("o"))

    assert orders.records_after({"o": {"0": 4, "1": 4}}) == {"o-0": 6}
    assert orders.records_after({"o": {"0": 12}}) == {"o-0": 0}


def test_a_source_knows_its_offsets_among_those_of_others():
    orders, rates = lagging("orders", Reading("o")), lagging("rates", Reading(pattern="r.*"))
    reported = [
        {"endOffset": {"watermark": 0, "partitions": {}}},
        {"endOffset": 3},
        {"endOffset": None},
        {"endOffset": {"r1": {"0": 7}}},
        {"endOffset": {"o": {"0": 4}}},
    ]

    found = {position.table: position.lag() for position in positions([orders, rates], reported)}

    assert found == {"orders": {"o-0": 6}, "rates": {"r1-0": 3}}


def test_before_the_first_micro_batch_there_is_no_position():
    assert [*positions([lagging("orders", Reading("o"))], [])] == []


def test_a_topic_that_is_read_twice_has_two_positions():
    twice = [lagging("a", Reading("o")), lagging("b", Reading("o"))]
    reported = [{"endOffset": {"o": {"0": 1}}}, {"endOffset": {"o": {"0": 2}}}]

    assert [position.lag() for position in positions(twice, reported)] == [{"o-0": 9}, {"o-0": 8}]
