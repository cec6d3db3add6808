"""Streams whose workers read a table once for several inputs of operators."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

import tidemark
from tests.sink_files import written_lines
from tests.thorough import names
from tidemark.checkpoints import contract as contracts
from tidemark.errors import JobError
from tidemark.spark.jobs import Job
from tidemark.storage import Location

SCRIPT = """
SET 'execution.runtime-mode' = '{mode}';
SET 'table.optimizer.reuse-source-enabled' = '{once}';
CREATE TABLE events (kind STRING, id INT, v INT, ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH ('connector' = 'filesystem', 'path' = '{folder}/events', 'format' = 'json',
  'source.max-files-per-batch' = '1');
CREATE VIEW bids AS SELECT id, v, ts FROM events WHERE kind = 'bid';
CREATE VIEW items AS SELECT id, v + 1 AS v, ts FROM events WHERE kind = 'item'{more};
CREATE TABLE found (a STRING, b INT, n BIGINT) WITH (
  'connector' = 'filesystem', 'path' = '{folder}/{sink}', 'format' = 'json');
INSERT INTO found {query};
"""
COUNTED = """
SELECT CAST(window_start AS STRING), id, COUNT(*) FROM TABLE(TUMBLE(TABLE {view}, DESCRIPTOR(ts),
INTERVAL '10' SECOND)) GROUP BY window_start, window_end, id"""
OF_BIDS, OF_ITEMS = COUNTED.format(view="bids"), COUNTED.format(view="items")
IN_BOTH = f"""
SELECT b.w, b.id, b.n * 100 + i.n FROM ({OF_BIDS}) AS b (w, id, n) JOIN ({OF_ITEMS}) AS i (w, id, n)
ON b.w = i.w AND b.id = i.id"""
QUERIES = {
    "an interval join": "SELECT CAST(b.ts AS STRING), b.v, i.v FROM bids AS b JOIN items AS i"
    " ON b.id = i.id AND b.ts BETWEEN i.ts - INTERVAL '2' SECOND AND i.ts",
    "two operators": IN_BOTH,
    "three inputs of two operators": "SELECT CAST(b.ts AS STRING), c.id, c.n FROM bids AS b"
    " JOIN items AS i ON b.id = i.id AND b.ts BETWEEN i.ts - INTERVAL '5' SECOND AND i.ts"
    f" JOIN ({OF_BIDS}) AS c (w, id, n) ON b.id = c.id AND b.v < c.n",
    "an operator in between that does not read": "SELECT CAST(i.ts AS STRING), i.id, c.n"
    f" FROM (SELECT DISTINCT id, n FROM ({OF_BIDS}) AS b (w, id, n)) AS c"
    " JOIN items AS i ON i.id = c.id",
}


@pytest.fixture(scope="module")
def events(tmp_path_factory) -> Path:
    folder, chance = tmp_path_factory.mktemp("shared"), random.Random(11)
    (folder / "events").mkdir()
    for number in range(2):
        write(folder, number, chance, late=number)
    return folder


def write(folder: Path, number: int, chance: random.Random, late: int = 0) -> None:
    """A file of rows, some of them late."""
    rows = [
        {
            "kind": chance.choice(["bid", "item", "other"]),
            "id": chance.randrange(5),
            "v": chance.randrange(20),
            "ts": f"2024-01-01 00:{number:02}:{second:02}.{chance.randrange(1000):03}",
        }
        for second in sorted(chance.randrange(60) for _ in range(120))
    ]
    rows += [{**row, "ts": "2024-01-01 00:00:00.500"} for row in rows[:late]]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / "events" / f"{number}.json").write_text(lines)


def run(spark, folder: Path, query: str, **settings: str) -> Job:
    """Run the query in a job that continues where the one before has ended."""
    values = {"mode": "streaming", "once": "true", "sink": "found", "more": "", **settings}
    checkpoint = folder / f"checkpoint-{values['sink']}"
    with tidemark.connect(spark, checkpoint=checkpoint) as session:
        *_, last = session.run(SCRIPT.format(folder=folder, query=query, **values))
        assert last.job is not None
        last.job.wait()
        return last.job


def readings(folder: Path, sink: str) -> tuple[tuple[int, ...], ...] | None:
    found = contracts.read(Location.of(folder / f"checkpoint-{sink}" / "insert-into-found"))
    assert found is not None
    return found.readings


def lines(folder: Path, sink: str) -> list[str]:
    return sorted(written_lines(folder / sink))


@pytest.mark.parametrize("name", names(QUERIES, often={"two operators"}))
def test_rows_are_those_of_a_stream_that_reads_them_for_each_input(spark, events, name):
    query, number = QUERIES[name], [*QUERIES].index(name)
    once, apart = f"once-{number}", f"apart-{number}"

    job = run(spark, events, query, sink=once)
    other = run(spark, events, query, sink=apart, once="false")

    assert lines(events, once) == lines(events, apart)
    assert len(lines(events, once)) > 5
    [places] = readings(events, once) or ()
    assert readings(events, apart) == ()
    rows = 2 * 120 + 1
    assert job.progress().rows_in - 1 == rows
    assert other.progress().rows_in - len(places) == len(places) * rows


@pytest.mark.thorough
def test_a_stream_continues_to_read_as_it_has_started(spark, tmp_path):
    chance = random.Random(3)
    (tmp_path / "events").mkdir()
    for number in range(3):
        write(tmp_path, number, chance)
        once = "true" if number % 2 else "false"
        run(spark, tmp_path, IN_BOTH, sink="began-apart", once=once)
        run(spark, tmp_path, IN_BOTH, sink="began-once", once="false" if number % 2 else "true")

    assert readings(tmp_path, "began-apart") == ()
    assert readings(tmp_path, "began-once") == ((0, 1),)
    assert lines(tmp_path, "began-apart") == lines(tmp_path, "began-once")


def test_a_query_that_no_longer_reads_together_does_not_resume(spark, tmp_path):
    (tmp_path / "events").mkdir()
    write(tmp_path, 0, random.Random(3))
    run(spark, tmp_path, IN_BOTH)

    with pytest.raises(JobError, match="no longer read a table together"):
        run(spark, tmp_path, IN_BOTH, more=" AND CURRENT_TIMESTAMP > ts")
