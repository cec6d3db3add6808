"""JDBC URLs: which database they name, and what of them its client library understands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import parse_qsl, quote, unquote

from tidemark.connectors.jdbc.contract import NotUnderstood

# Settings of the Java driver, as libpq calls them.
_SETTINGS: Final = {
    "user": "user",
    "password": "password",
    "sslmode": "sslmode",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "sslpassword": "sslpassword",
    "sslrootcert": "sslrootcert",
    "applicationname": "application_name",
    "connecttimeout": "connect_timeout",
    "targetservertype": "target_session_attrs",
    "gssencmode": "gssencmode",
    "channelbinding": "channel_binding",
}
# Those that only say how the Java driver works.
_ONLY_JAVA: Final = frozenset(
    {
        "assumeminserverversion",
        "autosave",
        "binarytransfer",
        "cleanupsavepoints",
        "defaultrowfetchsize",
        "loggerlevel",
        "logintimeout",
        "loadbalancehosts",
        "preferquerymode",
        "preparethreshold",
        "preparedstatementcachequeries",
        "preparedstatementcachesizemib",
        "reconnect",
        "rewritebatchedinserts",
        "sockettimeout",
        "stringtype",
        "tcpkeepalive",
        "tcpnodelay",
    }
)
_SERVER_TYPES: Final = {"any": "any", "primary": "primary", "master": "primary"} | {
    "secondary": "standby",
    "slave": "standby",
    "prefersecondary": "prefer-standby",
    "preferslave": "prefer-standby",
}


@dataclass(frozen=True, slots=True)
class PostgresDatabase:
    """A PostgreSQL database, and how to log in. Shown without the password."""

    hosts: tuple[tuple[str, str], ...]  # names and ports
    name: str | None
    settings: Mapping[str, str] = field(default_factory=dict, repr=False)

    def __str__(self) -> str:
        hosts = ",".join(f"{host}:{port}" for host, port in self.hosts)
        return f"postgresql://{hosts}/{self.name or ''}"

    @property
    def user(self) -> str | None:
        return self.settings.get("user")

    @property
    def uri(self) -> str:
        """All of it as libpq reads it, with the password."""
        named = {
            "host": ",".join(host for host, _ in self.hosts),
            "port": ",".join(port for _, port in self.hosts),
            **({} if self.name is None else {"dbname": self.name}),
            **self.settings,
        }
        return "postgresql://?" + "&".join(
            f"{key}={quote(value, safe='')}" for key, value in named.items()
        )


def postgres(url: str, login: Mapping[str, str | None], wait_s: int) -> PostgresDatabase:
    """The database of a `jdbc:postgresql:` URL. `login` is what options say; they come first.

    >>> str(postgres("jdbc:postgresql://db/shop", {"user": "me"}, 60))
    'postgresql://db:5432/shop'
    """
    rest = url.split(":", 2)[2]
    rest, _, query = rest.partition("?")
    hosts, name = "", rest
    if rest.startswith("//"):
        hosts, _, name = rest[2:].partition("/")
    elif rest.startswith("/"):
        name = rest[1:]
    settings = {"connect_timeout": str(max(wait_s, 1)), **_settings(query)}
    settings |= {key: value for key, value in login.items() if value is not None}
    return PostgresDatabase(
        tuple(map(_host, (hosts or "localhost").split(","))), unquote(name) or None, settings
    )


def _host(text: str) -> tuple[str, str]:
    found = re.fullmatch(r"(\[[^\]]+\]|[^:@\[\]]+)(?::(\d{1,5}))?", text)
    if found is None:
        raise NotUnderstood("expected jdbc:postgresql://host:port/database")
    return found[1].strip("[]"), found[2] or "5432"


def _settings(query: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        folded = name.lower()
        if folded in _SETTINGS:
            found[_SETTINGS[folded]] = value
        elif folded == "ssl":
            if value.lower() != "false":
                found.setdefault("sslmode", "verify-full")
        elif folded == "currentschema":
            found["options"] = f"-csearch_path={value.replace(' ', '')}"
        elif folded not in _ONLY_JAVA:
            raise NotUnderstood(f"the setting '{name}' of the URL is not known")
    if (wanted := found.get("target_session_attrs")) is not None:
        found["target_session_attrs"] = _SERVER_TYPES.get(wanted.lower(), wanted)
    return found
