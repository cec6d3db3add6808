"""What a schema registry is asked: the schema with an ID, and the ID of a schema.

It speaks the protocol of Confluent's registry, as those of Apicurio, Karapace and Redpanda do.
"""

from __future__ import annotations

import base64
import json
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from tidemark.schema_registry.settings import RegistrySettings
from tidemark.schema_registry.tls import BadStore, context

_CONTENT: Final = "application/vnd.schemaregistry.v1+json"
# A registry that restarts is asked again after these seconds.
_WAITS_S: Final = (0.2, 0.5, 1.0, 2.0)
_BUSY: Final = (408, 429)
_SHOWN: Final = 300


class RegistryError(Exception):
    """Why a registry gives no answer, and what to do."""

    def __init__(self, why: str, hint: str | None = None, *, unknown: bool = False) -> None:
        super().__init__(why)
        self.why, self.hint, self.unknown = why, hint, unknown


@dataclass(frozen=True, slots=True)
class Registered:
    """A schema as it was registered, and those that it refers to, each after its own."""

    schema: str
    before: tuple[str, ...] = ()


@cache
def registry(settings: RegistrySettings) -> Registry:
    """The one of this process: IDs never change their meaning, so each is asked for once."""
    return Registry(settings)


class Registry:
    def __init__(self, settings: RegistrySettings) -> None:
        self._settings, self._lock = settings, Lock()
        self._schemas: dict[int, Registered] = {}
        self._ids: dict[tuple[str, str], int] = {}
        self._answers = 0  # the place of the URL that answered last

    def schema(self, number: int) -> Registered:
        """The schema with an ID. Raises RegistryError."""
        with self._lock:
            if number not in self._schemas:
                self._schemas[number] = self._fetched(f"/schemas/ids/{number}")
            return self._schemas[number]

    def register(self, subject: str, schema: str) -> int:
        """The ID of a schema, which becomes the newest of the subject if it is not known yet.
        Raises RegistryError.
        """
        with self._lock:
            if (subject, schema) not in self._ids:
                path = f"/subjects/{quote(subject, safe='')}/versions"
                answer = self._answer(path, {"schema": schema})
                self._ids[subject, schema] = int(answer["id"])
            return self._ids[subject, schema]

    def check(self) -> None:
        """Whether it answers and grants access, whatever it has. Raises RegistryError."""
        try:
            self._answer("/schemas/ids/1")
        except RegistryError as problem:
            if not problem.unknown:
                raise

    def _fetched(self, path: str) -> Registered:
        answer = self._answer(path)
        kind = answer.get("schemaType", "AVRO")
        if kind != "AVRO":
            raise RegistryError(f"the schema is one of {kind}, not of Avro")
        return Registered(answer["schema"], tuple(self._referred(answer)))

    def _referred(self, answer: Mapping[str, Any]) -> Iterator[str]:
        for each in answer.get("references") or ():
            subject = quote(each["subject"], safe="")
            found = self._fetched(f"/subjects/{subject}/versions/{each['version']}")
            yield from (*found.before, found.schema)

    def _answer(self, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """What one of the URLs answers; of those that do not, the last one's problem."""
        urls = self._settings.urls
        for wait in (*_WAITS_S, None):
            for _ in urls:
                try:
                    return self._asked(urls[self._answers % len(urls)], path, body)
                except _Unreachable as problem:
                    failed = problem
                    self._answers += 1
            if wait is not None:
                time.sleep(wait)
        raise RegistryError(failed.why, "check that it runs, and the option 'url'")

    def _asked(self, url: str, path: str, body: Mapping[str, Any] | None) -> dict[str, Any]:
        place, user_info = _without_user(url)
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(place + path, data, {"Accept": _CONTENT})
        if data is not None:
            request.add_header("Content-Type", _CONTENT)
        self._authorize(request, user_info)
        tls = self._tls() if place.startswith("https") else None
        try:
            timeout = self._settings.timeout_s
            with urllib.request.urlopen(request, timeout=timeout, context=tls) as response:
                answer = json.load(response)
        except urllib.error.HTTPError as refusal:
            raise self._refused(place, refusal) from None
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "reason", problem)
            raise _Unreachable(f"{place} does not answer: {reason}") from None
        if not isinstance(answer, dict) or not {"schema", "id"} & answer.keys():
            raise RegistryError(f"{place} does not answer as a schema registry does")
        return answer

    def _authorize(self, request: urllib.request.Request, in_url: str | None) -> None:
        user_info = self._settings.user_info or in_url
        if self._settings.token is not None:
            request.add_header("Authorization", f"Bearer {self._settings.token}")
        elif user_info is not None:
            basic = base64.b64encode(user_info.encode()).decode()
            request.add_header("Authorization", f"Basic {basic}")

    def _tls(self) -> Any:
        try:
            return context(self._settings.trusted, self._settings.own)
        except BadStore as problem:
            raise RegistryError(problem.why, problem.hint) from None

    def _refused(self, place: str, refusal: urllib.error.HTTPError) -> Exception:
        said = _message(refusal.read(_SHOWN * 10))
        if refusal.code >= 500 or refusal.code in _BUSY:
            return _Unreachable(f"{place} fails: {said or refusal.reason} ({refusal.code})")
        if refusal.code in (401, 403):
            hint = "set 'basic-auth.user-info' or 'bearer-auth.token' of the format"
            return RegistryError(f"{place} refuses access ({refusal.code})", hint)
        why = f"{place} says: {said or refusal.reason} ({refusal.code})"
        return RegistryError(why, unknown=refusal.code == 404)


class _Unreachable(Exception):
    """Perhaps only for now."""

    def __init__(self, why: str) -> None:
        super().__init__(why)
        self.why = why


def _message(body: bytes) -> str:
    try:
        return str(json.loads(body)["message"])[:_SHOWN]
    except (ValueError, KeyError, TypeError):
        return ""


def _without_user(url: str) -> tuple[str, str | None]:
    parts = urlsplit(url)
    if "@" not in parts.netloc:
        return url, None
    user, _, place = parts.netloc.rpartition("@")
    return urlunsplit(parts._replace(netloc=place)), unquote(user)
