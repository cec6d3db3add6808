"""Serves the metrics of a session's jobs over HTTP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.errors import SetupError
from tidemark.spark.jobs import Job


@dataclass(frozen=True, slots=True)
class MetricsServer:
    """A server on a thread of its own, until it is closed."""

    address: str
    port: int
    _server: Any
    _thread: Any

    @property
    def url(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"http://{host}:{self.port}/metrics"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def serve(jobs: Callable[[], Sequence[Job]], port: int, address: str) -> MetricsServer:
    """Start to serve. Raises SetupError if that is not possible."""
    try:
        from prometheus_client import CollectorRegistry, ProcessCollector, start_http_server
    except ImportError:
        raise SetupError(
            "metrics need the package prometheus-client", hint="pip install 'tidemark[metrics]'"
        ) from None
    from tidemark.session.metrics.collector import JobCollector

    registry = CollectorRegistry()
    # When the process was started, so that restarts can be seen, and what it uses.
    ProcessCollector(registry=registry)
    registry.register(JobCollector(jobs))
    try:
        server, thread = start_http_server(port, address, registry)
    except (OSError, OverflowError) as problem:
        raise SetupError(
            f"cannot serve metrics at {address}, port {port}",
            notes={"why": getattr(problem, "strerror", None) or str(problem)},
            hint="choose another port; 0 is any that is free",
        ) from None
    return MetricsServer(address, server.server_port, server, thread)
