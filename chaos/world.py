"""The servers of a run of this program, each started when it is first needed."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property
from pathlib import Path

from servers.kafka import Broker, broker
from servers.postgres import Postgres, server


class World:
    def __init__(self, folder: Path, servers: ExitStack) -> None:
        self.folder = folder
        self.servers = servers

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
