"""Tables that Flink looks up or fills: in a database in memory, which its JDBC connector uses."""

from __future__ import annotations

import json
import os
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

from conformance.case import Table
from conformance.script import create_table

_JARS = Path(__file__).parent / "looked_up.xml"
_FETCH = (
    "import os, pathlib, sys; from servers.jars.fetching import fetched; "
    "print(os.pathsep.join(map(str, fetched(pathlib.Path(sys.argv[1])))))"
)
_DRIVER = "org.apache.derby.jdbc.EmbeddedDriver"


def make_reachable() -> None:
    """Give Flink the connector and the database. It must not have been started yet."""
    # Jars are fetched with Spark's Ivy, and there is no Spark beside Flink.
    command = [".venv/bin/python", "-c", _FETCH, str(_JARS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    # What PyFlink puts on the class path besides its own jars.
    os.environ["HADOOP_CLASSPATH"] = done.stdout.strip()


def stored(table: Table, name: str) -> str:
    """Make the table in the database of this name. Returns its DDL for Flink."""
    from pyflink.java_gateway import get_gateway

    assert table.in_database is not None
    url = f"jdbc:derby:memory:{name}"
    jvm: Any = get_gateway().jvm
    jvm.java.lang.Class.forName(_DRIVER)
    with closing(jvm.java.sql.DriverManager.getConnection(f"{url};create=true")) as connection:
        statement = connection.createStatement()
        statement.execute(f"CREATE TABLE {table.name} ({table.in_database})")
        for row in table.rows:
            values = ", ".join(map(_literal, row.values() if isinstance(row, dict) else row))
            statement.execute(f"INSERT INTO {table.name} VALUES ({values})")
    options = {"connector": "jdbc", "url": url, "table-name": table.name, "driver": _DRIVER}
    return create_table(table, options | {k: str(v) for k, v in table.options.items()})


def _literal(value: Any) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return json.dumps(value)
