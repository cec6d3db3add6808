"""A schema registry in this process, as much of one as clients ask for."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tidemark.schema_registry import client

FIRST = 100  # the ID of the first schema


class FakeRegistry:
    """Knows schemas by ID and subject, and what it was asked, with which authorization."""

    def __init__(self) -> None:
        self.schemas: dict[int, Any] = {}  # or what is answered instead
        self.subjects: dict[str, list[int]] = {}
        self.asked: list[tuple[str, str]] = []
        self.authorization: list[str | None] = []
        self.failures: list[int] = []  # what the next requests are answered with
        self.url = ""

    def add(self, schema: Any, number: int | None = None, **more: Any) -> int:
        text = schema if isinstance(schema, str) else json.dumps(schema)
        number = FIRST + len(self.schemas) if number is None else number
        self.schemas[number] = {"schema": text, **more}
        return number

    def answer(self, method: str, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
        self.asked.append((method, path))
        if self.failures:
            return self.failures.pop(0), {"message": "not now"}
        match path.strip("/").split("/"):
            case ["schemas", "ids", number] if int(number) in self.schemas:
                return 200, self.schemas[int(number)]
            case ["subjects", subject, "versions"]:
                return 200, {"id": self._registered(subject, body["schema"])}
            case ["subjects", subject, "versions", version]:
                return 200, self.schemas[self.subjects[subject][int(version) - 1]]
        return 404, {"error_code": 40403, "message": "Schema not found"}

    def _registered(self, subject: str, schema: str) -> int:
        known = {each["schema"]: number for number, each in self.schemas.items()}
        number = known[schema] if schema in known else self.add(schema)
        self.subjects.setdefault(subject, []).append(number)
        return number


@contextmanager
def running(tls: ssl.SSLContext | None = None) -> Iterator[FakeRegistry]:
    registry = FakeRegistry()
    # A server may get the port of an earlier one, whose schemas had the same numbers.
    client.registry.cache_clear()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            size = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(size)) if size else {}
            registry.authorization.append(self.headers.get("Authorization"))
            code, answer = registry.answer(self.command, self.path, body)
            content = json.dumps(answer).encode()
            self.send_response(code)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815

        def log_message(self, *about: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    scheme = "http" if tls is None else "https"
    registry.url = f"{scheme}://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=lambda: server.serve_forever(poll_interval=0.02), daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
