"""An S3 endpoint on this machine, in a process of its own."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import wait_until
from tidemark.storage import Access, Location

HOST = "127.0.0.1"


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
def endpoint(log: Path) -> Iterator[Endpoint]:
    with socket.create_server((HOST, 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, str(Path(__file__).with_name("s3_server.py"))]
    with log.open("wb") as output:
        server = subprocess.Popen(
            [*command, "-H", HOST, "-p", str(port)], stdout=output, stderr=output
        )
    try:
        _wait_until_up(server, port, log)
        yield Endpoint(port)
    finally:
        server.terminate()
        server.wait()


def _wait_until_up(server: subprocess.Popen[bytes], port: int, log: Path) -> None:
    def up() -> bool:
        assert server.poll() is None, log.read_text()
        with contextlib.suppress(OSError):
            socket.create_connection((HOST, port)).close()
            return True
        return False

    wait_until(up)
