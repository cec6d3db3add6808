"""What a user does over Spark Connect, in a process of its own: run by `test_over_connect.py`.

Prints one JSON line per check, because the process that runs it has classic Spark.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path

import tidemark
from tests.sink_files import written_lines
from tests.waiting import wait_until


def main(folder: Path) -> None:
    session = tidemark.connect(spark_config={"spark.sql.shuffle.partitions": "2"})
    session.sql("SET 'pipeline.max-parallelism' = '4'")
    say("client", type(session.spark).__module__)
    say("query", session.sql("SELECT 2147483647 + 1 AS w, 'a' || 'b' AS s").rows())

    def shout(text: str) -> str:
        return text.upper() + "!"

    session.create_function("shout", shout)
    say("function", session.sql("SELECT shout('tide') AS s").rows())
    stream = session.spark.readStream.format("rate").option("rowsPerSecond", 20).load()
    session.register("ticks", stream)
    changes = session.sql("SELECT `value` AS v FROM ticks WHERE `value` % 2 = 0").changes()
    say("changes", sorted(change.row["v"] for change in itertools.islice(changes, 3)))
    changes.close()
    say("joined", joined_by_a_job(folder))
    say_results_of_unbounded_windows(session, folder)
    session.stop()


def joined_by_a_job(folder: Path) -> list[str]:
    """A temporal join as a stream with a checkpoint, into files."""
    for table, rows in {
        "o": [(1, 5), (2, 15)],
        "r": [(110, 0), (120, 10)],
    }.items():
        (folder / table).mkdir()
        lines = [{"k": "a", "v": v, "ts": f"2024-01-01 00:00:{s:02}"} for v, s in rows]
        (folder / table / "a.json").write_text("\n".join(map(json.dumps, lines)) + "\n")
    session = tidemark.connect(checkpoint=folder / "checkpoint")
    session.sql("SET 'pipeline.max-parallelism' = '4'")
    columns = "k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts"
    files = "'connector' = 'filesystem', 'format' = 'json', 'path' = '{}'"
    session.sql(
        f"""
        CREATE TABLE o ({columns}) WITH ({files.format(folder / "o")});
        CREATE TABLE r ({columns}, PRIMARY KEY (k) NOT ENFORCED) WITH ({files.format(folder / "r")});
        CREATE TABLE s (id INT, rate INT) WITH ({files.format(folder / "s")});
        """
    )
    job = session.sql(
        "INSERT INTO s SELECT o.v, r.v FROM o JOIN r FOR SYSTEM_TIME AS OF o.ts AS r ON o.k = r.k"
    ).job
    assert job is not None
    job.wait()
    progress = job.progress()
    say("rows", [progress.rows_in, progress.rows_out])
    for operator in progress.operators:
        numbers = [operator.rows_in, operator.rows_out, operator.late, operator.waiting]
        say(operator.name, [*numbers, operator.state_rows > 0, operator.state_bytes > 0])
        say("watermark", operator.watermark)
    return sorted(written_lines(folder / "s"))


def say_results_of_unbounded_windows(session: tidemark.Session, folder: Path) -> None:
    """Processing-time results in a live table, and late rows into a sink, over an unbounded table."""
    (folder / "ev").mkdir()
    session.sql(
        f"""
        CREATE TABLE ev (v INT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
        WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder / "ev"}',
          'source.monitor-interval' = '1');
        CREATE TABLE lates (v INT, late_by BIGINT)
        WITH ('connector' = 'filesystem', 'format' = 'json', 'path' = '{folder / "lates"}');
        CREATE TABLE sums (s INT) WITH ('connector' = 'blackhole');
        """
    )
    delayed = "GROUP BY TUMBLE(ts, INTERVAL '1' HOUR) EMIT WITH DELAY '1' SECOND BEFORE WATERMARK"
    processing_time = "TABLE(SESSION(TABLE ev, DESCRIPTOR(pt), INTERVAL '1' SECOND))"
    both = session.sql(
        "EXECUTE STATEMENT SET BEGIN INSERT INTO sums SELECT SUM(v) FROM ev "
        "GROUP BY TUMBLE(ts, INTERVAL '10' SECOND); "
        "INSERT INTO lates SELECT v, late_by FROM ev$late; END"
    )
    over = session.sql(f"SELECT v FROM {processing_time}").live()
    for number, second in enumerate((1, 12, 5), start=1):
        row = {"v": number, "ts": f"2024-01-01 00:00:{second:02}"}
        (folder / "ev" / f".{number}").write_text(json.dumps(row) + "\n")
        (folder / "ev" / f".{number}").rename(folder / "ev" / f"{number}.json")
        wait_until(lambda number=number: both.progress().rows_in >= 2 * number)
        wait_until(lambda number=number: len(over.rows()) == number)
    wait_until(lambda: written_lines(folder / "lates"))
    over.stop()
    both.stop()
    say("over", [row["v"] for row in over.rows()])
    say("late", written_lines(folder / "lates"))
    # Few streams at a time: Spark gives the Python worker of each ten seconds to start.
    early = session.sql(f"SELECT SUM(v) AS s FROM ev {delayed}").live()
    wait_until(lambda: early.rows() == [{"s": 6}])
    early.stop()
    say("early", early.rows())


def say(what: str, value: object) -> None:
    print(json.dumps({"check": what, "value": value}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
