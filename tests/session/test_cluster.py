"""A temporal join from Kafka on a real cluster, with its checkpoint in a bucket."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from servers.jars.fetching import jars_of
from servers.kafka import Broker
from servers.ports import HOST
from servers.s3 import Endpoint
from servers.spark_cluster import SparkCluster, spark_cluster
from tests import java
from tests.needed import needed

from .live_orders import OrdersInTopics
from .processes import run_command

pytestmark = pytest.mark.slow


@pytest.fixture
def cluster(tmp_path) -> Iterator[SparkCluster]:
    with spark_cluster(tmp_path, workers=2, java=java.quick()) as cluster:
        yield cluster


def test_no_row_is_lost_when_executors_workers_and_the_driver_are_killed(
    cluster: SparkCluster, kafka: Broker, s3: Endpoint, tmp_path
):
    orders = OrdersInTopics(tmp_path, kafka, "s3a://bucket/cluster")
    with needed():
        jars = jars_of("s3a")
    settings = {
        "spark.master": cluster.url,
        "spark.driver.host": HOST,
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        # Five seconds otherwise, three times, until an executor that does not answer is given up.
        "spark.shuffle.io.retryWait": "1s",
        "spark.jars": ",".join(map(str, jars)),
        **s3.settings,
        **java.on_driver(),
        **java.on_executors(),
    }
    command = run_command(orders, settings)
    try:
        orders.deliver()
        orders.wait_until_out(command.alive)
        orders.deliver()
        cluster.executors()[0].kill()
        orders.wait_until_out(command.alive)
        cluster.workers[1].kill()
        orders.deliver()
        # The rest of the cluster continues from where all of it was.
        command.kill()
        settings["spark.sql.shuffle.partitions"] = "3"
        command = run_command(orders, settings)
        orders.wait_until_out(command.alive)
    finally:
        command.kill()

    assert orders.written() == orders.expected()
    assert s3.at("s3://bucket/cluster/insert-into-sink/contract.json").exists
