"""Data sources of Spark as tables: in a batch, in a stream, and as sinks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

import tidemark
from tidemark.errors import OptionError, PlanError

pytestmark = pytest.mark.spark


class Numbers(DataSource):
    """A data source as a user would write one: so many numbers, by a column that needs quotes."""

    @classmethod
    def name(cls) -> str:
        return "numbers"

    def schema(self) -> str:
        return "`the number` BIGINT, other STRING"

    def reader(self, schema: Any) -> DataSourceReader:
        return NumbersReader(int(self.options["upTo"]))


class NumbersReader(DataSourceReader):
    def __init__(self, end: int) -> None:
        self.end = end

    def read(self, partition: InputPartition) -> Iterator[tuple[int, str]]:
        return ((number, "x") for number in range(self.end))


NUMBERS = """
CREATE TABLE numbers (`the number` INT)
WITH ('connector' = 'spark', 'format' = 'numbers', 'options.upTo' = '{end}');
"""


@pytest.fixture
def session(spark: Any) -> Iterator[Any]:
    spark.dataSource.register(Numbers)
    session = tidemark.connect(spark)
    yield session
    session.stop()


def rows_of(result: Any) -> list[Any]:
    return sorted(tuple(row.values()) for row in result.rows())


def test_rows_are_read_by_the_names_of_their_columns(session: Any) -> None:
    session.sql(NUMBERS.format(end=4))

    result = session.sql("SELECT `the number` / 2, COUNT(*) FROM numbers GROUP BY `the number` / 2")

    assert rows_of(result) == [(0, 2), (1, 2)]


def test_a_job_with_a_checkpoint_reads_bounded_rows_once(spark: Any, tmp_path: Path) -> None:
    spark.dataSource.register(Numbers)
    sink = f"""
    CREATE TABLE kept (n INT)
    WITH ('connector' = 'spark', 'format' = 'parquet', 'path' = '{tmp_path}/kept');
    """

    for end in (3, 5):
        session = tidemark.connect(spark, checkpoint=str(tmp_path / "state"))
        session.sql(NUMBERS.format(end=end) + sink)
        session.sql("INSERT INTO kept SELECT `the number` FROM numbers").job.wait()
        session.stop()

    assert sorted(row.n for row in spark.read.parquet(str(tmp_path / "kept")).collect()) == [
        0,
        1,
        2,
    ]


def test_a_stream_waits_for_more_rows(session: Any) -> None:
    session.sql(
        "CREATE TABLE ticks (`value` BIGINT, `timestamp` TIMESTAMP_LTZ(3)) WITH ("
        " 'connector' = 'spark', 'format' = 'rate', 'scan.mode' = 'unbounded',"
        " 'options.rowsPerSecond' = '1000')"
    )
    changes = islice(session.sql("SELECT `value` FROM ticks").changes(), 1000)

    assert {change.row["value"] for change in changes} == set(range(1000))


def test_what_spark_does_not_have_is_an_error_at_the_option(session: Any) -> None:
    session.sql("CREATE TABLE t (a INT) WITH ('connector' = 'spark', 'format' = 'detla')")

    with pytest.raises(OptionError, match="Spark has no data source named 'detla'") as raised:
        rows_of(session.sql("SELECT * FROM t"))

    assert raised.value.at is not None


def test_a_column_that_is_not_there_is_an_error_with_a_hint(session: Any) -> None:
    session.sql(NUMBERS.format(end=1).replace("the number", "teh number"))

    with pytest.raises(PlanError, match="no column `teh number`") as raised:
        rows_of(session.sql("SELECT * FROM numbers"))

    assert "the number" in str(raised.value.hint)
