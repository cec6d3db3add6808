"""What `tidemark doctor` asks MySQL about rights to write."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from tidemark.connectors.jdbc.contract import Described
from tidemark.connectors.jdbc.mysql.connections import name, rows
from tidemark.errors import SetupError

if TYPE_CHECKING:
    from pymysql.connections import Connection

_OF_KEYS: Final = ("SELECT", "INSERT", "UPDATE", "DELETE")
_GRANT: Final = r"GRANT (.+?) ON (?:TABLE )?(\*|`(?:[^`]|``)*`)\.(\*|`(?:[^`]|``)*`) TO "


def check_rights(connection: Connection, table: Described, *, by_key: bool) -> str:
    """The rights that the user has; raises SetupError for the first one that is missing."""
    granted = [grant for (grant,) in rows(connection, "SHOW GRANTS") if grant is not None]
    wanted = [(right, table.name) for right in (_OF_KEYS if by_key else ("INSERT",))]
    for right, on in [*wanted, ("CREATE", ""), ("DROP", "")]:
        if not any(_gives(grant, right, table.schema, on) for grant in granted):
            where = table.sql if on else f"{name(table.schema)}.*"
            [(user,)] = rows(connection, "SELECT CURRENT_USER()")
            raise SetupError(
                f"user {user} lacks the right to {right} on {where}",
                hint=f"GRANT {right} ON {where} TO {user}",
            )
    return ", ".join([right for right, _ in wanted] + ["CREATE", "DROP"])


def _gives(grant: str, right: str, schema: str, table: str) -> bool:
    r"""Whether a grant gives a right on a table of a database, or on all of them.

    >>> _gives("GRANT SELECT, INSERT ON `my\\_shop`.* TO `me`@`%`", "INSERT", "my_shop", "t")
    True
    """
    found = re.match(_GRANT, grant)
    if found is None:
        return False
    rights = {one.strip() for one in found[1].split(",")}
    if not rights & {right, "ALL PRIVILEGES"}:
        return False
    of_schema = found[2] == "*" or _like(found[2], schema)
    return of_schema and (found[3] == "*" or found[3] == name(table))


def _like(pattern: str, schema: str) -> bool:
    """Whether a database has a name that a grant has with its `%` and `_`."""
    plain = pattern[1:-1].replace("``", "`")
    parts = re.findall(r"\\.|.", plain, re.DOTALL)
    known = {"%": ".*", "_": "."}
    written = "".join(known.get(part) or re.escape(part.removeprefix("\\")) for part in parts)
    return re.fullmatch(written, schema) is not None
