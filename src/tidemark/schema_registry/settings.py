"""The options of a table that say how its schema registry is reached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_MINUTE_MS: Final = 60_000
# RegistrySettings of Confluent's client, for which Flink has options, and those options.
_WITH_OPTIONS: Final[Mapping[str, str]] = {
    "schema.registry.ssl.keystore.location": "ssl.keystore.location",
    "schema.registry.ssl.keystore.password": "ssl.keystore.password",
    "schema.registry.ssl.truststore.location": "ssl.truststore.location",
    "schema.registry.ssl.truststore.password": "ssl.truststore.password",
    "basic.auth.credentials.source": "basic-auth.credentials-source",
    "basic.auth.user.info": "basic-auth.user-info",
    "schema.registry.basic.auth.user.info": "basic-auth.user-info",
    "bearer.auth.credentials.source": "bearer-auth.credentials-source",
    "bearer.auth.token": "bearer-auth.token",
}
_TIMEOUT: Final = "http.read.timeout.ms"
_OTHERS: Final = (_TIMEOUT, "http.connect.timeout.ms")


class BadSetting(Exception):
    """What is wrong with an option, whose name lacks the format's."""

    def __init__(self, option: str, why: str, hint: str | None = None) -> None:
        super().__init__(why)
        self.option, self.why, self.hint = option, why, hint


@dataclass(frozen=True, slots=True)
class Store:
    """Certificates in a file, or a key with its certificate."""

    file: str
    password: str | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class RegistrySettings:
    urls: tuple[str, ...]  # of the same registry: the next one is asked if one does not answer
    user_info: str | None = field(default=None, repr=False)  # NAME:PASSWORD
    token: str | None = field(default=None, repr=False)
    trusted: Store | None = None
    own: Store | None = None
    timeout_s: float = _MINUTE_MS / 1000

    @classmethod
    def of(cls, format_: str, options: Mapping[str, Any]) -> RegistrySettings:
        """Those of a table with this format. Raises BadSetting."""
        given = _given(format_, options)
        urls = tuple(url.strip().rstrip("/") for url in given["url"].split(",") if url.strip())
        for url in urls:
            if not url.startswith(("http://", "https://")):
                raise BadSetting("url", "it does not begin with http:// or https://")
        if not urls:
            raise BadSetting("url", "it is empty")
        _check_sources(given)
        return cls(
            urls,
            given.get("basic-auth.user-info"),
            given.get("bearer-auth.token"),
            _store(given, "ssl.truststore"),
            _store(given, "ssl.keystore"),
            _seconds(given.get(_TIMEOUT)),
        )


def _given(format_: str, options: Mapping[str, Any]) -> dict[str, str]:
    """All that is set, by names without the format's; options are stronger than properties."""
    own = {
        key.removeprefix(f"{format_}."): str(value)
        for key, value in options.items()
        if key.startswith(f"{format_}.") and value is not None
    }
    found: dict[str, str] = {}
    for key, value in _properties(own):
        if key not in _WITH_OPTIONS and key not in _OTHERS:
            known = ", ".join((*_WITH_OPTIONS, *_OTHERS))
            raise BadSetting(
                "properties", f"the property '{key}' is not supported", f"properties are {known}"
            )
        found[_WITH_OPTIONS.get(key, key)] = value
    return found | own


def _properties(own: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for pair in filter(None, own.get("properties", "").split(",")):
        key, colon, value = pair.partition(":")
        if not colon:
            raise BadSetting("properties", "it is not of the form `name:value,name:value`")
        yield key.strip(), value.strip()


def _check_sources(given: Mapping[str, str]) -> None:
    """The sources of passwords and tokens that Confluent's client knows, and we do not."""
    basic = given.get("basic-auth.credentials-source", "USER_INFO")
    if basic not in ("URL", "USER_INFO"):
        raise BadSetting(
            "basic-auth.credentials-source",
            f"{basic} is not supported",
            "use USER_INFO with 'basic-auth.user-info', or URL with a user in the URL",
        )
    bearer = given.get("bearer-auth.credentials-source", "STATIC_TOKEN")
    if bearer != "STATIC_TOKEN":
        raise BadSetting(
            "bearer-auth.credentials-source",
            f"{bearer} is not supported",
            "use STATIC_TOKEN with 'bearer-auth.token'",
        )
    if given.get("basic-auth.user-info") and given.get("bearer-auth.token"):
        raise BadSetting("bearer-auth.token", "there is a user as well, and only one can be sent")


def _store(given: Mapping[str, str], which: str) -> Store | None:
    file = given.get(f"{which}.location")
    return None if file is None else Store(file, given.get(f"{which}.password"))


def _seconds(milliseconds: str | None) -> float:
    if milliseconds is None:
        return _MINUTE_MS / 1000
    if not milliseconds.isascii() or not milliseconds.isdigit() or int(milliseconds) == 0:
        raise BadSetting("properties", f"'{_TIMEOUT}' is not a number of milliseconds")
    return int(milliseconds) / 1000
