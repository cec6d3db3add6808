"""URLs of MySQL: which database they name, and what of them is understood."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qsl, unquote

from tidemark.connectors.jdbc.contract import NotUnderstood

_FORM: Final = "expected jdbc:mysql://host:port/database"
# Settings of the Java driver that only say how it works, or what is so here anyway.
_NO_EFFECT: Final = frozenset(
    {
        "allowmultiqueries",
        "allowpublickeyretrieval",
        "autoreconnect",
        "autoreconnectforpools",
        "cacheprepstmts",
        "characterencoding",
        "charactersetresults",
        "connectiontimezone",
        "defaultfetchsize",
        "failoverreadonly",
        "forceconnectiontimezonetosession",
        "maxreconnects",
        "noaccesstoprocedurebodies",
        "nullcatalogmeanscurrent",
        "preparestmtcachesize",
        "prepstmtcachesize",
        "prepstmtcachesqllimit",
        "rewritebatchedstatements",
        "servertimezone",
        "sockettimeout",
        "tcpkeepalive",
        "tcpnodelay",
        "useaffectedrows",
        "usecompression",
        "usecursorfetch",
        "useinformationschema",
        "uselegacydatetimecode",
        "useserverprepstmts",
        "useunicode",
    }
)
_NO_ZEROS: Final = "no_zeros"
_TLS: Final[Mapping[str, Mapping[str, Any]]] = {
    "disabled": {"ssl_disabled": True},
    "preferred": {},
    "required": {"ssl": {"verify_mode": False, "check_hostname": False}},
    "verify_ca": {"ssl": {"verify_mode": True, "check_hostname": False}},
    "verify_identity": {"ssl": {"verify_mode": True, "check_hostname": True}},
}


@dataclass(frozen=True, slots=True)
class MysqlDatabase:
    """A database of MySQL, and how to log in. Shown without the password."""

    host: str
    port: int
    name: str | None
    settings: Mapping[str, Any] = field(default_factory=dict, repr=False)
    no_zeros: bool = False  # whether dates such as 0000-00-00 are read as NULL

    def __str__(self) -> str:
        return f"mysql://{self.host}:{self.port}/{self.name or ''}"

    @property
    def user(self) -> str | None:
        found: str | None = self.settings.get("user")
        return found


def database(url: str, login: Mapping[str, str | None], wait_s: int) -> MysqlDatabase:
    """The database of a `jdbc:mysql:` URL. `login` is what options say; they come first.

    >>> str(database("jdbc:mysql://db/shop?useSSL=false", {"user": "me"}, 60))
    'mysql://db:3306/shop'
    """
    found = re.fullmatch(r"//([^/?]*)(?:/([^/?]*))?(?:\?(.*))?", url.split(":", 2)[2])
    if found is None:
        raise NotUnderstood(_FORM)
    host, port = _host(found[1])
    settings = {"connect_timeout": max(wait_s, 1), **_settings(found[3] or "")}
    no_zeros = settings.pop(_NO_ZEROS, False)
    settings |= {key: value for key, value in login.items() if value is not None}
    return MysqlDatabase(host, port, unquote(found[2] or "") or None, settings, no_zeros)


def _host(text: str) -> tuple[str, int]:
    if "@" in text:
        raise NotUnderstood("write the user and password as options 'username' and 'password'")
    if "," in text:
        raise NotUnderstood("several hosts are not known for MySQL; name one")
    found = re.fullmatch(r"(\[[^\]]+\]|[^:\[\]()=]*)(?::(\d{1,5}))?", text)
    if found is None:
        raise NotUnderstood(_FORM)
    return found[1].strip("[]") or "localhost", int(found[2] or 3306)


def _settings(query: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    tls = None
    for name, value in parse_qsl(query, keep_blank_values=True):
        match folded := name.lower():
            case "user" | "password":
                found[folded] = value
            case "connecttimeout":
                found["connect_timeout"] = max(int(value) // 1000, 1) if value.isdigit() else 1
            case "sslmode":
                tls = value.lower()
            case "usessl":
                tls = tls or ("disabled" if value.lower() == "false" else "required")
            case "zerodatetimebehavior":
                found[_NO_ZEROS] = _no_zeros(value)
            case _ if folded not in _NO_EFFECT:
                raise NotUnderstood(f"the setting '{name}' of the URL is not known")
    if tls is not None and tls not in _TLS:
        raise NotUnderstood(f"sslMode must be one of {', '.join(_TLS).upper()}")
    return {**found, **_TLS[tls or "preferred"]}


def _no_zeros(value: str) -> bool:
    behavior = value.lower().replace("_", "")
    if behavior not in ("exception", "converttonull"):
        raise NotUnderstood("zeroDateTimeBehavior must be EXCEPTION or CONVERT_TO_NULL")
    return behavior == "converttonull"
