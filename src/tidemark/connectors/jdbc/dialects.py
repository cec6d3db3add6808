"""The database systems of the connector, by what their URLs begin with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from tidemark.connectors.jdbc.contract import Dialect
from tidemark.connectors.jdbc.mysql.dialect import MYSQL
from tidemark.connectors.jdbc.postgres.dialect import POSTGRES
from tidemark.connectors.jdbc.sqlite.dialect import SQLITE

DIALECTS: Final[Mapping[str, Dialect]] = {
    "postgresql": POSTGRES,
    "mysql": MYSQL,
    "sqlite": SQLITE,
}


def system_of(url: str) -> str | None:
    """Which database system a URL is of: `postgresql`, `mysql`, ...; None if it is no JDBC URL."""
    found = re.match(r"jdbc:([a-z0-9]+):", url, re.IGNORECASE)
    return found and found[1].lower()


def dialect_of(url: str) -> Dialect:
    """The dialect of a URL that has been checked."""
    return DIALECTS[system_of(url) or ""]
