"""A standalone cluster of Spark on this machine: a master, and workers of one core each."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pyspark

from servers.ports import HOST, free_ports, is_open
from servers.processes import Process, ServerProcess, processes


@dataclass(frozen=True)
class SparkCluster:
    """A worker ends with the executors that it has started."""

    url: str
    master: ServerProcess
    workers: tuple[ServerProcess, ...]

    def executors(self) -> list[Process]:
        started = {worker.pid for worker in self.workers}
        return [each for each in processes() if each.parent in started and each.is_executor]

    def python_workers(self) -> list[Process]:
        """Those that executors have started, by way of a process that they fork from."""
        every = [*processes()]
        above = {each.pid for each in self.executors()}
        forking = {each.pid for each in every if each.parent in above and each.is_python}
        return [each for each in every if each.parent in forking]

    def runs(self) -> bool:
        return all(process.runs() for process in (self.master, *self.workers))


@contextmanager
def spark_cluster(
    folder: Path, workers: int, *, memory: str = "1g", java: str = ""
) -> Iterator[SparkCluster]:
    """A cluster with its logs in a folder; its own processes run with these options of Java."""
    environment = {**os.environ, "SPARK_NO_DAEMONIZE": "1", "SPARK_DAEMON_JAVA_OPTS": java}

    def process(name: str, what: str, port: int, *arguments: str) -> ServerProcess:
        spark_class = Path(pyspark.__file__).parent / "bin" / "spark-class"
        command: list[str | Path] = [spark_class, f"org.apache.spark.deploy.{what}", *arguments]
        command += ["--host", HOST, "--port", str(port), "--webui-port", "0"]
        return ServerProcess(
            command, folder / f"{name}.log", lambda: is_open(port), environment, whole_group=True
        )

    first, *others = free_ports(1 + workers)
    url = f"spark://{HOST}:{first}"
    master = process("master", "master.Master", first)
    size = ["--cores", "1", "--memory", memory]
    made = tuple(
        process(name, "worker.Worker", port, "--work-dir", str(folder / name), *size, url)
        for name, port in ((f"worker-{number}", port) for number, port in enumerate(others))
    )
    try:
        for each in (master, *made):
            each.start()
        yield SparkCluster(url, master, made)
    finally:
        for each in (*made, master):
            each.kill()
