"""One shuffle partition is too few for stateful operators that follow each other."""

from __future__ import annotations

import logging

import pytest

from tests.physical.test_plans import AS_OF, TABLES
from tests.plan.marked import root, world
from tidemark.spark.own_session import PARTITIONS
from tidemark.spark.partitions import enough_partitions

ONE_OPERATOR = "SELECT currency, COUNT(*) FROM orders GROUP BY currency"


class Conf(dict[str, str]):
    """The settings of a Spark session."""

    def set(self, key: str, value: str) -> None:
        self[key] = value


class Spark:
    """As much of a Spark session as is asked for here."""

    def __init__(self, **settings: str) -> None:
        self.conf = Conf(settings)


def partitions_within(query: str, asked: str) -> tuple[str, str]:
    """The number of partitions while a stream starts, and afterwards."""
    spark = Spark(**{PARTITIONS: asked})
    with enough_partitions(spark, root(query, world(TABLES))):
        within = spark.conf[PARTITIONS]
    return within, spark.conf[PARTITIONS]


def test_operators_that_follow_each_other_run_on_two_partitions_and_the_log_says_so(caplog):
    with caplog.at_level(logging.WARNING):
        assert partitions_within(AS_OF, "1") == ("2", "1")

    assert [record.getMessage() for record in caplog.records] == [
        "spark.sql.shuffle.partitions is 1, but this job has stateful operators that follow each"
        " other: it runs on 2"
    ]


@pytest.mark.parametrize(("query", "asked"), [(ONE_OPERATOR, "1"), (AS_OF, "2"), (AS_OF, "8")])
def test_partitions_that_are_enough_are_left_alone(caplog, query, asked):
    assert partitions_within(query, asked) == (asked, asked)
    assert not caplog.records


@pytest.mark.spark
def test_a_chain_of_operators_on_one_partition_finishes(spark, tmp_path):
    before = spark.conf.get(PARTITIONS)
    spark.conf.set(PARTITIONS, "1")
    try:
        import tidemark

        session = tidemark.connect(spark, checkpoint=tmp_path / "checkpoint")
        session.sql(
            "CREATE TABLE t (k INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts)"
            " WITH ('connector' = 'datagen', 'number-of-rows' = '3', 'fields.k.max' = '9')"
        )
        counted = "SELECT k, COUNT(*) AS n FROM t GROUP BY k, TUMBLE(ts, INTERVAL '1' SECOND)"
        [row] = session.sql(f"SELECT SUM(n) AS n FROM ({counted})").rows()
        assert row == {"n": 3}
    finally:
        spark.conf.set(PARTITIONS, before)
