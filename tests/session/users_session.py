"""What a user sees who runs Tidemark on a Spark session of their own: run by
`test_users_session.py`.

Prints one JSON line per check. With SPARK_REMOTE the session is one of Spark Connect.
"""

from __future__ import annotations

import itertools
import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import tidemark
from tidemark.spark.remote import is_remote

PARTITIONS = "spark.sql.shuffle.partitions"


def main() -> None:
    spark = SparkSession.builder.config("spark.ui.enabled", "false").getOrCreate()
    before = dict(spark.conf.getAll)
    spark.range(3).createTempView("mine")
    session = tidemark.connect(spark)
    say("computes as Flink", sums_that_wrap(spark, session))
    counts = session.sql("SELECT s, COUNT(*) AS n FROM numbers GROUP BY s").rows()
    say("counts", sorted(row["n"] for row in counts))
    say("functions", shouted(session))
    say("streams", first_even_ticks(spark, session))
    say("partitions", session.spark.conf.get(PARTITIONS))
    session.sql("SET 'table.local-time-zone' = 'Asia/Tokyo'")
    say("zone", session.sql("SELECT CAST(TO_TIMESTAMP_LTZ(0, 3) AS STRING) AS t").rows())
    session.stop()
    say("settings are as before", dict(spark.conf.getAll) == before)
    say("views are as before", [spark.table("mine").count(), table_names(spark)])
    say("overflow fails as before", fails(spark, "SELECT 2147483647 + 1"))
    spark.conf.set(PARTITIONS, "7")
    given, found = tidemark.connect(spark), tidemark.connect()
    say("chosen partitions", given.spark.conf.get(PARTITIONS))
    say("found", found.spark.conf.get(PARTITIONS))
    if not is_remote(spark):
        with ThreadPoolExecutor(1) as thread:
            say("found in a thread", thread.submit(found_partitions).result())
        say("goes on after that", spark.range(2).count())
    spark.stop()


def found_partitions() -> str | None:
    with tidemark.connect() as session:
        return session.spark.conf.get(PARTITIONS)


def sums_that_wrap(spark: SparkSession, session: tidemark.Session) -> list[dict[str, Any]]:
    numbers = [(1, "a"), (2, "b"), (3, "b")]
    session.register("numbers", spark.createDataFrame(numbers, "id INT, s STRING"))
    return session.sql("SELECT id + 2147483647 AS wrapped FROM numbers WHERE id = 1").rows()


def shouted(session: tidemark.Session) -> list[dict[str, Any]]:
    """By a module that workers cannot import by themselves, and that imports another one."""
    folder = Path("functions")
    folder.mkdir()
    (folder / "shouting.py").write_text(
        "from voice import LOUD\n\ndef shout(text: str) -> str:\n    return text.upper() + LOUD\n"
    )
    (folder / "voice.py").write_text('LOUD = "!"\n')
    sys.path.append(str(folder.absolute()))
    session.sql("CREATE FUNCTION shout AS 'shouting.shout' LANGUAGE PYTHON")
    return session.sql("SELECT shout(s) AS s FROM numbers WHERE id = 1").rows()


def first_even_ticks(spark: SparkSession, session: tidemark.Session) -> list[int]:
    stream = spark.readStream.format("rate").option("rowsPerSecond", 20).load()
    session.register("ticks", stream)
    changes = session.sql("SELECT `value` AS v FROM ticks WHERE `value` % 2 = 0").changes()
    found = sorted(change.row["v"] for change in itertools.islice(changes, 3))
    changes.close()
    return found


def table_names(spark: SparkSession) -> list[str]:
    return [table.name for table in spark.catalog.listTables()]


def fails(spark: SparkSession, query: str) -> bool:
    try:
        spark.sql(query).collect()
    except PySparkException:
        return True
    return False


def say(check: str, value: Any) -> None:
    print(json.dumps({"check": check, "value": value}), flush=True)


if __name__ == "__main__":
    main()
