"""The servers of a run of this program, each started when it is first needed, and where its jobs
run.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from servers.jars.fetching import jars_of
from servers.kafka import Broker, broker
from servers.ports import HOST
from servers.postgres import Postgres, server
from servers.s3 import endpoint
from servers.spark_cluster import SparkCluster, spark_cluster
from tidemark.storage import Location

_WORKERS: Final = 3


@dataclass(frozen=True)
class Place:
    """Where jobs run, and keep their checkpoints if not in a folder of their own."""

    settings: Mapping[str, str]
    cluster: SparkCluster | None = None
    checkpoints: Location | None = None


class World:
    def __init__(self, folder: Path, servers: ExitStack) -> None:
        self.folder = folder
        self.servers = servers

    @cached_property
    def here(self) -> Place:
        return Place({"spark.master": "local[2]"})

    @cached_property
    def on_cluster(self) -> Place:
        """A standalone cluster, and a bucket."""
        bucket = self.servers.enter_context(endpoint(self.folder / "s3.log", own_group=True))
        bucket.make_bucket("chaos")
        folder = self.folder / "cluster"
        folder.mkdir()
        cluster = self.servers.enter_context(spark_cluster(folder, _WORKERS))
        settings = {
            "spark.master": cluster.url,
            "spark.driver.host": HOST,
            "spark.executor.memory": "1g",
            "spark.sql.shuffle.partitions": "2",
            "spark.jars": ",".join(map(str, jars_of("s3a"))),
            **bucket.settings,
        }
        return Place(settings, cluster, bucket.at("s3a://chaos/checkpoints"))

    @cached_property
    def kafka(self) -> Broker:
        folder = self.folder / "kafka"
        folder.mkdir()
        return self.servers.enter_context(broker(folder, own_group=True))

    @cached_property
    def postgres(self) -> Postgres:
        return self.servers.enter_context(server(own_group=True, durable=True))

    def reconnect(self) -> None:
        """After a kill, which may have ended connections."""
        if "postgres" in vars(self):
            self.postgres.forget_connections()
