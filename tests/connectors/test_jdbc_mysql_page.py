"""The page about MySQL does what it says."""

from __future__ import annotations

from pathlib import Path

from servers.mysql import PASSWORD, USER, MySql
from tests.connectors.jdbc_sinks import queried, run_locally
from tests.docs.examples import blocks_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "mysql.md"


def test_the_page_about_mysql_does_what_it_says(mysql: MySql):
    blocks = blocks_of(PAGE)
    [made] = [block.text for block in blocks if block.language == "mysql"]
    named = {block.file_name: here(block.text, mysql) for block in blocks if block.file_name}
    [shown] = [block.text for block in blocks if "| ann" in block.text]
    mysql.run("DROP TABLE IF EXISTS orders, totals")
    mysql.run(*filter(str.strip, made.split(";\n")))

    run_locally(named["totals.sql"])

    totals = mysql.rows("SELECT * FROM totals ORDER BY customer")
    lines = [line.split("|")[1:-1] for line in shown.splitlines() if line.startswith("|")][1:]
    assert [[str(value) for value in row] for row in totals] == [
        [cell.strip() for cell in line] for line in lines
    ]
    assert queried(named["lookup.sql"]) == [
        {"customer": "yan", "orders": None},
        {"customer": "zoe", "orders": 3},
    ]
    assert queried(named["catalog.sql"]) == [
        {"customer": "ann", "orders": 2},
        {"customer": "zoe", "orders": 3},
    ]


def here(script: str, mysql: MySql) -> str:
    script = script.replace("jdbc:mysql://localhost:3306", mysql.url.rpartition("/")[0])
    quoted = PASSWORD.replace("'", "''")
    return script.replace("'me'", f"'{USER}'").replace("'secret'", f"'{quoted}'")
