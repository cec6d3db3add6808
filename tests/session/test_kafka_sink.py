"""Jobs on Spark write to Kafka: streams with and without state, and batches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tidemark
from tests.waiting import wait_until
from tidemark.spark.jobs import Job

EXACTLY_ONCE = "'sink.delivery-guarantee' = 'exactly-once', 'sink.transactional-id-prefix' = 'test'"


def orders(folder: Path, number: int) -> None:
    """A file with ten orders, in two currencies."""
    folder.mkdir(exist_ok=True)
    rows = [{"id": number * 10 + n, "currency": "EUR" if n % 2 else "USD"} for n in range(10)]
    hidden = folder / ".new"
    hidden.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    hidden.rename(folder / f"{number}.json")


def source(folder: Path, options: str = "") -> str:
    return (
        f"CREATE TABLE orders (id INT NOT NULL, currency STRING NOT NULL) WITH "
        f"('connector' = 'filesystem', 'path' = '{folder}', 'format' = 'json'{options});"
    )


def copies(kafka, topic: str, options: str) -> str:
    return (
        "CREATE TABLE copies (id INT, currency STRING) WITH ('connector' = 'kafka', "
        f"'topic' = '{topic}', 'properties.bootstrap.servers' = '{kafka.address}', "
        f"'format' = 'csv', {options});"
    )


def counts(kafka, topic: str) -> str:
    return (
        "CREATE TABLE counts (currency STRING, n BIGINT, PRIMARY KEY (currency) NOT ENFORCED) WITH "
        f"('connector' = 'upsert-kafka', 'topic' = '{topic}', 'key.format' = 'raw', "
        f"'properties.bootstrap.servers' = '{kafka.address}', 'value.format' = 'csv', "
        "'value.fields-include' = 'EXCEPT_KEY', 'sink.buffer-flush.max-rows' = '100', "
        f"'sink.buffer-flush.interval' = '1 s', {EXACTLY_ONCE});"
    )


def values(kafka, topic: str) -> list[str]:
    return [message.value().decode() for message in kafka.read(topic)]


def take_back_last_commit(checkpoint: Path) -> None:
    """What is left of a job that is killed after its sink has written a micro-batch."""
    for query in checkpoint.glob("*/spark"):
        last = max((query / "commits").glob("[0-9]*"), key=lambda note: int(note.name))
        last.unlink()
        (last.parent / f".{last.name}.crc").unlink()
        for note in (query / "offsets").glob("[0-9]*"):
            if int(note.name) > int(last.name):
                note.unlink()
                (note.parent / f".{note.name}.crc").unlink()


@pytest.mark.slow
def test_a_micro_batch_that_comes_again_is_not_written_again(spark, kafka, tmp_path):
    topic = kafka.topic()
    script = (
        source(tmp_path / "in", ", 'source.monitor-interval' = '1 s'")
        + counts(kafka, topic)
        + "INSERT INTO counts SELECT currency, COUNT(*) FROM orders GROUP BY currency;"
    )

    def run_until(last_count: str) -> None:
        job = tidemark.connect(spark, checkpoint=tmp_path / "checkpoint").sql(script).job
        assert isinstance(job, Job)
        wait_until(
            lambda: values(kafka, topic)[-1:] == [last_count],
            alive=lambda: job.state == "running",
            every=0.3,
        )
        job.stop()

    orders(tmp_path / "in", 0)
    run_until("5")
    take_back_last_commit(tmp_path / "checkpoint")
    orders(tmp_path / "in", 1)
    run_until("10")

    pairs = [(message.key(), message.value()) for message in kafka.read(topic)]
    assert sorted(pairs) == [(b"EUR", b"10"), (b"EUR", b"5"), (b"USD", b"10"), (b"USD", b"5")]


@pytest.mark.parametrize("options", ["'sink.parallelism' = '2'", EXACTLY_ONCE])
def test_a_batch_writes_all_rows(spark, kafka, tmp_path, options):
    topic = kafka.topic(partitions=2)
    for number in range(3):
        orders(tmp_path, number)
    script = (
        "SET 'execution.runtime-mode' = 'batch';"
        + source(tmp_path)
        + copies(kafka, topic, options)
        + "INSERT INTO copies SELECT id, UPPER(currency) FROM orders;"
    )

    job = tidemark.connect(spark).sql(script).job
    assert job is not None
    job.wait()

    assert sorted(int(row.split(",")[0]) for row in values(kafka, topic)) == [*range(30)]
