"""A PostgreSQL server from Debian's package, which `.ci/run` installs."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from servers.missing import Missing
from servers.ports import HOST, free_ports, is_open
from servers.processes import ServerProcess

# Where Debian, and others, keep the programs of each version.
_FOLDERS = ("/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/opt/homebrew/opt/postgresql*/bin")
PASSWORD = "it's a secret"
# Data need not outlive the machine, nor, unless it is to be durable, a server that is killed.
_SETTINGS = ("fsync=off", "full_page_writes=off", "wal_level=logical")
_NOT_DURABLE = ("synchronous_commit=off",)


@dataclass(frozen=True, eq=False)
class Postgres:
    """What tests do with the server. Each makes databases or tables with names of its own."""

    port: int
    process: ServerProcess
    _connections: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def base_url(self) -> str:
        return f"jdbc:postgresql://{HOST}:{self.port}"

    def options(self, table: str, **more: str) -> str:
        """The WITH clause of a table; options are named with `__` for `.` and `_` for `-`."""
        options = {
            "connector": "jdbc",
            "url": f"{self.base_url}/postgres",
            "table-name": table,
            "username": "postgres",
            "password": PASSWORD,
            **{key.replace("__", ".").replace("_", "-"): value for key, value in more.items()},
        }
        quoted = {key: value.replace("'", "''") for key, value in options.items()}
        return "WITH (" + ", ".join(f"'{k}' = '{v}'" for k, v in quoted.items()) + ")"

    def run(self, *statements: str, database: str = "postgres") -> None:
        """Run statements, each in a transaction of its own."""
        with self._connection(database).cursor() as cursor:
            for statement in statements:
                cursor.executescript(statement)

    def rows(self, query: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        with self._connection(database).cursor() as cursor:
            cursor.execute(query)
            found: list[tuple[Any, ...]] = cursor.fetchall()
            return found

    def _connection(self, database: str) -> Any:
        """One for all tests: to connect takes longer than most of what they do."""
        if database not in self._connections:
            self._connections[database] = _connect(self.port, database)
        return self._connections[database]

    def forget_connections(self) -> None:
        """Connect anew: a server that was killed knows none of them."""
        self._connections.clear()

    def end_connections(self) -> None:
        """End those that are open; a server that stops waits for them."""
        others = "pid <> pg_backend_pid() AND backend_type = 'client backend'"
        self.rows(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}")
        for connection in self._connections.values():
            connection.close()

    def table(self, columns: str, *rows: str) -> str:
        """A new table with these rows."""
        name = f"t{uuid.uuid4().hex[:12]}"
        self.run(
            f"CREATE TABLE {name} ({columns})",
            *([f"INSERT INTO {name} VALUES {', '.join(rows)}"] if rows else []),
        )
        return name

    def staging(self) -> list[str]:
        """The tables in which rows of sinks wait."""
        query = "SELECT relname FROM pg_class WHERE relname LIKE 'tidemark_staging%'"
        return [name for (name,) in self.rows(query)]


@contextmanager
def server(*, own_group: bool = False, durable: bool = False) -> Iterator[Postgres]:
    """A server with an empty folder of its own, to which its user has access."""
    programs = _programs()
    folder = Path(tempfile.mkdtemp(prefix="tidemark-postgres-"))
    user = _user()
    try:
        if user:
            shutil.chown(folder, user)
        _make(folder, programs, user)
        (port,) = free_ports(1)
        chosen = _SETTINGS if durable else _SETTINGS + _NOT_DURABLE
        settings = [f"-c{one}" for one in (*chosen, f"listen_addresses={HOST}")]
        command: list[str | Path] = [
            programs / "postgres",
            "-D",
            folder / "data",
            "-p",
            str(port),
            "-k",
            "",
        ]
        log = folder / "log"
        process = ServerProcess(
            [*_as_user(user), *command, *settings], log, lambda: _serves(port), own_group=own_group
        )
        try:
            process.start()
            here = Postgres(port, process)
            yield here
            here.end_connections()
        finally:
            process.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _connect(port: int, database: str = "postgres") -> Any:
    import adbc_driver_postgresql.dbapi as driver

    uri = f"postgresql://postgres:{quote(PASSWORD)}@{HOST}:{port}/{database}"
    return driver.connect(uri, autocommit=True)


def _serves(port: int) -> bool:
    """Whether it takes connections: while it recovers from a crash, its port is open already."""
    from adbc_driver_postgresql.dbapi import Error

    if not is_open(port):
        return False
    try:
        _connect(port).close()
    except Error:
        return False
    return True


def _programs() -> Path:
    """The newest version. Raises Missing."""
    found = [Path("/", p) for f in _FOLDERS for p in Path("/").glob(f.lstrip("/"))]
    found = [folder for folder in found if (folder / "initdb").exists()]
    if not found and (on_path := shutil.which("initdb")):
        found = [Path(on_path).resolve().parent]
    if not found:
        raise Missing("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    return max(
        found, key=lambda folder: [int(n) for n in folder.parent.name.split(".") if n.isdigit()]
    )


def _user() -> str | None:
    """Who runs the server: it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    names = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in names else "nobody"


def _as_user(user: str | None) -> list[str]:
    if user is None:
        return []
    group = pwd.getpwnam(user).pw_gid
    return ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"]


def _make(folder: Path, programs: Path, user: str | None) -> None:
    password = folder / "password"
    password.write_text(PASSWORD)
    if user:
        shutil.chown(password, user)
    command: list[str | Path] = [
        programs / "initdb",
        "-D",
        folder / "data",
        "-U",
        "postgres",
        "-E",
        "UTF8",
    ]
    how = ["--locale=C", "--no-sync", "--auth=scram-sha-256", f"--pwfile={password}"]
    done = subprocess.run(
        [*_as_user(user), *command, *how], capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr
