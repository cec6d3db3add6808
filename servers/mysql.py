"""A server of MySQL's protocol: MariaDB from Debian's package, which `.ci/run` installs, or MySQL.

Debian's stable release has no MySQL. `TIDEMARK_MYSQLD` names the program of one, and its options.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from servers.missing import Missing
from servers.ports import HOST, free_ports, is_open
from servers.processes import ServerProcess

USER, PASSWORD, DATABASE = "tidemark", "it's a sécret", "shop"
MYSQLD = "TIDEMARK_MYSQLD"
_FOLDERS = ("/usr/share/mysql", "/usr/share/mariadb")
_TABLES = ("mysql_system_tables.sql", "mysql_system_tables_data.sql")
_QUOTED = PASSWORD.replace("'", "''")
_USER = f"""
CREATE USER {USER}@'{HOST}' IDENTIFIED BY '{_QUOTED}';
GRANT ALL ON *.* TO {USER}@'{HOST}' WITH GRANT OPTION;
CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4;
"""


@dataclass(frozen=True, eq=False)
class MySql:
    """What tests do with the server. Each makes tables with names of its own."""

    port: int
    process: ServerProcess
    _connections: list[Any] = field(default_factory=list, repr=False)

    @property
    def url(self) -> str:
        return f"jdbc:mysql://{HOST}:{self.port}/{DATABASE}"

    def options(self, table: str, **more: str) -> str:
        """The WITH clause of a table; options are named with `__` for `.` and `_` for `-`."""
        options = {
            "connector": "jdbc",
            "url": self.url,
            "table-name": table,
            "username": USER,
            "password": PASSWORD,
            **{key.replace("__", ".").replace("_", "-"): value for key, value in more.items()},
        }
        quoted = {key: value.replace("'", "''") for key, value in options.items()}
        return "WITH (" + ", ".join(f"'{k}' = '{v}'" for k, v in quoted.items()) + ")"

    def run(self, *statements: str) -> None:
        """Run statements, each in a transaction of its own."""
        with self._connection().cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with self._connection().cursor() as cursor:
            cursor.execute(query)
            return list(cursor.fetchall())

    def log_end(self) -> tuple[str, int]:
        """The file of the log to which changes go, and how long it is."""
        newer = MYSQLD in os.environ
        (file, position, *_), *_ = self.rows(f"SHOW {'BINARY LOG' if newer else 'MASTER'} STATUS")
        return file, position

    def forget_log(self) -> None:
        self.run(f"RESET {'BINARY LOGS AND GTIDS' if MYSQLD in os.environ else 'MASTER'}")

    def _connection(self) -> Any:
        """One for all tests."""
        import pymysql

        if not self._connections:
            login: dict[str, Any] = {"user": USER, "password": PASSWORD.encode()}
            connection = pymysql.connect(
                host=HOST,
                port=self.port,
                database=DATABASE,
                autocommit=True,
                init_command="SET time_zone = '+00:00'",
                **login,
            )
            self._connections.append(connection)
        return self._connections[0]

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
        return [name for (name,) in self.rows("SHOW TABLES LIKE 'tidemark_staging%'")]


@contextmanager
def server(*more: str) -> Iterator[MySql]:
    """A server with an empty folder of its own, to which its user has access."""
    folder = Path(tempfile.mkdtemp(prefix="tidemark-mysql-"))
    try:
        (port,) = free_ports(1)
        command = [*_made(folder), f"--port={port}", *_settings(folder), *more]
        process = ServerProcess(command, folder / "log", lambda: is_open(port))
        try:
            process.start()
            yield MySql(port, process)
        finally:
            process.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _settings(folder: Path) -> list[str]:
    # Data need not outlive the machine.
    settings = [f"--bind-address={HOST}", f"--socket={folder / 'socket'}", "--skip-name-resolve"]
    settings += ["--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=32M"]
    # Changes can be read from its log.
    settings += [f"--pid-file={folder / 'pid'}", "--server-id=1", "--log-bin=log"]
    return [*settings, "--binlog-format=ROW", "--binlog-row-image=FULL"]


def _made(folder: Path) -> list[str | Path]:
    """The command of a server, after its tables have been made in the folder. Raises Missing."""
    as_user: list[str | Path] = []
    # A server that starts deletes the temporary tables in its folder for them, also of others.
    temporary = folder / "temporary"
    temporary.mkdir()
    if os.geteuid() == 0:  # they refuse to run as root
        for own in (folder, temporary):
            shutil.chown(own, "nobody")
        as_user = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
    places = [f"--datadir={folder / 'data'}", f"--tmpdir={temporary}"]
    if mysqld := shlex.split(os.environ.get(MYSQLD, "")):
        command = [*as_user, mysqld[0], "--no-defaults", *mysqld[1:], *places]
        _run([*command, "--initialize-insecure"], folder)
        users = folder / "users.sql"
        users.write_text(_USER, encoding="utf-8")
        return [*command, f"--init-file={users}", "--mysqlx=OFF", "--secure-file-priv="]
    program, sources = _mariadb()
    command = [*as_user, program, "--no-defaults", *places]
    _make_mariadb(folder, command, sources)
    return command


def _mariadb() -> tuple[str, Path]:
    """The server and the folder of the SQL that makes its system tables. Raises Missing."""
    found = shutil.which("mariadbd", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/libexec")
    folders = [Path(one) for one in _FOLDERS if (Path(one) / _TABLES[0]).exists()]
    if found is None or not folders:
        raise Missing("MariaDB is not installed (Debian: apt-get install mariadb-server-core)")
    return found, folders[0]


def _make_mariadb(folder: Path, command: list[str | Path], sources: Path) -> None:
    """What MariaDB's own script does, which needs more than the server's package."""
    made = "\n".join((sources / one).read_text(encoding="utf-8") for one in _TABLES)
    (folder / "data").mkdir()
    if os.geteuid() == 0:
        shutil.chown(folder / "data", "nobody")
    begin = "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\n"
    sql = f"{begin}{made}\nFLUSH PRIVILEGES;\n{_USER}"
    _run([*command, "--bootstrap", "--innodb-log-file-size=8M"], folder, sql)


def _run(command: list[str | Path], folder: Path, sql: str = "") -> None:
    done = subprocess.run(command, input=sql, capture_output=True, text=True, cwd=folder)
    assert done.returncode == 0, done.stdout + done.stderr
