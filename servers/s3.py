"""An S3 endpoint on this machine, in a process of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from servers.ports import HOST, free_ports, is_open
from servers.processes import ServerProcess
from tidemark.storage import Access, Location


@dataclass(frozen=True)
class Endpoint:
    """It takes any key, and forgets all at its end."""

    port: int

    @property
    def settings(self) -> dict[str, str]:
        """What a user gives Spark."""
        return {
            "spark.hadoop.fs.s3a.endpoint": f"http://{HOST}:{self.port}",
            "spark.hadoop.fs.s3a.access.key": "some-key",
            "spark.hadoop.fs.s3a.secret.key": "some-secret",
            "spark.hadoop.fs.s3a.path.style.access": "true",
            # S3A takes what the endpoint answers to `Expect: 100-continue` for the answer to the
            # request.
            "spark.hadoop.fs.s3a.connection.expect.continue": "false",
        }

    def at(self, uri: str) -> Location:
        return Location.of(uri, Access.of(self.settings))

    def make_bucket(self, name: str) -> None:
        from pyarrow.fs import S3FileSystem

        S3FileSystem(
            access_key="k",
            secret_key="s",
            endpoint_override=f"{HOST}:{self.port}",
            scheme="http",
            region="us-east-1",
            request_timeout=200,
            allow_bucket_creation=True,
        ).create_dir(name)


@contextmanager
def endpoint(log: Path, *, own_group: bool = False) -> Iterator[Endpoint]:
    [port] = free_ports(1)
    script = Path(__file__).with_name("s3_server.py")
    command: list[str | Path] = [sys.executable, script, "-H", HOST, "-p", str(port)]
    server = ServerProcess(command, log, lambda: is_open(port), own_group=own_group)
    server.start()
    try:
        yield Endpoint(port)
    finally:
        server.stop()
