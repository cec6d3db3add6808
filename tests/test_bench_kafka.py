"""The measurement of Kafka: its scripts are scripts, its records and verdicts are right."""

import json

import polars as pl
import pytest

import tidemark
from bench.kafka import live
from bench.kafka.live import Latency
from bench.kafka.topics import as_json, send
from bench.kafka.workload import BACKLOG, LIVE, QUERIES, Backlog, Job, parsed
from bench.real_bytes.files import orders_of


def job(tmp_path, query="copy", results=("", "out")):
    return Job(query, "localhost:9092", "o", "r", results, tmp_path)


def test_a_job_reaches_the_process_of_an_engine(tmp_path):
    way, found, _ = parsed([LIVE, *job(tmp_path).arguments()])

    assert (way, found) == (LIVE, job(tmp_path))


@pytest.mark.parametrize("way", [BACKLOG, LIVE])
@pytest.mark.parametrize("query", QUERIES)
def test_queries_read_topics_to_their_end_or_live_and_exactly_once(tmp_path, query, way):
    asked = job(tmp_path, query)
    *_, target = asked.targets(way)
    text = [*asked.tables(way), target.sink, f"INSERT INTO {target.name} {asked.asked.text}"]
    script = ";\n".join(text)

    [planned] = [one for one in tidemark.Workspace().plan_script(f"{script};") if one.plan]

    assert planned.plan.bounded == (way == BACKLOG)
    assert ("exactly-once" in target.sink) == (way == LIVE)


class Client:
    def __init__(self):
        self.sent = {}
        self.topics = {}

    def produce_batch(self, topic, messages, partition):
        values = [message["value"] for message in messages]
        self.sent.setdefault(partition, []).extend(values)
        self.topics.setdefault(topic, []).extend(values)
        return len(messages)

    def of(self, topic):
        return self.topics[topic]

    def poll(self, _):
        return 0


class Nowhere:
    def producer(self, _):
        return Client()


def test_rows_go_to_the_partitions_of_their_keys():
    client = Client()

    send(client, "t", pl.DataFrame({"n": [0, 5, 4, 1]}), "n")

    assert client.sent == {0: [b'{"n":0}', b'{"n":4}'], 1: [b'{"n":5}', b'{"n":1}']}


def test_orders_are_json_records():
    found = [json.loads(record) for record in as_json(orders_of(3))]

    assert [order["id"] for order in found] == [0, 1, 2]
    assert found[0].keys() == {"id", "account", "amount", "status", "ts"}


def test_every_account_has_a_live_rate_after_two_seconds():
    sending = live._Sending(Nowhere(), "orders", "rates", 5_000)

    for second in (0, 1):
        sending._send(5_000 * second, 5_000 * (second + 1))

    rates = [json.loads(value) for value in sending._client.of("rates")]
    assert len(rates) == 1_000
    assert {rate["account"] for rate in rates} == {*range(1_000)}
    assert len(sending._client.of("orders")) == 9_000


def test_the_age_of_a_result_is_that_of_its_order():
    reading = live._Reading(None, "t")
    sent = (
        pl.Series([1_700_000_000_250]).cast(pl.Datetime("ms")).dt.strftime("%Y-%m-%d %H:%M:%S%.3f")
    )

    reading._note([json.dumps({"id": 1, "ts": sent[0].rstrip("0")}).encode()], 1_700_000_001_000.0)

    assert [age.tolist() for age in reading.ages] == [[750.0]]


def test_both_the_median_and_the_99th_percentile_are_limited():
    def latency(median, p99):
        return Latency("copy", "Tidemark", median, p99, 9_000.0, 1, 1.0)

    assert latency(1_000.0, 2_000.0).good
    assert not latency(1_001.0, 2_000.0).good
    assert not latency(900.0, 2_001.0).good


def test_a_backlog_is_to_be_read_at_twice_the_rate_of_flink():
    assert Backlog("copy").asked.wanted.warm == 2.0
    assert str(Backlog("temporal-join")) == "temporal-join"
