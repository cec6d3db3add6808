"""The connectors of this version."""

from __future__ import annotations

from collections.abc import Iterator

from tidemark.cli.doctor.findings import Finding
from tidemark.connectors.registry import REGISTRY
from tidemark.connectors.unsupported import CONNECTOR

CONNECTORS = "Connectors"


def check_connectors() -> Iterator[Finding]:
    for connector in REGISTRY.values():
        formats = f" ({', '.join(connector.formats)})" if connector.formats else ""
        yield Finding(CONNECTORS, connector.name, "ok", f"{connector.summary}{formats}")
    for name in CONNECTOR.each:
        yield Finding(CONNECTORS, name, "optional", CONNECTOR.why or "")
