"""Connectors by name."""

from __future__ import annotations

import subprocess
import sys

from tidemark.connectors.registry import CATALOGS, REGISTRY


def test_each_connector_has_the_name_by_which_it_is_found():
    assert {name: connector.name for name, connector in REGISTRY.items()} == {
        name: name for name in REGISTRY
    }
    assert all(callable(kind) for kind in CATALOGS.values())


def test_only_the_connectors_of_a_query_are_loaded():
    code = (
        "import sys, tidemark\n"
        "session = tidemark.connect(engine='local')\n"
        "session.sql(\"CREATE TABLE t (a INT) WITH ('connector' = 'datagen', 'number-of-rows' = '1')\")\n"
        "assert session.sql('SELECT COUNT(a) AS n FROM t').rows() == [{'n': 1}]\n"
        "names = ('datagen', 'kafka', 'jdbc', 'iceberg', 'delta', 'mysql_cdc', 'postgres_cdc', 'faker')\n"
        "print(*[name for name in names if f'tidemark.connectors.{name}' in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "datagen\n"
