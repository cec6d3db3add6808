"""A temporal join on a real cluster, a standalone one started from PySpark's wheel."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pyspark
import pytest

from tests import java
from tests.waiting import wait_until

from .live_orders import AFTER_THREE_STEPS, LiveOrders
from .processes import Process, run_command

pytestmark = pytest.mark.slow

HOST = "127.0.0.1"


@dataclass
class Cluster:
    """A master and workers of one core each, on this machine."""

    folder: Path
    port: int
    processes: list[Process] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"spark://{HOST}:{self.port}"

    def start(self, workers: int) -> None:
        self._start("master", "master.Master", "--port", str(self.port))
        self._wait_for(f"Starting Spark master at {self.url}")
        for number in range(workers):
            place = ["--work-dir", str(self.folder / f"work-{number}")]
            size = ["--cores", "1", "--memory", "1g"]
            self._start(f"worker-{number}", "worker.Worker", *place, *size, self.url)
        self._wait_for("Registering worker", workers)

    def _wait_for(self, what: str, times: int = 1) -> None:
        def log() -> str:
            return self.log("master")

        wait_until(lambda: log().count(what) == times, log, self.alive)

    def _start(self, name: str, what: str, *arguments: str) -> None:
        spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
        command = [str(spark_class), f"org.apache.spark.deploy.{what}", *arguments]
        command += ["--host", HOST, "--webui-port", "0"]
        log = self.folder / f"{name}.log"
        environment = {"SPARK_NO_DAEMONIZE": "1", "SPARK_DAEMON_JAVA_OPTS": java.quick()}
        self.processes.append(Process(command, log, **environment))

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text()

    def alive(self) -> bool:
        return all(process.alive() for process in self.processes)

    def kill_a_worker(self) -> None:
        """With its executor, and with all that this one keeps."""
        assert "Asked to launch executor" in self.log("worker-1")
        self.processes[-1].kill()

    def kill(self) -> None:
        for process in self.processes:
            process.kill()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    try:
        with socket.create_server((HOST, 0)) as free:
            port = free.getsockname()[1]
    except OSError as problem:
        pytest.skip(f"no port can be opened on {HOST}: {problem}")
    cluster = Cluster(tmp_path, port)
    try:
        cluster.start(workers=2)
        yield cluster
    finally:
        cluster.kill()


def test_no_row_is_lost_when_a_worker_is_killed_or_a_job_moves(cluster, tmp_path):
    orders = LiveOrders(tmp_path / "job")
    settings = {
        "spark.master": cluster.url,
        "spark.driver.host": HOST,
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        # Five seconds otherwise, three times, until an executor that does not answer is given up.
        "spark.shuffle.io.retryWait": "1s",
        **java.on_driver(),
        **java.on_executors(),
    }
    command = run_command(orders, settings)
    try:
        orders.deliver()
        orders.wait_until_out(command.alive)
        orders.deliver()
        orders.wait_for_staged_files(command.alive)
        cluster.kill_a_worker()
        orders.wait_until_out(command.alive)
        # The rest of the cluster continues from where all of it was.
        command.kill()
        settings["spark.sql.shuffle.partitions"] = "5"
        command = run_command(orders, settings)
        orders.deliver()
        orders.wait_until_out(command.alive)
    finally:
        command.kill()

    assert orders.written() == AFTER_THREE_STEPS
