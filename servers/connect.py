"""Kafka Connect with Debezium: sends the changes of PostgreSQL's tables to topics of Kafka."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from servers.jars.fetching import jars_of
from servers.kafka import JAVA, Broker, java
from servers.ports import HOST, free_ports
from servers.postgres import PASSWORD, Postgres
from servers.processes import ServerProcess

_SETTINGS = """\
bootstrap.servers={kafka}
listeners=http://{host}:{port}
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
key.converter.schemas.enable={with_schema}
value.converter.schemas.enable={with_schema}
offset.storage.file.filename={folder}/offsets
offset.flush.interval.ms={flush_ms}
"""
_SECONDS = 60


@dataclass(frozen=True)
class Connect:
    """A worker with one connector. What it has read it notes in its folder, now and then."""

    port: int
    prefix: str
    process: ServerProcess

    def topic(self, table: str, schema: str = "public") -> str:
        """The topic with the changes of a table."""
        return f"{self.prefix}.{schema}.{table}"


@contextmanager
def debezium(
    folder: Path,
    kafka: Broker,
    postgres: Postgres,
    tables: str,
    *,
    with_schema: bool = False,
    flush_ms: int = 60_000,
    own_group: bool = False,
    snapshots: bool = True,
) -> Iterator[Connect]:
    """Debezium that sends these tables of the database `postgres`: `public.rates,public.orders`.

    If it is killed, it sends again what has come since its last note: all of the last `flush_ms`.
    Before its first note it would begin with a snapshot of the tables instead, which has none of
    the versions between; without `snapshots` it sends all changes since it was started first.
    """
    (port,) = free_ports(1)
    prefix = f"d{uuid.uuid4().hex[:12]}"
    worker = folder / "connect.properties"
    worker.write_text(
        _SETTINGS.format(
            kafka=kafka.address,
            host=HOST,
            port=port,
            folder=folder,
            flush_ms=flush_ms,
            with_schema=str(with_schema).lower(),
        )
    )
    connector = folder / "postgres.json"
    config = _connector(prefix, postgres, tables)
    config["snapshot.mode"] = "initial" if snapshots else "no_data"
    connector.write_text(json.dumps({"name": prefix, "config": config}))
    classes = ":".join(map(str, jars_of("debezium")))
    main = "org.apache.kafka.connect.cli.ConnectStandalone"
    process = ServerProcess(
        [java(), *JAVA, "-cp", classes, main, worker, connector],
        folder / "log",
        lambda: _runs(port, prefix),
        own_group=own_group,
    )
    try:
        process.start()
        if not snapshots:
            _wait_for_slot(postgres, prefix)
        yield Connect(port, prefix, process)
    finally:
        process.stop()
        _clean_up(postgres, prefix)


def _connector(prefix: str, postgres: Postgres, tables: str) -> dict[str, str]:
    return {
        "connector.class": "io.debezium.connector.postgresql.PostgresConnector",
        "plugin.name": "pgoutput",
        "slot.name": prefix,
        "publication.name": prefix,
        "publication.autocreate.mode": "filtered",
        "database.hostname": HOST,
        "database.port": str(postgres.port),
        "database.user": "postgres",
        "database.password": PASSWORD,
        "database.dbname": "postgres",
        "topic.prefix": prefix,
        "topic.creation.default.replication.factor": "1",
        "topic.creation.default.partitions": "1",
        "table.include.list": tables,
        # What `debezium-json` reads: numbers as they are, times as milliseconds or strings.
        "decimal.handling.mode": "string",
        "poll.interval.ms": "20",
    }


def _runs(port: int, name: str) -> bool:
    address = f"http://{HOST}:{port}/connectors/{name}/status"
    try:
        with urllib.request.urlopen(address, timeout=_SECONDS) as answer:
            status = json.load(answer)
    except (urllib.error.URLError, ConnectionError):
        return False
    return any(task["state"] == "RUNNING" for task in status["tasks"])


def _wait_for_slot(postgres: Postgres, name: str) -> None:
    deadline = time.monotonic() + _SECONDS
    while not postgres.rows(f"SELECT 1 FROM pg_replication_slots WHERE slot_name = '{name}'"):
        assert time.monotonic() < deadline, "Debezium has made no replication slot"
        time.sleep(0.05)


def _clean_up(postgres: Postgres, name: str) -> None:
    """The slot would keep the server's log forever."""
    ours = f"FROM pg_replication_slots WHERE slot_name = '{name}'"
    postgres.rows(f"SELECT pg_terminate_backend(active_pid) {ours} AND active")
    postgres.rows(f"SELECT pg_drop_replication_slot(slot_name) {ours}")
    postgres.run(f"DROP PUBLICATION IF EXISTS {name}")
